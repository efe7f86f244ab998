package dev.tenon.api.device;

import java.util.Map;
import java.util.Objects;

/// How to open a device.
///
/// @param deviceId [DeviceInfo#id()], or an empty string for the first
/// @param threads worker threads for CPU devices; 0 takes the number of processors
/// @param settings further settings by name, such as a [dev.tenon.api.kernel.cuda.Schedule]'s; unknown names are
/// ignored;
///     unmodifiable
public record DeviceOptions(String deviceId, int threads, Map<String, String> settings) {
    /// Copies the map.
    public DeviceOptions {
        Objects.requireNonNull(deviceId, "deviceId");
        settings = Map.copyOf(settings);
    }

    /// {@return the first device with default settings}
    public static DeviceOptions defaults() {
        return new DeviceOptions("", 0, Map.of());
    }
}
