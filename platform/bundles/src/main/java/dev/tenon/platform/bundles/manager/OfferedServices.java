package dev.tenon.platform.bundles.manager;

import dev.tenon.platform.core.control.EngineControl;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.osgi.framework.Bundle;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;

/// The services that a bundle offers to the engine.
final class OfferedServices {
    private static final long SERVICES_MILLIS = 2000;
    private static final Set<String> SERVICES = Set.of(
            "dev.tenon.api.quant.QuantFormat",
            "dev.tenon.api.model.ModelArchitecture",
            "dev.tenon.api.device.Backend",
            "dev.tenon.api.kernel.KernelProvider",
            "dev.tenon.api.text.TokenizerProvider",
            "dev.tenon.api.text.ChatTemplateEngine",
            "dev.tenon.api.text.SamplerProvider",
            "dev.tenon.api.http.EndpointProvider");

    private OfferedServices() {}

    /// Waits for the component runtime, and refuses services that could not be made.
    static void await(EngineControl engine, Bundle next, Bundle old) {
        int expected = old == null ? 0 : engine.services(old.getBundleId());
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SERVICES_MILLIS);
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
                        .filter(r -> Arrays.stream((String[]) r.getProperty(Constants.OBJECTCLASS))
                                .anyMatch(SERVICES::contains))
                        .count();
    }
}
