package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.config.Knob;
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

    static final Setting MATRIX_SPLITS = Setting.choice(
            "mm.splits",
            "8",
            List.of("1", "2", "4", "8"),
            "Most blocks that share the columns of a tile where many rows are multiplied.");
    static final Setting ATTENTION_SPLITS = Setting.choice(
            "attention.splits",
            "64",
            List.of("8", "16", "32", "64"),
            "Most pieces that the positions of a sequence are split into where few rows attend.");

    /// All of them.
    public static final List<Setting> ALL = List.of(
            NVRTC,
            CACHE,
            Setting.flag(
                    GraphPlanner.TENSOR_CORES,
                    true,
                    "Multiplies many rows on tensor cores; off: by the kernels for few rows, again and again."),
            MATRIX_SPLITS,
            ATTENTION_SPLITS,
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

    /// What is worth trying, the device's choice beside it: another tiling adds in another order.
    public static final List<Knob> KNOBS = List.of(
            Knob.rounding(Schedule.MV_THREADS_PER_ROW, List.of("8", "16", "32")),
            Knob.rounding(Schedule.MV_BLOCK_SIZE, List.of("64", "128", "256")).compiled(),
            Knob.rounding(Schedule.MV_ROWS_PER_THREAD, List.of("1", "2", "4")).compiled(),
            Knob.rounding(MATRIX_SPLITS.name(), List.of("1", "2", "4")),
            Knob.rounding(ATTENTION_SPLITS.name(), List.of("8", "16", "32")));

    private PlanSettings() {}
}
