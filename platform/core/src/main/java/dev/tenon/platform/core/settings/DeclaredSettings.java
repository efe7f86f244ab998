package dev.tenon.platform.core.settings;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// What the engine, the installed backends, kernel providers and other bundles declare as settings.
public final class DeclaredSettings {
    private DeclaredSettings() {}

    /// Checks the settings of a request: each is one that a request may give, and its value is allowed.
    ///
    /// @param request values by name
    /// @param registry what is installed
    /// @throws TenonException (`CFG-001`) with the name, the value and what is allowed
    public static void check(Map<String, String> request, ServiceRegistry registry) {
        for (Map.Entry<String, String> given : request.entrySet()) {
            boolean declared = check(given, EngineConfig.OF_REQUESTS);
            for (Backend backend : registry.backends()) {
                declared |= check(given, backend.settings());
            }
            if (!declared) {
                throw new TenonException(
                        ErrorCode.CONFIG,
                        "Setting " + given.getKey() + " (value '" + given.getValue()
                                + "') is none that a request may give. 'tenon config' lists the settings of backends");
            }
        }
    }

    /// {@return whether a value is one of some settings, and allowed}
    private static boolean check(Map.Entry<String, String> given, List<Setting> settings) {
        boolean declared = false;
        for (Setting setting : settings) {
            if (setting.atStart()) {
                continue;
            }
            if (setting.name().equals(given.getKey())) {
                setting.parse(given.getValue());
                declared = true;
            }
        }
        return declared;
    }

    /// {@return the values of all settings: the engine's, each backend's, each kernel provider's, and those of other
    /// bundles}
    ///
    /// @param registry what is installed
    /// @param config file and environment
    /// @param request values by name that override all others
    public static List<SettingValue> values(
            ServiceRegistry registry, EngineConfig config, Map<String, String> request) {
        check(request, registry);
        List<SettingValue> values = new ArrayList<>();
        add(values, EngineConfig.OWNER, EngineConfig.SETTINGS, config, request);
        for (Backend backend : registry.backends()) {
            add(values, backend.id(), backend.settings(), config, request);
        }
        for (KernelProvider provider : registry.kernelProviders()) {
            add(values, "kernels", provider.settings(), config, request);
        }
        for (BundleSettings bundle : registry.all(BundleSettings.class)) {
            add(values, bundle.owner(), bundle.settings(), config, request);
        }
        return values;
    }

    private static void add(
            List<SettingValue> values,
            String owner,
            List<Setting> settings,
            EngineConfig config,
            Map<String, String> request) {
        settings.forEach(setting -> values.add(config.find(owner, setting, request)));
    }
}
