package dev.tenon.backend.nv.tegra.gpu;

import dev.tenon.backend.nv.tegra.command.AddressLayout;
/// A GPU behind some driver: memory, an address space, channels and a doorbell. Everything above it
/// is the same for all drivers. Safe for any thread. Whoever opened it closes it, after its memory
/// and channels.

public interface GpuInterface extends AutoCloseable {
    /// The engines that a channel can be for.
    enum Engine {
        /// Runs kernels.
        COMPUTE,
        /// Copies memory.
        COPY
    }

    /// {@return what it is}
    GpuTraits traits();

    /// {@return where things are in its address space}
    AddressLayout layout();

    /// Allocates zeroed memory and maps it for processor and GPU.
    ///
    /// @param bytes size, at least 1
    /// @param kind what it is for
    /// @param purpose what messages call it
    /// @return the memory
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is not enough
    /// @throws dev.tenon.api.error.BackendException (`NV-001`) if the driver refuses for another
    ///     reason
    GpuMemory allocate(long bytes, MemoryKind kind, String purpose);

    /// Opens a channel.
    ///
    /// @param engine what it is for
    /// @return the channel
    GpuChannel openChannel(Engine engine);

    /// {@return what the driver knows about an error of the GPU, for people; empty if nothing}
    String diagnosis();

    @Override
    void close();
}
