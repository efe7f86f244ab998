package dev.tenon.kernels.x86.format;

/// IQ4_NL: 32 four-bit indices into a table of uneven levels, under one scale.
///
/// ```
/// byte 0       2                         18
///      | d:f16 | qs: uint8[16]           |          value[i]    = d * T[qs[i] & 15]     i in 0..15
///                                                   value[i+16] = d * T[qs[i] >> 4]
/// T = -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
/// ```
public final class IQ4_NLCode extends TableCode {
    static final int ZERO = 127;
    static final int[] TABLE = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

    public IQ4_NLCode() {
        super("IQ4_NL", UNIT, 18, 2, ZERO + 113, ZERO, TABLE);
    }
}
