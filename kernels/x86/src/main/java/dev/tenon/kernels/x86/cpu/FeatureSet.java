package dev.tenon.kernels.x86.cpu;

/// The sets of instructions that kernels are generated for, the widest last.
public enum FeatureSet {
    /// AVX2, FMA, F16C: 256 bits, byte products through 16 bits.
    AVX2("avx2"),
    /// AVX2 and AVX-VNNI: 256 bits with `vpdpbusd`.
    AVX_VNNI("avxvnni"),
    /// AVX-512 F, BW, DQ, VL and VNNI: 512 bits with `vpdpbusd`.
    AVX512("avx512");

    /// The set's name in kernel names and settings.
    public final String id;

    FeatureSet(String id) {
        this.id = id;
    }
}
