package dev.tenon.kernels.x86.format;

/// What the kernels for Q8_0 that are written by hand know of its block: 32 signed bytes under one scale.
///
/// ```
/// byte 0       2                         34
///      | d:f16 | qs: int8[32]            |          value[i] = d * qs[i]
/// ```
final class Q8_0Block {
    static final int BLOCK = 34;
    static final int QS = 2;

    private Q8_0Block() {}
}
