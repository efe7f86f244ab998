package dev.tenon.platform.launcher;

import java.lang.reflect.Field;
import java.util.Map;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.wiring.BundleWiring;
import org.slf4j.LoggerFactory;

/// Has the Felix framework forget what it keeps of an uninstalled bundle.
///
/// Felix 7.0.5 notes each service that a bundle uses, and keeps the note when the bundle has
/// released the service and when it is uninstalled: only a service that goes takes its notes with
/// it. The component runtime reads the configuration of each bundle's components from a service
/// that never goes, so each version of a bundle that ever ran would stay in memory.
///
/// Its class loaders also keep the thread that was the second to want a class in the moment when it
/// was loaded: a virtual thread that has ended, and with it the server that it worked for.
///
/// OSGi's interfaces do not reach these tables; their private fields do.
final class FelixUsages implements SynchronousBundleListener {
    private static final String FELIX = "org.apache.felix.framework.Felix";

    private final Framework framework;
    private final Map<?, ?> usages;

    private FelixUsages(Framework framework, Map<?, ?> usages) {
        this.framework = framework;
        this.usages = usages;
    }

    /// Begins. Does nothing with another framework, nor, but for a line in the log, with a Felix
    /// without such tables.
    ///
    /// @param framework the framework, initialized
    static void forgetOf(Framework framework) {
        if (!FELIX.equals(framework.getClass().getName())) {
            return;
        }
        try {
            Map<?, ?> usages = (Map<?, ?>) read(read(framework, "m_registry"), "m_inUseMap");
            framework.getBundleContext().addBundleListener(new FelixUsages(framework, usages));
        } catch (ReflectiveOperationException | RuntimeException e) {
            tell(e);
        }
    }

    private static void tell(Exception e) {
        LoggerFactory.getLogger(FelixUsages.class)
                .info("This framework may keep uninstalled bundles in memory: {}", e.toString());
    }

    static Object read(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    @Override
    public void bundleChanged(BundleEvent event) {
        if (event.getType() != BundleEvent.UNINSTALLED) {
            return;
        }
        usages.remove(event.getBundle());
        try {
            for (Bundle bundle : framework.getBundleContext().getBundles()) {
                BundleWiring wiring = bundle.adapt(BundleWiring.class);
                ClassLoader loader = wiring == null || bundle.getBundleId() == 0 ? null : wiring.getClassLoader();
                if (loader != null) {
                    forgetThreads(loader);
                }
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            tell(e);
        }
    }

    private static void forgetThreads(ClassLoader loader) throws ReflectiveOperationException {
        Map<?, ?> locks = (Map<?, ?>) read(loader, "m_classLocks");
        for (Map.Entry<?, ?> lock : locks.entrySet()) {
            try {
                loader.loadClass(lock.getKey().toString()); // waits for whoever loads it now
                locks.remove(lock.getKey(), lock.getValue());
            } catch (ClassNotFoundException | LinkageError e) {
                LoggerFactory.getLogger(FelixUsages.class)
                        .debug("{} cannot be loaded, so the threads that wanted it are kept", lock.getKey(), e);
            }
        }
    }
}
