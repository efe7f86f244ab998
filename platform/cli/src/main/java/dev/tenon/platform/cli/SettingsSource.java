package dev.tenon.platform.cli;

import dev.tenon.platform.core.control.SettingValue;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Settings that `tenon config` lists besides those of the engine and the command line, contributed
/// by any bundle as a service.
@ConsumerType
public interface SettingsSource {
    /// {@return the settings and their values; of those without a value the default}
    List<SettingValue> settings();
}
