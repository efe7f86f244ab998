package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// NVFP4: 64 four-bit floats (E2M1), each sixteen under a float of eight bits (E4M3 without a sign), 4.5 bits a weight.
/// The scale of the whole tensor, which files of this format have beside it, is no part of a block.
///
/// ```
/// byte 0            4                     36
///      | e: uint8[4] | 4 times: uint8[8] |        value[16r + l]     = T[qs[8r + l] & 15] * d[r]    l in 0..7
///                                                 value[16r + l + 8] = T[qs[8r + l] >> 4] * d[r]
///
/// T as in MXFP4;  d[r] = half of: x = e[r] >> 3 & 15, m = e[r] & 7; m * 2^-9 if x is 0, else (1 + m / 8) * 2^(x - 7)
/// ```
///
/// Encoding: 2 d is the float nearest to max|x| / 6, and no larger than 448; below 2^-6 at most 7 * 2^-9. Levels as in
/// MXFP4. Sixteen values below 6 * 2^-10 become 0, since the scale of the tensor stays 1.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class NVFP4Format extends BlockFormat {
    private static final int N = 64;
    private static final int RUN = 16;
    private static final int BYTES = 36;
    private static final int QS = 4;
    /// The largest number of a level, of which T has the double.
    private static final float MOST = 6;
    /// Scales with a full fraction, from 2^-6 to 448.
    private static final int FIRST_NORMAL = 8;
    private static final int LAST = 0x7e;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(BitField.of(4).at(QS).bytes(8, 1).bits(2, 4).bytes(4, 8)),
            MXFP4Format.LEVELS,
            Scale.of(Numbers.of(Numbers.Type.UE4M3_HALF, BitField.of(8).bytes(4, 1))));

    /// Creates the format; it has no state.
    public NVFP4Format() {
        super("NVFP4", 40, LAYOUT, true);
    }

    /// Scales reach from 2^-10 to 224: weights that are all smaller become 0.
    @Override
    public double roundTripBound() {
        return 1;
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int run = 0; run < blocks * N / RUN; run++) {
            int block = run / (N / RUN) * BYTES;
            int r = run % (N / RUN);
            int x = at + run * RUN;
            int e = scale(Math.abs(Extremes.largestMagnitude(in, x, RUN)) / MOST);
            float d = Numbers.Type.UE4M3_HALF.value(e);
            out[block + r] = (byte) e;
            for (int l = 0; l < RUN / 2; l++) {
                int low = MXFP4Format.level(in[x + l], d);
                int high = MXFP4Format.level(in[x + RUN / 2 + l], d);
                out[block + QS + RUN / 2 * r + l] = (byte) (low | high << 4);
            }
        }
    }

    private static int scale(float wanted) {
        float half = wanted / 2;
        int e = wanted < Math.scalb(1f, -6) ? 0 : FIRST_NORMAL;
        int last = e == 0 ? FIRST_NORMAL - 1 : LAST;
        while (e < last && distance(e + 1, half) <= distance(e, half)) {
            e++;
        }
        return e;
    }

    private static float distance(int e, float half) {
        return Math.abs(Numbers.Type.UE4M3_HALF.value(e) - half);
    }
}
