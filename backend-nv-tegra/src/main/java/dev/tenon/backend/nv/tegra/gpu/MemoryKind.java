package dev.tenon.backend.nv.tegra.gpu;

/// What memory is for, which decides how it is cached and who maps it.
public enum MemoryKind {
    /// Weights, activations, KV cache, launch descriptors, parameters.
    DATA,
    /// Machine code and constants.
    CODE,
    /// Command words. Never write-combined: words that are still in a write buffer when the
    /// doorbell rings are not there for the GPU, which showed as impossible launch descriptors on a
    /// board.
    COMMANDS,
    /// Signals.
    SIGNAL,
    /// Ring of a channel; the driver maps it for the GPU itself.
    RING,
    /// GET and PUT of a channel.
    USERD,
    /// Where the driver writes why it tore a channel down.
    NOTIFIER;

    /// {@return whether only the driver and the processor use it, so that nobody maps it for the GPU
    /// here}
    public boolean isDriverMemory() {
        return this == RING || this == USERD || this == NOTIFIER;
    }
}
