package dev.tenon.backend.nv.tegra.emulator.launch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.tenon.backend.nv.tegra.code.CubinKernel;
import dev.tenon.backend.nv.tegra.command.Geometry;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/// One launch of a kernel, as the emulated GPU decoded it from memory.
public final class KernelLaunch {
    private final CubinKernel kernel;
    private final Geometry geometry;
    private final int sharedBytes;
    private final MemorySegment parameters;
    private final Memory memory;
    private final Map<Integer, Long> banks;

    /// Memory as the GPU sees it.
    @FunctionalInterface
    public interface Memory {
        /// {@return memory of the GPU}
        ///
        /// @param va address
        /// @param bytes size; all of it must be in one buffer
        /// @param what for messages
        MemorySegment at(long va, long bytes, String what);
    }

    /// @param kernel what its cubin says of the kernel
    /// @param geometry blocks and threads
    /// @param sharedBytes shared memory of a block
    /// @param bank0 the constant bank with the parameters
    /// @param banks addresses of the others, by number
    /// @param memory memory of the GPU
    public KernelLaunch(
            CubinKernel kernel,
            Geometry geometry,
            int sharedBytes,
            MemorySegment bank0,
            Map<Integer, Long> banks,
            Memory memory) {
        this.kernel = kernel;
        this.geometry = geometry;
        this.sharedBytes = sharedBytes;
        this.parameters = bank0.asSlice(kernel.parameterBase(), kernel.parameterBytes());
        this.banks = banks;
        this.memory = memory;
    }

    /// {@return what its cubin says of the kernel}
    public CubinKernel kernel() {
        return kernel;
    }

    /// {@return blocks and threads}
    public Geometry geometry() {
        return geometry;
    }

    /// {@return shared memory of a block in bytes}
    public int sharedBytes() {
        return sharedBytes;
    }

    private MemorySegment parameter(int index, int bytes) {
        CubinKernel.Parameter parameter = kernel.parameter(index);
        if (parameter.sizeBytes() != bytes) {
            throw new IllegalStateException("parameter " + index + " of " + kernel.name() + " has "
                    + parameter.sizeBytes() + " bytes; its reference reads " + bytes);
        }
        return parameters.asSlice(parameter.offset(), bytes);
    }

    /// {@return a parameter of 8 bytes: an address or a number}
    ///
    /// @param index 0-based
    public long longParameter(int index) {
        return parameter(index, 8).get(JAVA_LONG_UNALIGNED, 0);
    }

    /// {@return a parameter of 8 bytes}
    ///
    /// @param index 0-based
    public double doubleParameter(int index) {
        return parameter(index, 8).get(JAVA_DOUBLE_UNALIGNED, 0);
    }

    /// {@return a parameter of 4 bytes}
    ///
    /// @param index 0-based
    public int intParameter(int index) {
        return parameter(index, 4).get(JAVA_INT_UNALIGNED, 0);
    }

    /// {@return a parameter of 4 bytes}
    ///
    /// @param index 0-based
    public float floatParameter(int index) {
        return parameter(index, 4).get(JAVA_FLOAT_UNALIGNED, 0);
    }

    /// {@return a parameter of 2 bytes}
    ///
    /// @param index 0-based
    public short shortParameter(int index) {
        return parameter(index, 2).get(JAVA_SHORT_UNALIGNED, 0);
    }

    /// {@return a parameter of 1 byte}
    ///
    /// @param index 0-based
    public byte byteParameter(int index) {
        return parameter(index, 1).get(JAVA_BYTE, 0);
    }

    /// {@return a parameter of any size}
    ///
    /// @param index 0-based
    public MemorySegment structParameter(int index) {
        return parameter(index, kernel.parameter(index).sizeBytes());
    }

    /// {@return memory of the GPU; reading or writing where nothing is mapped stops the launch with
    /// a fault}
    ///
    /// @param va address
    /// @param bytes size
    public MemorySegment memory(long va, long bytes) {
        return memory.at(va, bytes, "access of kernel " + kernel.name());
    }

    /// {@return a constant bank}
    ///
    /// @param bank number of a bank that the kernel has
    public MemorySegment constants(int bank) {
        return memory.at(banks.get(bank), kernel.constantBytes().get(bank), "constant bank " + bank);
    }
}
