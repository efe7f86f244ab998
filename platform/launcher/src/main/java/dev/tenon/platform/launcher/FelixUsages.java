package dev.tenon.platform.launcher;

import java.lang.reflect.Field;
import java.util.Map;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.launch.Framework;
import org.slf4j.LoggerFactory;

/// Has the Felix framework forget an uninstalled bundle.
///
/// Felix 7.0.5 notes each service that a bundle uses, and keeps the note when the bundle has
/// released the service and when it is uninstalled: only a service that goes takes its notes with
/// it. The component runtime reads the configuration of each bundle's components from a service
/// that never goes, so each version of a bundle that ever ran would stay in memory. OSGi's
/// interfaces do not reach that table; its private fields do.
final class FelixUsages implements SynchronousBundleListener {
    private static final String FELIX = "org.apache.felix.framework.Felix";

    private final Map<?, ?> usages;

    private FelixUsages(Map<?, ?> usages) {
        this.usages = usages;
    }

    /// Begins. Does nothing with another framework, nor, but for a line in the log, with a Felix
    /// without such a table.
    ///
    /// @param framework the framework, initialized
    static void forgetOf(Framework framework) {
        if (!FELIX.equals(framework.getClass().getName())) {
            return;
        }
        try {
            Object registry = read(framework, "m_registry");
            framework.getBundleContext().addBundleListener(new FelixUsages((Map<?, ?>) read(registry, "m_inUseMap")));
        } catch (ReflectiveOperationException | RuntimeException e) {
            LoggerFactory.getLogger(FelixUsages.class)
                    .info("This framework may keep uninstalled bundles: {}", e.toString());
        }
    }

    private static Object read(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    @Override
    public void bundleChanged(BundleEvent event) {
        if (event.getType() == BundleEvent.UNINSTALLED) {
            usages.remove(event.getBundle());
        }
    }
}
