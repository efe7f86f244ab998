package dev.tenon.platform.core.engine;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.function.Supplier;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;

/// A service of the framework, held from the first use until it is released. Safe for any thread.
final class HeldService implements Supplier<Object> {
    private final BundleContext context;
    private final ServiceReference<?> reference;
    private Object service;

    /// Names a service that is not fetched yet.
    ///
    /// @param context in whose name the service is fetched
    /// @param reference the service
    HeldService(BundleContext context, ServiceReference<?> reference) {
        this.context = context;
        this.reference = reference;
    }

    /// Fetches the service unless it is there.
    ///
    /// @return whether it is there
    synchronized boolean fetch() {
        if (service == null) {
            service = context.getService(reference);
        }
        return service != null;
    }

    /// Releases the service.
    synchronized void release() {
        if (service != null) {
            service = null;
            context.ungetService(reference);
        }
    }

    /// {@return the service, which is fetched if need be}
    ///
    /// @throws TenonException (`ENV-003`) if it cannot be made
    @Override
    public synchronized Object get() {
        if (!fetch()) {
            throw new TenonException(
                    ErrorCode.ENV_PLATFORM,
                    "The component " + reference.getProperty("component.name") + " of bundle " + reference.getBundle()
                            + " does not start. tenon bundles --problems says why.");
        }
        return service;
    }
}
