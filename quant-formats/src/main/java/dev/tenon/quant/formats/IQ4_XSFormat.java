package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ4_XS: 256 four-bit indices into a table of uneven levels, eight sub-blocks of 32 with a 6-bit
/// scale, 4.25 bits a weight.
///
/// ```
/// byte 0       2                  4                   8                            136
///      | d:f16 | scales_h: uint16 | scales_l: uint8[4] | qs: uint8[128]            |
///
/// value[i] = d * (scale[i / 32] - 32) * T[q[i]];  for sub-block s in 0..7 and l in 0..15:
///   q[32s + l]      = qs[16s + l] & 15
///   q[32s + l + 16] = qs[16s + l] >> 4
///   scale[s] = (scales_l[s / 2] >> 4 * (s % 2) & 15) | (scales_h >> 2s & 3) << 4
/// T = -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
/// ```
///
/// Encoding: scales come from [Iq4Codebook#scale(float[], int)]; the one of largest magnitude
/// becomes -32 (d = scale / -32), the others are rounded to it; each value takes the nearest level.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ4_XSFormat extends BlockFormat {
    private static final int N = 256;
    private static final int SUB = 32;
    private static final int SUBS = N / SUB;
    private static final int BYTES = 136;
    private static final int SCALES_H = 2;
    private static final int SCALES_L = 4;
    private static final int QS = 8;
    private static final int SCALE_LEVELS = 32;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(BitField.of(4).at(QS).bytes(16, 1).bits(2, 4).bytes(8, 16)),
            Iq4Codebook.LEVELS,
            Scale.f16(
                            0,
                            Numbers.unsigned(
                                    BitField.of(4).at(SCALES_L).bits(8, 4),
                                    BitField.of(2).at(SCALES_H).bits(8, 2)))
                    .with(1, -SCALE_LEVELS));

    /// Creates the format; it has no state.
    public IQ4_XSFormat() {
        super("IQ4_XS", 23, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        float[] scales = new float[SUBS];
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            for (int s = 0; s < SUBS; s++) {
                scales[s] = Iq4Codebook.scale(in, x + s * SUB);
            }
            float d = -Extremes.largestMagnitude(scales, 0, SUBS) / SCALE_LEVELS;
            float inverse = d != 0 ? 1 / d : 0;
            Bits.putHalf(out, block, d);
            Bits.putI32(out, block + SCALES_L, 0);
            int high = 0;
            for (int s = 0; s < SUBS; s++) {
                int scale = Bits.nearest(inverse * scales[s], -SCALE_LEVELS, SCALE_LEVELS - 1);
                int stored = scale + SCALE_LEVELS;
                out[block + SCALES_L + s / 2] |= (byte) ((stored & 15) << 4 * (s % 2));
                high |= stored >> 4 << 2 * s;
                putLevels(in, x + s * SUB, d * scale, out, block + QS + SUB / 2 * s);
            }
            Bits.putU16(out, block + SCALES_H, high);
        }
    }

    private static void putLevels(float[] in, int x, float step, byte[] out, int qs) {
        float inverse = step != 0 ? 1 / step : 0;
        for (int l = 0; l < SUB / 2; l++) {
            int low = Iq4Codebook.nearest(inverse * in[x + l]);
            int high = Iq4Codebook.nearest(inverse * in[x + l + SUB / 2]);
            out[qs + l] = (byte) (low | high << 4);
        }
    }
}
