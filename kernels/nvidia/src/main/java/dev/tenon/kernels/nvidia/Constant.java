package dev.tenon.kernels.nvidia;

import java.lang.foreign.MemorySegment;

/// Numbers that the host has computed for the device.
///
/// @param buffer where they go
/// @param data what they are; read-only, lives as long as the plan is made
public record Constant(BufferSpec buffer, MemorySegment data) {}
