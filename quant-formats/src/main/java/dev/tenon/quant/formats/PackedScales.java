package dev.tenon.quant.formats;

import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.Numbers;

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

    /// {@return the eight scales, 0..63}
    ///
    /// @param at the first of the 12 bytes
    static Numbers scales(int at) {
        return Numbers.unsigned(BitField.of(6).at(at).bytes(4, 1))
                .then(Numbers.unsigned(
                        BitField.of(4).at(at + 8).bytes(4, 1),
                        BitField.of(2).at(at, 6).bytes(4, 1)));
    }

    /// {@return the eight minimums, 0..63}
    ///
    /// @param at the first of the 12 bytes
    static Numbers minimums(int at) {
        return Numbers.unsigned(BitField.of(6).at(at + 4).bytes(4, 1))
                .then(Numbers.unsigned(
                        BitField.of(4).at(at + 8, 4).bytes(4, 1),
                        BitField.of(2).at(at + 4, 6).bytes(4, 1)));
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
