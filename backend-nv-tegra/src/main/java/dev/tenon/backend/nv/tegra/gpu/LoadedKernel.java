package dev.tenon.backend.nv.tegra.gpu;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.code.CubinKernel;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.command.KernelResources;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import java.lang.foreign.MemorySegment;

/// A kernel whose code is in the GPU's memory. Immutable; safe for any thread.
///
/// A launch needs a block of memory of its own, which must not change until the launch is through:
///
/// ```
/// 0            parameter base                    multiple of 256
/// | bank 0: sizes, windows, stack | parameters | | launch descriptor |
/// ```
public final class LoadedKernel {
    /// What the calling convention reserves of local memory, at the top.
    static final int STACK_RESERVE = 0x240;

    private static final int STACK_TOP = (1 << 24) - STACK_RESERVE;
    private static final int SHARED_WINDOW = 0x18;
    private static final int LOCAL_WINDOW = 0x20;
    private static final int STACK_POINTER = 0x28;
    private static final int DYNAMIC_SHARED = 0x2C;
    private static final int REGISTER_FILE = 65536;
    /// Hopper: blocks of a cluster in each direction, clusters in each direction, blocks of a cluster.
    private static final int CLUSTER = 0x144;

    private static final int CLUSTERS = 0x15C;
    private static final int CLUSTER_BLOCKS = 0x188;

    private final CubinKernel kernel;
    private final QmdFormat format;
    private final AddressLayout layout;
    private final byte[] template;
    private final int bank0Bytes;
    private final int maxThreads;

    /// @param kernel what its cubin says
    /// @param cubin the cubin
    /// @param imageVa where the cubin's image is on the GPU
    /// @param localBytes local memory that every thread has
    /// @param traits the GPU
    /// @param layout its address space
    LoadedKernel(
            CubinKernel kernel, Cubin cubin, long imageVa, int localBytes, GpuTraits traits, AddressLayout layout) {
        this.kernel = kernel;
        this.format = traits.qmd();
        this.layout = layout;
        this.bank0Bytes = round(kernel.parameterBase() + kernel.parameterBytes(), 16);
        long perWarp = round(Math.max(1, kernel.registers()) * 32, 256);
        this.maxThreads = (int) (REGISTER_FILE / perWarp / 4 * 4 * 32);
        MemorySegment bytes = MemorySegment.ofArray(new byte[format.bytes()]);
        Qmd qmd = new Qmd(format, bytes);
        qmd.program(
                imageVa + cubin.codeOffset(kernel.name()),
                kernel.codeBytes(),
                new KernelResources(
                        kernel.registers(), round(kernel.sharedBytes(), 128), kernel.barriers(), localBytes));
        kernel.constantBytes()
                .forEach((bank, size) -> qmd.constantBank(
                        bank, imageVa + cubin.constantOffset(kernel.name(), bank), round(size, 16), false));
        template = bytes.toArray(JAVA_BYTE);
    }

    static int round(int value, int unit) {
        return (value + unit - 1) / unit * unit;
    }

    /// {@return what its cubin says}
    public CubinKernel kernel() {
        return kernel;
    }

    /// {@return size of a launch's block of memory}
    public int blockBytes() {
        return qmdOffset() + format.bytes();
    }

    /// {@return where the launch descriptor is in the block}
    public int qmdOffset() {
        return round(bank0Bytes, Qmd.ALIGNMENT);
    }

    /// {@return where a parameter is in the block}
    ///
    /// @param index 0-based
    public int parameterOffset(int index) {
        return kernel.parameterBase() + kernel.parameter(index).offset();
    }

    /// Writes a launch's block.
    ///
    /// @param block memory of [#blockBytes] bytes
    /// @param va its address, a multiple of 256
    /// @param geometry blocks and threads
    /// @param dynamicShared shared memory of a block beside the static one, in bytes
    /// @param arguments parameters
    public void write(MemorySegment block, long va, Geometry geometry, int dynamicShared, Arguments arguments) {
        if (geometry.threads() > maxThreads) {
            throw new IllegalArgumentException("kernel " + kernel.name() + " uses " + kernel.registers()
                    + " registers, which allows " + maxThreads + " threads in a block; " + geometry.threads()
                    + " were asked for");
        }
        byte[] values = arguments.bytes();
        if (values.length != kernel.parameterBytes()) {
            throw new IllegalArgumentException(values.length + " bytes of parameters for kernel " + kernel.name()
                    + "; expected " + kernel.parameterBytes());
        }
        block.asSlice(0, qmdOffset()).fill((byte) 0);
        sizes(block, geometry);
        if (format == QmdFormat.V4) {
            // A cluster of one block.
            for (int at = CLUSTER; at < CLUSTER + 12; at += 4) {
                block.set(JAVA_INT_UNALIGNED, at, 1);
            }
            block.set(JAVA_INT_UNALIGNED, CLUSTER_BLOCKS, 1);
        }
        block.set(JAVA_LONG_UNALIGNED, SHARED_WINDOW, layout.sharedWindow());
        block.set(JAVA_LONG_UNALIGNED, LOCAL_WINDOW, layout.localWindow());
        block.set(JAVA_INT_UNALIGNED, STACK_POINTER, STACK_TOP);
        block.set(JAVA_INT_UNALIGNED, DYNAMIC_SHARED, dynamicShared);
        MemorySegment.copy(values, 0, block, JAVA_BYTE, kernel.parameterBase(), values.length);
        MemorySegment.copy(template, 0, block, JAVA_BYTE, qmdOffset(), template.length);
        Qmd qmd = qmd(block);
        qmd.geometry(geometry);
        qmd.constantBank(0, va, bank0Bytes, true);
        if (dynamicShared > 0) {
            qmd.sharedBytes(round(kernel.sharedBytes() + dynamicShared, 128));
        }
    }

    /// Changes blocks and threads of a launch that is not running.
    ///
    /// @param block memory that [#write] has filled
    /// @param geometry blocks and threads
    public void geometry(MemorySegment block, Geometry geometry) {
        if (geometry.threads() > maxThreads) {
            throw new IllegalArgumentException(geometry.threads() + " threads; at most " + maxThreads);
        }
        sizes(block, geometry);
        qmd(block).geometry(geometry);
    }

    /// {@return the launch descriptor in a block}
    Qmd qmd(MemorySegment block) {
        return new Qmd(format, block.asSlice(qmdOffset()));
    }

    private void sizes(MemorySegment block, Geometry geometry) {
        if (format == QmdFormat.V4) {
            block.set(JAVA_INT_UNALIGNED, CLUSTERS, geometry.gridX());
            block.set(JAVA_INT_UNALIGNED, CLUSTERS + 4, geometry.gridY());
            block.set(JAVA_INT_UNALIGNED, CLUSTERS + 8, geometry.gridZ());
        }
        block.set(JAVA_INT_UNALIGNED, 0x00, geometry.blockX());
        block.set(JAVA_INT_UNALIGNED, 0x04, geometry.blockY());
        block.set(JAVA_INT_UNALIGNED, 0x08, geometry.blockZ());
        block.set(JAVA_INT_UNALIGNED, 0x0C, geometry.gridX());
        block.set(JAVA_INT_UNALIGNED, 0x10, geometry.gridY());
        block.set(JAVA_INT_UNALIGNED, 0x14, geometry.gridZ());
    }
}
