package dev.tenon.kernels.x86.format;

/// Q5_0: 32 five-bit levels under one scale.
///
/// ```
/// byte 0       2            6                         22
///      | d:f16 | qh: uint32 | qs: uint8[16]           |     h[i] = qh >> i & 1
///
/// value[i]    = d * (((qs[i] & 15) | h[i]    << 4) - 16)     i in 0..15
/// value[i+16] = d * (((qs[i] >> 4) | h[i+16] << 4) - 16)
/// ```
public final class Q5_0Code extends FifthBitCode {
    public Q5_0Code() {
        super("Q5_0", 22, 2, false, 16);
    }
}
