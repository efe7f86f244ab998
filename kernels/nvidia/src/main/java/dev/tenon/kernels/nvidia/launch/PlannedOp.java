package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.device.Support;

/// An op whose launches can be written down for any step shape.
///
/// @param kind what the report calls the op
/// @param name which one, such as a tensor's name
/// @param kernel what the report calls the kernel
/// @param level whether its formats have kernels of their own
/// @param selected whether it works on the rows that want logits
/// @param weightBytes weight bytes that it reads to decode one token
/// @param emitter writes down its launches
public record PlannedOp(
        String kind,
        String name,
        String kernel,
        Support.Level level,
        boolean selected,
        long weightBytes,
        Emitter emitter) {
    /// Writes down launches.
    @FunctionalInterface
    public interface Emitter {
        void emit(Emission to);
    }
}
