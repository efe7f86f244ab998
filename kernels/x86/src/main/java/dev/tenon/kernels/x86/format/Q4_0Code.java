package dev.tenon.kernels.x86.format;

/// Q4_0: 32 four-bit levels under one scale.
///
/// ```
/// byte 0       2                         18
///      | d:f16 | qs: uint8[16]           |          value[i]    = d * ((qs[i] & 15) - 8)     i in 0..15
///                                                   value[i+16] = d * ((qs[i] >> 4) - 8)
/// ```
public final class Q4_0Code extends HalvesCode {
    public Q4_0Code() {
        super("Q4_0", UNIT, 18, 2, 15, false, 8);
    }
}
