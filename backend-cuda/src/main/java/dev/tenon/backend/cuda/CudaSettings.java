package dev.tenon.backend.cuda;

import dev.tenon.api.config.Setting;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.ffm.FfmBinding;
import dev.tenon.backend.cuda.plan.CudaPlan;
import dev.tenon.kernels.nvidia.plan.PlanSettings;
import java.util.List;
import java.util.stream.Stream;

/// What can be set of this backend.
final class CudaSettings {
    /// Setting: how the driver is called.
    static final String BINDING = "cuda.binding";

    static final List<Setting> ALL = Stream.concat(
                    PlanSettings.ALL.stream(),
                    Stream.of(
                            Setting.choice(
                                    BINDING,
                                    FfmBinding.NAME,
                                    List.of(FfmBinding.NAME, "jcuda"),
                                    "How the driver is called; ffm: by java.lang.foreign; jcuda: by the bundle of that"
                                            + " name."),
                            Setting.choice(
                                    KernelLoader.KERNELS,
                                    "auto",
                                    List.of("auto", "compile", "prebuilt"),
                                    "Where kernels come from; compile: never from the bundle; prebuilt: from nowhere"
                                            + " else."),
                            Setting.flag(
                                    CudaPlan.GRAPHS, true, "Launches a step as one captured graph; off: one by one."),
                            Setting.flag(
                                    CudaPlan.DEPENDENT_LAUNCH,
                                    true,
                                    "Lets a kernel begin while its predecessor ends.")))
            .toList();

    private CudaSettings() {}
}
