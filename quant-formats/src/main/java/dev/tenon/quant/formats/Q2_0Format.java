package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q2_0: 64 levels -1 to 2 under one scale, two bits each, 2.25 bits a weight.
///
/// ```
/// byte 0       2               18
///      | d:f16 | qs: uint8[16] |        value[i] = d * ((qs[i / 4] >> 2(i % 4) & 3) - 1)
/// ```
///
/// Encoding: d = the largest magnitude, levels rounded. Level 2 is never written.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q2_0Format extends BlockFormat {
    private static final int N = 64;
    private static final int BYTES = 18;
    private static final int QS = 2;

    private static final BlockLayout LAYOUT =
            BlockLayout.of(N, BYTES, Numbers.unsigned(BitField.of(2).at(QS).bits(N, 2)), 1, Scale.f16(0));

    /// Creates the format; it has no state.
    public Q2_0Format() {
        super("Q2_0", 42, LAYOUT, true);
    }

    @Override
    public double roundTripBound() {
        return Ternary.ROUND_TRIP_BOUND;
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        byte[] levels = new byte[N];
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            Bits.putHalf(out, block, Ternary.levels(in, at + b * N, levels));
            for (int i = 0; i < N; i += 4) {
                out[block + QS + i / 4] =
                        (byte) (levels[i] | levels[i + 1] << 2 | levels[i + 2] << 4 | levels[i + 3] << 6);
            }
        }
    }
}
