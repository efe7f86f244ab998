package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.MvSchedule;
import java.util.Map;

/// How a matrix-vector kernel is launched: as many rows of activations and as large a block as
/// shared memory allows.
///
/// Shared memory holds the quantised activations and a ring of stages, through which each thread
/// streams its share of the weights; the ring grows with the block that the kernel is compiled for.
///
/// @param tile rows of activations at once: 8, 4, 2 or 1
/// @param block threads, as compiled
/// @param threadsPerRow threads that share a row of the weight
/// @param sharedBytes dynamic shared memory
public record MvGeometry(int tile, int block, int threadsPerRow, int sharedBytes) {
    private static final Map<String, Integer> SLOT_BYTES = Map.ofEntries(
            Map.entry("Q8_0", 72),
            Map.entry("Q5_0", 48),
            Map.entry("Q5_1", 48),
            Map.entry("IQ4_XS", 40),
            Map.entry("MXFP4", 40),
            Map.entry("Q6_K", 56),
            Map.entry("Q5_K", 48),
            Map.entry("Q4_K", 40),
            Map.entry("Q3_K", 40),
            Map.entry("Q2_K", 24),
            Map.entry("F16", 64),
            Map.entry("BF16", 64),
            Map.entry("F32", 64));
    static final int THIRD_PARTY_SLOT_BYTES = 32;
    private static final int SMALLEST_BLOCK = 64;
    /// What a block asks for beyond half of a multiprocessor's shared memory to have it for itself.
    private static final int MORE_THAN_HALF = 1024;
    /// Most rows of activations that the kernels take at once.
    private static final int MOST_ROWS = 8;

    /// Chooses a geometry.
    ///
    /// @param schedule knobs
    /// @param traits the device
    /// @param shape what is multiplied
    /// @param formats formats of the weights
    /// @return the geometry
    static MvGeometry of(MvSchedule schedule, DeviceTraits traits, MvShape shape, DeviceFormat... formats) {
        return of(schedule, traits, shape, traits.multiprocessors(), formats);
    }

    /// The same for a launch of another number of blocks than there are multiprocessors.
    static MvGeometry of(MvSchedule schedule, DeviceTraits traits, MvShape shape, int blocks, DeviceFormat... formats) {
        int cols = shape.cols();
        int weightRows = shape.weightRows();
        int largest = schedule.blockSize() == 0 ? MvSchedule.BLOCK : schedule.blockSize();
        int smallest = schedule.fixedBlock() ? largest : Math.min(SMALLEST_BLOCK, largest);
        for (int tile = Math.min(shape.rows(), MOST_ROWS); tile >= 1; tile /= 2) {
            for (int block = largest; block >= smallest; block /= 2) {
                long shared = 0;
                for (DeviceFormat format : formats) {
                    shared = Math.max(shared, sharedBytes(format, tile, cols, block, weightRows));
                }
                if (shared <= traits.sharedBytes()) {
                    int groups = (shape.allRows() + weightRows - 1) / weightRows;
                    int perBlock = (groups + blocks - 1) / blocks;
                    int threads = threads(schedule, formats[0], cols, perBlock, block);
                    return new MvGeometry(tile, block, threads, (int) shared);
                }
            }
        }
        throw new IllegalArgumentException(
                "rows of " + cols + " elements do not fit into " + traits.sharedBytes() + " bytes of shared memory");
    }

    private static long sharedBytes(DeviceFormat format, int tile, int cols, int block, int weightRows) {
        long activations = format.integer() ? (long) tile * (cols / 2 * 3L) : 0;
        return activations + (long) stages(tile) * block * weightRows * slotBytes(format);
    }

    /// {@return bytes of the ring that a thread needs for a row of the weight and a stage}
    static int slotBytes(DeviceFormat format) {
        return format.layout()
                .map(layout -> layout.pieceBytes() * (layout.unit() < 64 ? 2 : 1))
                .orElseGet(() -> SLOT_BYTES.getOrDefault(format.id(), THIRD_PARTY_SLOT_BYTES));
    }

    /// {@return stages of the ring, as compiled}
    static int stages(int tile) {
        return tile == 1 ? 1 : 2;
    }

    /// {@return shared memory to ask for where no two blocks of this launch may share a multiprocessor}
    ///
    /// Blocks of one row leave room for those of the next launch, which start early. Behind a launch
    /// that leaves some multiprocessors free before others, the blocks of one launch would pair up,
    /// and those of all launches after it.
    ///
    /// @param traits the device
    int aloneBytes(DeviceTraits traits) {
        boolean pairs = tile == 1 && traits.programmaticLaunch();
        return pairs ? Math.max(sharedBytes, traits.sharedBytes() / 2 + MORE_THAN_HALF) : sharedBytes;
    }

    /// Threads that share a row: the fewest rounds of a block count, and of two with as many the one
    /// whose threads all have something to do.
    ///
    /// @param groups row groups of a block, each taken by as many threads as share a row
    private static int threads(MvSchedule schedule, DeviceFormat format, int cols, int groups, int block) {
        if (schedule.threadsPerRow() != 0) {
            return schedule.threadsPerRow();
        }
        int steps32 = steps(format, cols, 32);
        int steps16 = steps(format, cols, 16);
        int rounds32 = steps32 * ((groups * 32 + block - 1) / block);
        int rounds16 = steps16 * ((groups * 16 + block - 1) / block);
        return rounds16 < rounds32 || rounds16 == rounds32 && steps16 == steps32 ? 16 : 32;
    }

    /// {@return how often the threads of a row must read until they have all of it}
    private static int steps(DeviceFormat format, int cols, int threads) {
        int atOnce = format.integer() ? 64 : format.blockSize() == 1 ? 64 / format.blockBytes() : 8;
        return (cols + atOnce * threads - 1) / (atOnce * threads);
    }

    /// {@return the macros that the kernel is compiled with}
    Map<String, String> macros() {
        return block == MvSchedule.BLOCK ? Map.of() : Map.of("TENON_BLOCK", Integer.toString(block));
    }
}
