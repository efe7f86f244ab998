package dev.tenon.backend.cpu.vector;

import dev.tenon.api.config.Setting;
import dev.tenon.backend.cpu.vector.threads.CpuPinning;
import java.util.List;

/// What can be set of this backend.
final class CpuSettings {
    static final List<Setting> ALL = List.of(
            CpuPinning.PIN,
            Setting.flag(
                    "warmup",
                    true,
                    "Compiles kernels in the background once a model is loaded; off: the first steps do."),
            Setting.choice(
                            "tenon.vector.bits",
                            "512",
                            List.of("128", "256", "512"),
                            "Widest vectors that kernels use, where the processor has them.")
                    .readAtStart());

    private CpuSettings() {}
}
