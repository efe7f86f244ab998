package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// MXFP4: 32 four-bit floats (E2M1) under a power of two (E8M0), 4.25 bits a weight; OCP
/// Microscaling Formats 1.0.
///
/// ```
/// byte 0          1                         17
///      | e: uint8 | qs: uint8[16]           |     d = 2^(e - 128)
///
/// value[i]    = T[qs[i] & 15] * d     i in 0..15
/// value[i+16] = T[qs[i] >> 4] * d
/// T = 0 1 2 3 4 6 8 12  0 -1 -2 -3 -4 -6 -8 -12     (twice the E2M1 value, so d is half the E8M0 scale)
/// ```
///
/// Encoding: e = 127 + floor(log2(max|x|)) - 2, at least 0; each value takes the nearest entry of
/// T, the first among equals.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class MXFP4Format extends BlockFormat {
    private static final int N = 32;
    private static final int HALF = 16;
    private static final int BYTES = 17;
    private static final int QS = 1;
    private static final int[] T = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

    /// What indices stand for.
    static final CodeBook LEVELS = CodeBook.of(T);

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(BitField.of(4).at(QS).bytes(16, 1).bits(2, 4)),
            LEVELS,
            Scale.of(Numbers.of(Numbers.Type.E8M0_HALF, BitField.of(8))));

    /// Creates the format; it has no state.
    public MXFP4Format() {
        super("MXFP4", 39, LAYOUT, true);
    }

    /// 2^(e - 128); the two smallest are denormal floats.
    private static float scale(int e) {
        return Float.intBitsToFloat(e < 2 ? 0x200000 << e : e - 1 << 23);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            int e = exponent(Math.abs(Extremes.largestMagnitude(in, x, N)));
            float d = scale(e);
            out[block] = (byte) e;
            for (int i = 0; i < HALF; i++) {
                int low = level(in[x + i], d);
                int high = level(in[x + HALF + i], d);
                out[block + QS + i] = (byte) (low | high << 4);
            }
        }
    }

    /// The logarithm is rounded to single precision before it is cut off: values a few ulp below a
    /// power of two count as that power.
    private static int exponent(float largest) {
        if (largest == 0) {
            return 0;
        }
        float log2 = (float) (Math.log(largest) / Math.log(2));
        return Math.max(0, 127 + (int) Math.floor(log2) - 2);
    }

    /// {@return the index of the number nearest to a value, the first one among equals}
    ///
    /// @param value a value
    /// @param d what numbers are multiplied with
    static int level(float value, float d) {
        int best = 0;
        float bestError = Math.abs(value);
        for (int i = 1; i < T.length; i++) {
            float error = Math.abs(T[i] * d - value);
            if (error < bestError) {
                best = i;
                bestError = error;
            }
        }
        return best;
    }
}
