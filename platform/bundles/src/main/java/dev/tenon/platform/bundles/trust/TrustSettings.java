package dev.tenon.platform.bundles.trust;

import dev.tenon.api.config.Setting;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.cli.SettingsSource;
import dev.tenon.platform.core.control.SettingValue;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;

/// The settings of trust in bundles, for `tenon config`. The launcher reads them, before there are
/// bundles.
@Component(service = SettingsSource.class, configurationPid = TrustSettings.PID)
public final class TrustSettings implements SettingsSource {
    static final String PID = "dev.tenon.platform.bundles";

    private static final List<Setting> ALL = List.of(
            Setting.choice(
                    "bundles.trust",
                    "any",
                    BundleTrust.POLICIES,
                    "What is required of a bundle before any of its code runs."),
            Setting.path(
                    "bundles.trust.certificates",
                    "etc/trusted-bundles.pem",
                    "Trusted certificates: PEM, or a key store (.p12, .jks)."),
            Setting.text("bundles.trust.password", "", "The key store's password."),
            Setting.path("bundles.trust.list", "etc/trusted-bundles.txt", "Digests of trusted jars, one per line."));

    private final Map<String, Object> file;

    /// Created by the component runtime.
    ///
    /// @param file the configuration
    @Activate
    public TrustSettings(Map<String, Object> file) {
        this.file = Map.copyOf(file);
    }

    @Override
    public List<SettingValue> settings() {
        Map<String, String> environment = counting(System.getenv());
        return ALL.stream()
                .map(setting ->
                        SettingValue.find("bundles", setting, Map.of(), environment, file, "etc/" + PID + ".cfg"))
                .toList();
    }

    /// The variables that do not weaken what the file says.
    private Map<String, String> counting(Map<String, String> environment) {
        String policy = String.valueOf(file.getOrDefault("bundles.trust", "any"));
        Map<String, String> counting = new HashMap<>(environment);
        counting.entrySet()
                .removeIf(each -> each.getKey().startsWith("TENON_BUNDLES_")
                        && !BundleTrust.counts(
                                each.getKey()
                                        .substring("TENON_".length())
                                        .toLowerCase(Locale.ROOT)
                                        .replace('_', '.'),
                                each.getValue(),
                                policy));
        return counting;
    }
}
