package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.Schedule;
import java.util.HashMap;
import java.util.Map;

/// The three knobs of the kernels for few rows (matrix-vector products).
///
/// @param threadsPerRow threads that share a row of the weight: a power of two from 4 to 32; 0
///     leaves it to the device
/// @param blockSize threads of a block: 32, 64, 128, 256 or 512; 0 leaves it to the device
/// @param rowsPerThread rows a thread works on at once: 1, 2 or 4; 0 leaves it to the kernel
/// @param fixedBlock whether there are no kernels compiled for smaller blocks
public record MvSchedule(int threadsPerRow, int blockSize, int rowsPerThread, boolean fixedBlock) {
    /// What the sources are compiled for where nothing is said.
    public static final int BLOCK = 512;
    /// Everything left to device and kernel.
    public static final MvSchedule DEFAULT = new MvSchedule(0, 0, 0, false);

    /// Checks the values.
    public MvSchedule {
        if (threadsPerRow != 0 && (Integer.bitCount(threadsPerRow) != 1 || threadsPerRow < 4 || threadsPerRow > 32)) {
            throw refused(Schedule.MV_THREADS_PER_ROW, threadsPerRow, "4, 8, 16 or 32");
        }
        if (blockSize != 0 && (Integer.bitCount(blockSize) != 1 || blockSize < 32 || blockSize > 512)) {
            throw refused(Schedule.MV_BLOCK_SIZE, blockSize, "32, 64, 128, 256 or 512");
        }
        if (rowsPerThread != 0 && rowsPerThread != 1 && rowsPerThread != 2 && rowsPerThread != 4) {
            throw refused(Schedule.MV_ROWS_PER_THREAD, rowsPerThread, "1, 2 or 4");
        }
    }

    private static IllegalArgumentException refused(String knob, int value, String expected) {
        return new IllegalArgumentException(
                knob + " is " + value + "; expected " + expected + ", or 0 for the default");
    }

    /// Reads the knobs from settings.
    ///
    /// @param settings settings by name
    /// @return the knobs
    /// @throws IllegalArgumentException naming a knob whose value is none
    public static MvSchedule of(Map<String, String> settings) {
        Map<String, Integer> knobs = new HashMap<>();
        read(knobs, Schedule.MV_THREADS_PER_ROW, settings);
        read(knobs, Schedule.MV_BLOCK_SIZE, settings);
        read(knobs, Schedule.MV_ROWS_PER_THREAD, settings);
        Schedule schedule = new Schedule(knobs);
        return new MvSchedule(
                schedule.knob(Schedule.MV_THREADS_PER_ROW, 0),
                schedule.knob(Schedule.MV_BLOCK_SIZE, 0),
                schedule.knob(Schedule.MV_ROWS_PER_THREAD, 0),
                false);
    }

    /// {@return the same knobs, where only the kernels of this bundle can be used: they are
    ///     compiled for one size of block}
    public MvSchedule forPrebuilt() {
        return new MvSchedule(threadsPerRow, blockSize == 0 ? BLOCK / 2 : blockSize, rowsPerThread, true);
    }

    private static void read(Map<String, Integer> knobs, String name, Map<String, String> settings) {
        String text = settings.get(name);
        if (text != null && !text.isBlank()) {
            try {
                knobs.put(name, Integer.parseInt(text.strip()));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(name + " is '" + text + "'; expected a whole number", e);
            }
        }
    }

    /// {@return rows a thread works on at once}
    public int rows() {
        return rowsPerThread == 0 ? 2 : rowsPerThread;
    }

    /// {@return the macros that kernels are compiled with}
    public Map<String, String> macros() {
        return rowsPerThread == 0 ? Map.of() : Map.of("TENON_ROWS", Integer.toString(rowsPerThread));
    }
}
