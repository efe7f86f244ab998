package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.config.Setting;
import dev.tenon.api.kernel.cuda.Schedule;
import java.util.List;

/// What can be set of every backend that plans with this bundle.
public final class PlanSettings {
    /// The NVRTC library.
    public static final Setting NVRTC =
            Setting.path("cuda.nvrtc", "", "The NVRTC library or its folder; nothing else is tried then.");

    /// The folder of compiled kernels.
    public static final Setting CACHE = Setting.path("cuda.cache", "", "The folder where compiled kernels are kept.");

    /// All of them.
    public static final List<Setting> ALL = List.of(
            NVRTC,
            CACHE,
            Setting.flag(
                    GraphPlanner.TENSOR_CORES,
                    true,
                    "Multiplies many rows on tensor cores; off: by the kernels for few rows, again and again."),
            Setting.choice(
                            Schedule.MV_THREADS_PER_ROW,
                            "0",
                            List.of("0", "4", "8", "16", "32"),
                            "Threads that share a weight's row where few rows are multiplied; 0: as the device is.")
                    .alsoFrom("MV_THREADS_PER_ROW"),
            Setting.choice(
                            Schedule.MV_BLOCK_SIZE,
                            "0",
                            List.of("0", "32", "64", "128", "256", "512"),
                            "Threads of a block where few rows are multiplied; 0: as the device is.")
                    .alsoFrom("MV_BLOCKSIZE"),
            Setting.choice(
                            Schedule.MV_ROWS_PER_THREAD,
                            "0",
                            List.of("0", "1", "2", "4"),
                            "Rows of a weight that a thread works on at once; 0: as the kernel is.")
                    .alsoFrom("MV_ROWS_PER_THREAD"));

    private PlanSettings() {}
}
