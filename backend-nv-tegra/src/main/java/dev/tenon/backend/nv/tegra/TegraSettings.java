package dev.tenon.backend.nv.tegra;

import dev.tenon.api.config.Setting;
import dev.tenon.kernels.nvidia.plan.PlanSettings;
import java.util.List;
import java.util.stream.Stream;

/// What can be set of the backends of this bundle.
final class TegraSettings {
    /// The settings of both.
    static final List<Setting> ALL = Stream.concat(
                    PlanSettings.ALL.stream(),
                    Stream.of(
                            Setting.choice(
                                    TegraOptions.LAYOUT,
                                    "below-windows",
                                    List.of("below-windows", "reserved-windows"),
                                    "Where buffers and memory windows are; reserved-windows is what boards have run."),
                            Setting.integer(
                                    TegraOptions.RING, 1024, 2, 8192, "Entries of a channel's ring, a power of two."),
                            TegraOptions.ALIGN,
                            Setting.integer(
                                    "nv-tegra.timeout-ms",
                                    30_000,
                                    1,
                                    Integer.MAX_VALUE,
                                    "Milliseconds after which the GPU counts as hung."),
                            Setting.path(
                                    "nv-tegra.kernel-folder",
                                    "",
                                    "A folder of cubins that is looked into before the bundle."),
                            Setting.choice(
                                    "nv-tegra.kernels",
                                    "auto",
                                    List.of("auto", "cubins", "stand-ins"),
                                    "On the emulated board: cubins, no stand-ins; stand-ins, nothing else.")))
            .toList();

    /// The settings of the experiment on a server's GPU.
    static final List<Setting> SERVER = Stream.concat(
                    ALL.stream(),
                    Stream.of(Setting.flag(
                            NvBackend.SWITCH, false, "Permits the experiment behind NVIDIA's resource manager.")))
            .toList();

    private TegraSettings() {}
}
