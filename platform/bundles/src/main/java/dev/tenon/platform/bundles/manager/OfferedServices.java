package dev.tenon.platform.bundles.manager;

import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.ServiceKind;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.osgi.framework.Bundle;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;

/// The services that a bundle offers to the engine.
final class OfferedServices {
    private static final long SERVICES_MILLIS = 2000;

    private OfferedServices() {}

    /// Waits for the component runtime, and refuses services that could not be made.
    static void await(EngineControl engine, Bundle next, Bundle old) {
        int expected = old == null ? 0 : engine.services(old.getBundleId());
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SERVICES_MILLIS);
        // Looks again and again: nobody tells when a service that the framework lists cannot be made.
        while (engine.services(next.getBundleId()) < Math.max(expected, registered(next))
                && System.nanoTime() < deadline) {
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        int known = engine.services(next.getBundleId());
        if (known < registered(next)) {
            throw new IllegalStateException((registered(next) - known) + " of its " + registered(next)
                    + " services cannot be created; the log has the reason");
        }
        if (known == 0 && expected > 0) {
            throw new IllegalStateException("it offers none of the services of the version that it replaces");
        }
    }

    private static int registered(Bundle bundle) {
        ServiceReference<?>[] references = bundle.getRegisteredServices();
        return references == null
                ? 0
                : (int) Arrays.stream(references)
                        .filter(r -> ServiceKind.of((String[]) r.getProperty(Constants.OBJECTCLASS))
                                .isPresent())
                        .count();
    }
}
