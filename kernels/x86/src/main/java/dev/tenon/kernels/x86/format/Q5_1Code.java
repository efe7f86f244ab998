package dev.tenon.kernels.x86.format;

/// Q5_1: 32 five-bit levels with a scale and an offset.
///
/// ```
/// byte 0       2       4            8                         24
///      | d:f16 | m:f16 | qh: uint32 | qs: uint8[16]           |     h[i] = qh >> i & 1
///
/// value[i]    = d * ((qs[i] & 15) | h[i]    << 4) + m     i in 0..15
/// value[i+16] = d * ((qs[i] >> 4) | h[i+16] << 4) + m
/// ```
public final class Q5_1Code extends FifthBitCode {
    public Q5_1Code() {
        super("Q5_1", 24, 4, true, 1);
    }
}
