package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// TQ2_0: 256 levels -1, 0 and 1 under one scale, two bits each, 2.06 bits a weight.
///
/// ```
/// byte 0               64      66
///      | qs: uint8[64] | d:f16 |        value[128h + 32n + i] = d * ((qs[32h + i] >> 2n & 3) - 1)
///
/// h in 0..1, n in 0..3, i in 0..31
/// ```
///
/// Encoding: d = the largest magnitude, levels rounded. Level 2 is never written.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class TQ2_0Format extends BlockFormat {
    private static final int N = 256;
    private static final int BYTES = 66;
    private static final int D = 64;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N, BYTES, Numbers.unsigned(BitField.of(2).bytes(32, 1).bits(4, 2).bytes(2, 32)), 1, Scale.f16(D));

    /// Creates the format; it has no state.
    public TQ2_0Format() {
        super("TQ2_0", 35, LAYOUT, true);
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
            Bits.putHalf(out, block + D, Ternary.levels(in, at + b * N, levels));
            for (int i = 0; i < D; i++) {
                int first = i / 32 * 128 + i % 32;
                out[block + i] = (byte)
                        (levels[first] | levels[first + 32] << 2 | levels[first + 64] << 4 | levels[first + 96] << 6);
            }
        }
    }
}
