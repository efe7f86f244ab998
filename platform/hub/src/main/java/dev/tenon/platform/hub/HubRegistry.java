package dev.tenon.platform.hub;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.hub.http.HttpGet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The hub as a registry: `hf:owner/repo[:quant]`. The environment tells where it is; [ModelPull] asks the hub by its
/// own settings instead.
@Component(service = ModelRegistry.class)
@ServiceProvider(value = ModelRegistry.class, resolution = Resolution.OPTIONAL)
public final class HubRegistry implements ModelRegistry {
    static final String ID = "hf";

    @Override
    public String id() {
        return ID;
    }

    @Override
    public List<RegistryFile> files(String reference) {
        return new Hub(HubRegistry::environment, HttpGet.PATIENCE).files(HubReference.parse(reference));
    }

    private static Optional<String> environment(String key) {
        return Optional.ofNullable(
                System.getenv("TENON_" + key.toUpperCase(Locale.ROOT).replace('.', '_')));
    }
}
