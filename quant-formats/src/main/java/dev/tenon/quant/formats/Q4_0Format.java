package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q4_0: 32 four-bit levels under one scale, 4.5 bits a weight.
///
/// ```
/// byte 0       2                         18
///      | d:f16 | qs: uint8[16]           |          value[i]    = d * ((qs[i] & 15) - 8)     i in 0..15
///                                                   value[i+16] = d * ((qs[i] >> 4) - 8)
/// ```
///
/// Encoding: the value m of largest magnitude gets level -8 (d = m / -8); the others are rounded,
/// at most 7.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q4_0Format extends BlockFormat {
    private static final int N = 32;
    private static final int HALF = 16;
    private static final int BYTES = 18;
    private static final int QS = 2;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N, BYTES, Numbers.unsigned(BitField.of(4).at(QS).bytes(16, 1).bits(2, 4)), 8, Scale.f16(0));

    /// Creates the format; it has no state.
    public Q4_0Format() {
        super("Q4_0", 2, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            float d = Extremes.largestMagnitude(in, x, N) / -8;
            float inverse = d != 0 ? 1 / d : 0;
            Bits.putHalf(out, block, d);
            for (int i = 0; i < HALF; i++) {
                int low = level(in[x + i] * inverse);
                int high = level(in[x + HALF + i] * inverse);
                out[block + QS + i] = (byte) (low | high << 4);
            }
        }
    }

    private static int level(float scaled) {
        return Math.max(0, Math.min(15, (int) (scaled + 8.5f)));
    }
}
