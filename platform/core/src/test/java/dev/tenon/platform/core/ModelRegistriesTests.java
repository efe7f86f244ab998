package dev.tenon.platform.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.core.control.ModelRegistries;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Registries of models come and go with their bundles, also in an engine without a framework.
class ModelRegistriesTests {
    private record Registry(String id) implements ModelRegistry {
        @Override
        public List<RegistryFile> files(String reference) {
            return List.of();
        }
    }

    private static final class Other implements ModelRegistry {
        @Override
        public String id() {
            return "corp";
        }

        @Override
        public List<RegistryFile> files(String reference) {
            return List.of();
        }
    }

    @Test
    void anEngineKnowsTheRegistriesOfItsBundles() {
        Registry corp = new Registry("corp");
        try (StandaloneEngine engine = StandaloneEngine.create(Map.of(), type -> false)) {
            ModelRegistries registries = ModelRegistries.of(engine);
            assertEquals(List.of(), registries.registries());
            StandaloneEngine.InstalledBundle bundle = engine.installProviders(new Registry("b"), corp);
            assertEquals(List.of("b", "corp"), registries.registries());
            assertSame(corp, registries.registry("corp").orElseThrow());
            TenonException taken = assertThrows(TenonException.class, () -> engine.installProviders(new Other()));
            assertEquals(ErrorCode.DUPLICATE_ID, taken.code());
            bundle.remove();
            assertEquals(Optional.empty(), registries.registry("corp"));
        }
    }

    @Test
    void aSettingNamesTheOneToUse() {
        Other other = new Other();
        try (StandaloneEngine engine =
                StandaloneEngine.create(Map.of("prefer.registry.corp", Other.class.getName()), type -> false)) {
            engine.installProviders(new Registry("corp"));
            engine.installProviders(other);
            assertSame(other, ModelRegistries.of(engine).registry("corp").orElseThrow());
        }
    }
}
