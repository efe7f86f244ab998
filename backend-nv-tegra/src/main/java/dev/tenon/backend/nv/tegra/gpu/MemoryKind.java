package dev.tenon.backend.nv.tegra.gpu;

/// What memory is for, which decides how it is cached and where it is.
public enum MemoryKind {
    /// Weights, activations, KV cache.
    DATA,
    /// Launch descriptors and their constant bank 0: the processor fills them, and never reads them.
    LAUNCHES,
    /// What the GPU writes and the processor reads.
    READ_BACK,
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
