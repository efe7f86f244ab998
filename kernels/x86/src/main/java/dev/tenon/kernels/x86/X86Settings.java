package dev.tenon.kernels.x86;

import dev.tenon.api.config.Setting;
import java.util.List;

/// What can be set of these kernels, once in a process.
final class X86Settings {
    private static final List<String> SWITCH = List.of("on", "off");

    static final List<Setting> ALL = List.of(
            Setting.choice(
                            X86KernelProvider.SETTING,
                            "auto",
                            List.of("auto", "off", "avx2", "avxvnni", "avx512", "avx512vbmi"),
                            "The instructions that kernels are made of; auto: the widest that the processor has.")
                    .readAtStart(),
            Setting.choice(X86KernelProvider.ATTENTION, "on", SWITCH, "Whether attention is computed by machine code.")
                    .readAtStart(),
            Setting.choice(
                            X86KernelProvider.ELEMENTS,
                            "on",
                            SWITCH,
                            "Whether norms and activations are computed by machine code.")
                    .readAtStart(),
            Setting.choice(
                            X86KernelProvider.SETTING + ".prefetch",
                            "auto",
                            List.of("auto", "near", "levels"),
                            "How far ahead weights are fetched: into the first cache (near), through the second"
                                    + " (levels), or as fits the processor.")
                    .readAtStart());

    private X86Settings() {}
}
