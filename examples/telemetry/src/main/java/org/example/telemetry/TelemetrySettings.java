package org.example.telemetry;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// What can be set of this bundle. `tenon config` lists it.
@Component(service = BundleSettings.class)
@ServiceProvider(value = BundleSettings.class, resolution = Resolution.OPTIONAL)
public final class TelemetrySettings implements BundleSettings {
    static final Setting JOURNAL =
            Setting.path("telemetry.journal", "", "The file of the journal; none is written if it is empty.");
    static final Setting STATSD = Setting.text(
            "telemetry.statsd", "", "HOST:PORT of the StatsD server; nothing is sent if it is empty.");

    private static volatile Map<String, String> told = Map.of();

    /// {@return the value of a setting now}
    static String value(Setting setting) {
        return setting.in(told);
    }

    @Override
    public String owner() {
        return "telemetry";
    }

    @Override
    public List<Setting> settings() {
        return List.of(JOURNAL, STATSD);
    }

    @Override
    public void configured(Map<String, String> values) {
        told = values;
    }
}
