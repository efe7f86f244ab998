package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q8_0: 32 signed bytes under one scale, 8.5 bits a weight.
///
/// ```
/// byte 0       2                         34
///      | d:f16 | qs: int8[32]            |          value[i] = d * qs[i]
/// ```
///
/// Encoding: d = max|x| / 127 and qs = x / d rounded, halves away from zero.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q8_0Format extends BlockFormat {
    private static final int N = 32;
    private static final int BYTES = 34;
    private static final int QS = 2;

    private static final BlockLayout LAYOUT =
            BlockLayout.of(N, BYTES, Numbers.signed(BitField.of(8).at(QS).bytes(N, 1)), 0, Scale.f16(0));

    /// Creates the format; it has no state.
    public Q8_0Format() {
        super("Q8_0", 8, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            float largest = 0;
            for (int i = 0; i < N; i++) {
                largest = Math.max(largest, Math.abs(in[x + i]));
            }
            float d = largest / 127;
            float inverse = d != 0 ? 1 / d : 0;
            Bits.putHalf(out, block, d);
            for (int i = 0; i < N; i++) {
                // The sum with a half is exact in double precision, so truncation rounds halves away from
                // zero.
                double scaled = in[x + i] * inverse;
                int q = (int) (scaled + Math.copySign(0.5, scaled));
                out[block + QS + i] = (byte) Math.max(-127, Math.min(127, q));
            }
        }
    }
}
