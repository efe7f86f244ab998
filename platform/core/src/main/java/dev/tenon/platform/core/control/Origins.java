package dev.tenon.platform.core.control;

import java.net.URL;
import java.security.CodeSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.FrameworkUtil;

/// Names the bundle, module or jar that an object's class comes from.
public final class Origins {
    private Origins() {}

    /// {@return bundle name and version in a framework; else module or jar name}
    ///
    /// @param object any object
    public static String of(Object object) {
        return of(object.getClass());
    }

    /// {@return bundle name and version in a framework; else module or jar name}
    ///
    /// @param type a class
    public static String of(Class<?> type) {
        String bundle = bundle(type);
        if (bundle != null) {
            return bundle;
        }
        if (type.getModule().isNamed()) {
            return "module " + type.getModule().getName();
        }
        CodeSource source = type.getProtectionDomain().getCodeSource();
        URL location = source == null ? null : source.getLocation();
        if (location == null) {
            return "class path";
        }
        String path = location.getPath().replaceFirst("/$", "");
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String bundle(Class<?> type) {
        try {
            Bundle bundle = FrameworkUtil.getBundle(type);
            return bundle == null ? null : bundle.getSymbolicName() + " " + bundle.getVersion();
        } catch (NoClassDefFoundError e) {
            return null; // no framework on this class path
        }
    }
}
