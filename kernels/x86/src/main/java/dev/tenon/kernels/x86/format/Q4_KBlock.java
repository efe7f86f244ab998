package dev.tenon.kernels.x86.format;

/// What the kernels for Q4_K that are written by hand know of its block: 256 four-bit levels, eight groups of 32 with a
/// 6-bit scale and a 6-bit minimum each.
///
/// ```
/// byte 0       2          4                   16                           144
///      | d:f16 | dmin:f16 | s: uint8[12]      | qs: uint8[128]             |
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..63:
///   q[64j + l] = qs[32j + l % 32] >> 4(l / 32) & 15
/// j in 0..3:  scale[j] = s[j] & 63        scale[j+4] = (s[j+8] & 15) | s[j]   >> 6 << 4
///             min[j]   = s[j+4] & 63      min[j+4]   = (s[j+8] >> 4) | s[j+4] >> 6 << 4
/// ```
final class Q4_KBlock {
    static final int QS = 16;

    private Q4_KBlock() {}
}
