package dev.tenon.platform.core.settings;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells bundles the values of their settings. Safe for any thread; one call at a time.
public final class SettingsTeller {
    private static final Logger LOG = LoggerFactory.getLogger(SettingsTeller.class);

    private final Supplier<EngineConfig> config;

    /// Tells those that come from now on.
    ///
    /// @param registry what is installed
    /// @param config the settings of the moment
    public SettingsTeller(ServiceRegistry registry, Supplier<EngineConfig> config) {
        this.config = config;
        registry.onAddition(service -> tell(List.of(service)));
    }

    /// Tells those among some services that declare settings.
    ///
    /// @param services any
    public synchronized void tell(List<?> services) {
        if (config.get() == null) {
            return; // the engine is being made, and tells them all then
        }
        for (Object service : services) {
            if (service instanceof BundleSettings settings) {
                try {
                    settings.configured(values(settings));
                } catch (RuntimeException | LinkageError e) {
                    LOG.warn("{} does not take its settings", service.getClass().getName(), e);
                }
            }
        }
    }

    private Map<String, String> values(BundleSettings settings) {
        Map<String, String> values = new HashMap<>();
        for (Setting setting : settings.settings()) {
            SettingValue found = config.get().find(settings.owner(), setting, Map.of());
            if (!found.problem().isEmpty()) {
                LOG.warn("{}; the default is used", found.problem());
            }
            values.put(setting.name(), found.problem().isEmpty() ? found.value() : setting.defaultValue());
        }
        return Map.copyOf(values);
    }
}
