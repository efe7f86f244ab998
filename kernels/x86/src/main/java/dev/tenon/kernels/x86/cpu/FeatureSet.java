package dev.tenon.kernels.x86.cpu;

/// The sets of instructions that kernels are generated for, the widest last.
public enum FeatureSet {
    /// AVX2, FMA, F16C: 256 bits, byte products through 16 bits.
    AVX2("avx2", false),
    /// AVX2 and AVX-VNNI: 256 bits with `vpdpbusd`.
    AVX_VNNI("avxvnni", false),
    /// AVX-512 F, BW, DQ, VL and VNNI: 512 bits with `vpdpbusd`.
    AVX512("avx512", true),
    /// The same, VBMI and VPOPCNTDQ: bytes are permuted over 512 bits, and bits counted.
    AVX512_VBMI("avx512vbmi", true);

    /// The set's name in kernel names and settings.
    public final String id;

    /// Whether registers have 512 bits.
    public final boolean wide;

    FeatureSet(String id, boolean wide) {
        this.id = id;
        this.wide = wide;
    }
}
