package dev.tenon.quant.formats;

/// The 12 bytes in which Q4_K and Q5_K keep eight 6-bit scales and eight 6-bit minimums.
///
/// ```
/// byte j     (j in 0..3)     scale[j] in bits 0-5,     bits 4-5 of scale[j+4] in bits 6-7
/// byte j+4                   min[j]   in bits 0-5,     bits 4-5 of min[j+4]   in bits 6-7
/// byte j+8                   bits 0-3 of scale[j+4] in bits 0-3, bits 0-3 of min[j+4] in bits 4-7
/// ```
final class PackedScales {
    /// Bytes in all.
    static final int BYTES = 12;
    /// Greatest scale and minimum.
    static final int MAX = 63;

    private PackedScales() {}

    /// {@return a scale, 0..63}
    ///
    /// @param in bytes
    /// @param at index of the first of the 12 bytes
    /// @param j which one, 0..7
    static int scale(byte[] in, int at, int j) {
        return j < 4 ? in[at + j] & 63 : in[at + j + 4] & 15 | (in[at + j - 4] >> 6 & 3) << 4;
    }

    /// {@return a minimum, 0..63}
    ///
    /// @param in bytes
    /// @param at index of the first of the 12 bytes
    /// @param j which one, 0..7
    static int min(byte[] in, int at, int j) {
        return j < 4 ? in[at + j + 4] & 63 : in[at + j + 4] >> 4 & 15 | (in[at + j] >> 6 & 3) << 4;
    }

    /// Writes all scales and minimums.
    ///
    /// @param scales eight numbers 0..63
    /// @param mins eight numbers 0..63
    /// @param out receives 12 bytes
    /// @param at index of the first byte
    static void put(int[] scales, int[] mins, byte[] out, int at) {
        for (int j = 0; j < 4; j++) {
            out[at + j] = (byte) (scales[j] | scales[j + 4] >> 4 << 6);
            out[at + j + 4] = (byte) (mins[j] | mins[j + 4] >> 4 << 6);
            out[at + j + 8] = (byte) (scales[j + 4] & 15 | (mins[j + 4] & 15) << 4);
        }
    }
}
