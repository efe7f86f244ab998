package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.BYTE;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.f16;

import java.lang.foreign.MemorySegment;
import java.util.Map;

/// How a weight format lies in the GPU's memory, which for some formats is not as in GGUF: planes of
/// quants, scales and factors, each for all blocks of the tensor. `kernels/nvidia`'s
/// `format_*.cuh` have the pictures.
abstract class WeightFormat {
    private static final Map<String, WeightFormat> ALL = Map.ofEntries(
            Map.entry("F32", new Elements(4)),
            Map.entry("F16", new Elements(2)),
            Map.entry("BF16", new Bfloat()),
            Map.entry("Q8_0", new SimpleFormats.Q8()),
            Map.entry("Q4_0", new SimpleFormats.Q4()),
            Map.entry("Q4_1", new NibbleFormats.Q41()),
            Map.entry("Q5_0", new NibbleFormats.Q5()),
            Map.entry("Q5_1", new NibbleFormats.Q51()),
            Map.entry("IQ4_NL", new NibbleFormats.Uneven()),
            Map.entry("IQ4_XS", new NibbleFormats.UnevenSub()),
            Map.entry("MXFP4", new NibbleFormats.Mx()),
            Map.entry("Q6_K", new KFormats.Q6K()),
            Map.entry("Q5_K", new KFormats.Q45K(true)),
            Map.entry("Q4_K", new KFormats.Q45K(false)),
            Map.entry("Q3_K", new KFormats.Q3K()),
            Map.entry("Q2_K", new KFormats.Q2K()));

    /// Elements of a block.
    final int block;
    /// Bytes of a block in a file.
    final int fileBytes;
    /// Bytes of a block on the device.
    final int bytes;

    WeightFormat(int block, int fileBytes, int bytes) {
        this.block = block;
        this.fileBytes = fileBytes;
        this.bytes = bytes;
    }

    /// {@return a format, or null if it is none of these}
    static WeightFormat of(String id) {
        return ALL.get(id);
    }

    /// Decodes a block.
    ///
    /// @param tensor the tensor as it lies on the device
    /// @param blocks blocks of the tensor
    /// @param number which one
    /// @param out receives its elements
    /// @param at where
    abstract void decode(MemorySegment tensor, long blocks, long number, float[] out, int at);

    /// Brings a block of a file to its place on the device; does nothing for formats that lie there as
    /// in a file.
    ///
    /// @param in the block
    /// @param out the tensor on the device
    /// @param blocks blocks of the tensor
    /// @param number which one
    void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
        // As in a file.
    }

    /// Decodes a row.
    final void row(MemorySegment tensor, long rows, int cols, long row, float[] out) {
        long blocks = rows * cols / block;
        for (int i = 0; i < cols / block; i++) {
            decode(tensor, blocks, row * (cols / block) + i, out, i * block);
        }
    }

    static int unsigned(MemorySegment memory, long at) {
        return memory.get(BYTE, at) & 0xFF;
    }

    static void copy(MemorySegment in, long from, MemorySegment out, long to, long bytes) {
        MemorySegment.copy(in, from, out, to, bytes);
    }

    /// Single numbers.
    private static final class Elements extends WeightFormat {
        Elements(int bytes) {
            super(1, bytes, bytes);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            out[at] = bytes == 4 ? tensor.get(Arrays.FLOAT, 4 * number) : f16(tensor, 2 * number);
        }
    }

    /// The upper 16 bits of float32 numbers.
    private static final class Bfloat extends WeightFormat {
        Bfloat() {
            super(1, 2, 2);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            out[at] = Float.intBitsToFloat(tensor.get(Arrays.SHORT, 2 * number) << 16);
        }
    }
}
