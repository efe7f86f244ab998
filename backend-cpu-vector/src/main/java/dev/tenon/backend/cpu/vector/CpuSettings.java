package dev.tenon.backend.cpu.vector;

import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.backend.cpu.vector.op.StepContext;
import dev.tenon.backend.cpu.vector.threads.CpuPinning;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import java.util.List;
import java.util.stream.IntStream;

/// What can be set of this backend.
final class CpuSettings {
    static final List<Setting> ALL = List.of(
            CpuPinning.PIN,
            CpuThreads.SPIN,
            StepContext.CLAIMS,
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

    /// {@return what is worth trying; no result depends on any of it}
    ///
    /// @param processors of this machine
    static List<Knob> knobs(int processors) {
        List<String> fewer = IntStream.of(processors - 1, processors / 2)
                .filter(n -> n > 0 && n < processors)
                .distinct()
                .mapToObj(Integer::toString)
                .toList();
        return List.of(
                Knob.exact(StepContext.CLAIMS.name(), List.of("16", "32")),
                Knob.exact(CpuThreads.SPIN.name(), List.of("50", "150", "2000")),
                Knob.exact(CpuPinning.PIN.name(), List.of("on")),
                Knob.exact("threads", fewer));
    }
}
