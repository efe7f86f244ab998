package dev.tenon.platform.core.control;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.registry.ModelRegistry;
import java.util.List;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/// The registries of models that are installed, for whoever downloads. Safe for any thread.
@ProviderType
public interface ModelRegistries {
    /// {@return the registry of an id that is used now}
    ///
    /// @param id what stands before the colon of a model's name
    /// @throws dev.tenon.api.error.TenonException (`CFG-002`) if several have it and no preference
    ///     names one
    Optional<ModelRegistry> registry(String id);

    /// {@return the ids that there are now, sorted}
    List<String> registries();

    /// {@return the registries that an engine knows; none where it knows none}
    ///
    /// @param engine an engine of the platform, or null
    static ModelRegistries of(Engine engine) {
        return engine instanceof ModelRegistries known
                ? known
                : new ModelRegistries() {
                    @Override
                    public Optional<ModelRegistry> registry(String id) {
                        return Optional.empty();
                    }

                    @Override
                    public List<String> registries() {
                        return List.of();
                    }
                };
    }
}
