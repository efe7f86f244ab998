package dev.tenon.api.device;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/// What is known of a device before it is opened.
///
/// @param id id within its backend, such as `0`; used to choose it
/// @param name what people call it, such as the processor's name
/// @param kind class of device for kernel look-up: `cpu`, `cuda`, `nv-tegra`, or a third party's
/// @param memoryBytes memory of the device in bytes; 0 when unknown
/// @param details more facts for a listing (vector width, compute capability, driver), in display order; unmodifiable
public record DeviceInfo(String id, String name, String kind, long memoryBytes, Map<String, String> details) {
    /// Copies the map.
    public DeviceInfo {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kind, "kind");
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }
}
