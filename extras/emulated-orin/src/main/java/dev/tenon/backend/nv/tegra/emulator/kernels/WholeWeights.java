package dev.tenon.backend.nv.tegra.emulator.kernels;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.lang.foreign.MemorySegment;

/// `embedding.cu`: rows of a table, and whole tensors into the layout of the device.
final class WholeWeights {
    private WholeWeights() {}

    /// `embedding_F(table, tableRows, tokens, out, cols)`.
    static void embedding(KernelLaunch launch, WeightFormat format) {
        long rows = launch.longParameter(1);
        int cols = launch.intParameter(4);
        int count = launch.geometry().gridX();
        int[] tokens = Arrays.ints(launch, launch.longParameter(2), count);
        MemorySegment table = launch.memory(launch.longParameter(0), rows * cols / format.block * format.bytes);
        float[] row = new float[cols];
        float[] out = new float[count * cols];
        for (int t = 0; t < count; t++) {
            format.row(table, rows, cols, tokens[t], row);
            System.arraycopy(row, 0, out, t * cols, cols);
        }
        Arrays.write(launch, launch.longParameter(3), out);
    }

    /// `repack_F(in, out, blocks, firstBlock, totalBlocks)`.
    static void repack(KernelLaunch launch, WeightFormat format) {
        long blocks = launch.longParameter(2);
        long first = launch.longParameter(3);
        long all = launch.longParameter(4);
        MemorySegment in = launch.memory(launch.longParameter(0), blocks * format.fileBytes);
        MemorySegment out = launch.memory(launch.longParameter(1), all * format.bytes);
        for (long b = 0; b < blocks; b++) {
            format.repack(in.asSlice(b * format.fileBytes, format.fileBytes), out, all, first + b);
        }
    }

    /// `dequantise_F(weight, out, firstElement, elements, totalElements)`: to float16.
    static void dequantise(KernelLaunch launch, WeightFormat format) {
        long first = launch.longParameter(2);
        int count = Math.toIntExact(launch.longParameter(3));
        long all = launch.longParameter(4);
        MemorySegment in = launch.memory(launch.longParameter(0), all / format.block * format.bytes);
        float[] block = new float[format.block];
        float[] out = new float[count];
        for (int i = 0; i < count; i++) {
            long element = first + i;
            if (i == 0 || element % format.block == 0) {
                format.decode(in, all / format.block, element / format.block, block, 0);
            }
            out[i] = block[(int) (element % format.block)];
        }
        Arrays.writeF16s(launch, launch.longParameter(1), out);
    }
}
