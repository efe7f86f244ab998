package dev.tenon.api.kernel.cuda;

import java.util.Map;

/// Named tuning knobs of a backend's kernels, such as `mv.threads-per-row`. A knob that is not set
/// has a default that the device gives.
///
/// @param knobs values by name; unmodifiable
public record Schedule(Map<String, Integer> knobs) {
    /// Threads that share a row in a matrix-vector product.
    public static final String MV_THREADS_PER_ROW = "mv.threads-per-row";
    /// Threads of a block in a matrix-vector product.
    public static final String MV_BLOCK_SIZE = "mv.block-size";
    /// Rows a thread works on in a matrix-vector product.
    public static final String MV_ROWS_PER_THREAD = "mv.rows-per-thread";

    /// Copies the map.
    public Schedule {
        knobs = Map.copyOf(knobs);
    }

    /// {@return a knob's value}
    ///
    /// @param name knob
    /// @param deviceDefault value when it is not set
    public int knob(String name, int deviceDefault) {
        return knobs.getOrDefault(name, deviceDefault);
    }
}
