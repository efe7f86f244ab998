package dev.tenon.kernels.x86.format;

/// What the kernels for Q6_K that are written by hand know of its block: 256 six-bit levels, sixteen groups of 16 with
/// a signed 8-bit scale each.
///
/// ```
/// byte 0              128           192                208     210
///      | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |
///
/// value[i] = d * scales[i / 16] * (q[i] - 32)
/// for part h of 128, pair s in 0..1 and l in 0..63:
///   q[128h + 64s + l] = (ql[64h + l] >> 4s & 15) | (qh[32h + l % 32] >> (4s + 2(l / 32)) & 3) << 4
/// ```
final class Q6_KBlock {
    static final int QH = 128;
    static final int SCALES = 192;
    static final int D = 208;
    /// What brings a scale's byte to the top of 32 bits is taken out of d again; both are exact.
    static final float TOP = 0x1p-24f;

    private Q6_KBlock() {}

    /// {@return the group in lane i of the sums of pairs, quads and streams of rows}
    static int group(int i) {
        return i / 4 + new int[] {0, 8, 4, 12}[i % 4];
    }
}
