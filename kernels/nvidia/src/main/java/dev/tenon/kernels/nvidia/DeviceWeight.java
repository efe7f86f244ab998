package dev.tenon.kernels.nvidia;

import dev.tenon.kernels.nvidia.source.KernelModule;

/// A weight matrix on the device.
///
/// @param buffer its memory
/// @param tensor its name in the file
/// @param format how it lies there
/// @param rows rows
/// @param cols elements of a row
public record DeviceWeight(BufferSpec buffer, String tensor, DeviceFormat format, int rows, int cols) {
    /// {@return the number of blocks}
    public long blocks() {
        return (long) rows * cols / format.blockSize();
    }

    /// {@return bytes on the device}
    public long bytes() {
        return format.bytes((long) rows * cols);
    }

    /// {@return the module that has `repack_FORMAT`}
    public KernelModule repackModule() {
        return KernelModule.of("embedding.cu", format.id());
    }

    /// {@return the entry that rearranges the file's bytes}
    public String repackEntry() {
        return "repack_" + format.id();
    }

    /// {@return its address}
    public Argument.Address at() {
        return buffer.at(0);
    }
}
