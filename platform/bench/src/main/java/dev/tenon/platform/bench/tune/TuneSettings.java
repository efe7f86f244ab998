package dev.tenon.platform.bench.tune;

import dev.tenon.api.config.Setting;
import dev.tenon.platform.cli.SettingsSource;
import dev.tenon.platform.core.control.SettingValue;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// What can be set of `tenon tune` besides its options.
@Component(service = SettingsSource.class, configurationPolicy = ConfigurationPolicy.IGNORE)
public final class TuneSettings implements SettingsSource {
    /// The width of the beam.
    static final Setting BEAM = Setting.integer(
                    "tune.beam",
                    0,
                    0,
                    64,
                    "How many candidates a round of `tenon tune` leaves for the next one; 0: two. Searching is never"
                            + " part of running.")
            .alsoFrom("JITBEAM");

    private static final int DEFAULT = 2;

    @Override
    public List<SettingValue> settings() {
        return List.of(beam(System.getenv()));
    }

    private static SettingValue beam(Map<String, String> environment) {
        return SettingValue.find("tune", BEAM, Map.of(), environment, Map.of(), "");
    }

    /// {@return how many candidates a round leaves}
    ///
    /// @param environment environment variables
    /// @throws dev.tenon.api.error.TenonException (`CFG-001`) if a value is not allowed
    static int width(Map<String, String> environment) {
        int width = Integer.parseInt(beam(environment).checked());
        return width == 0 ? DEFAULT : width;
    }
}
