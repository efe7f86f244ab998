package dev.tenon.api.device;

/// Memory of a device in use.
///
/// @param allocatedBytes allocated and not yet closed
/// @param boundBytes host memory used in place
/// @param limitBytes what the device has; 0 when unknown
public record MemoryUse(long allocatedBytes, long boundBytes, long limitBytes) {}
