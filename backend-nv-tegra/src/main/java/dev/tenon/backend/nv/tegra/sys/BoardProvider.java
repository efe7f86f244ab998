package dev.tenon.backend.nv.tegra.sys;

import dev.tenon.api.config.Setting;
import java.util.List;
import java.util.Map;
import org.osgi.annotation.versioning.ConsumerType;

/// Offers a board beside the one that the machine is, such as an emulated one: a service. Safe for
/// any thread.
@ConsumerType
public interface BoardProvider {
    /// {@return the device's id, such as `emulated`}
    String id();

    /// {@return what it is, for people}
    String description();

    /// Opens a board of its own for one device.
    ///
    /// @param settings the device's settings by name
    /// @return the board; the caller closes it
    /// @throws IllegalArgumentException if a setting is not understood
    Board open(Map<String, String> settings);

    /// {@return the settings that it reads besides the backend's; a stable list}
    default List<Setting> settings() {
        return List.of();
    }
}
