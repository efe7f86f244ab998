package dev.tenon.api.device;

import java.util.Map;

/// What is known of a device before it is opened.
///
/// @param id id within its backend, such as `0`; used to choose it
/// @param name what people call it, such as the processor's name
/// @param kind class of device for kernel look-up: `cpu`, `cuda`, `nv-tegra`, or a third party's
/// @param memoryBytes memory of the device in bytes; 0 when unknown
/// @param details more facts for a listing (vector width, compute capability, driver), in display order
public record DeviceInfo(String id, String name, String kind, long memoryBytes, Map<String, String> details) {}
