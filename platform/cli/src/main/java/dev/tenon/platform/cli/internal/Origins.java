package dev.tenon.platform.cli.internal;

import java.net.URL;
import java.security.CodeSource;

/// Names the bundle, module or jar that an object's class comes from.
final class Origins {
    private Origins() {}

    /// {@return bundle name and version in a framework; else module or jar name}
    ///
    /// @param object any object
    static String of(Object object) {
        Class<?> type = object.getClass();
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
            return OsgiBundles.nameOf(type);
        } catch (NoClassDefFoundError e) {
            return null; // no framework on this class path
        }
    }
}
