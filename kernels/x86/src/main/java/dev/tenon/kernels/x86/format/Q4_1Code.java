package dev.tenon.kernels.x86.format;

/// Q4_1: 32 four-bit levels with a scale and an offset.
///
/// ```
/// byte 0       2       4                         20
///      | d:f16 | m:f16 | qs: uint8[16]           |      value[i]    = d * (qs[i] & 15) + m     i in 0..15
///                                                       value[i+16] = d * (qs[i] >> 4) + m
/// ```
public final class Q4_1Code extends HalvesCode {
    public Q4_1Code() {
        super("Q4_1", UNIT, 20, 4, 15, true, 1);
    }
}
