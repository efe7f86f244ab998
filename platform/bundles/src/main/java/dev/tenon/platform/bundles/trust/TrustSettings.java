package dev.tenon.platform.bundles.trust;

import dev.tenon.api.config.Setting;
import dev.tenon.platform.cli.SettingsSource;
import dev.tenon.platform.core.control.SettingValue;
import java.util.List;
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
                    List.of("any", "signed", "listed"),
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
        return ALL.stream()
                .map(setting ->
                        SettingValue.find("bundles", setting, Map.of(), System.getenv(), file, "etc/" + PID + ".cfg"))
                .toList();
    }
}
