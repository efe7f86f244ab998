package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q5_1: 32 five-bit levels with a scale and an offset, 6 bits a weight.
///
/// ```
/// byte 0       2       4            8                         24
///      | d:f16 | m:f16 | qh: uint32 | qs: uint8[16]           |     h[i] = qh >> i & 1
///
/// value[i]    = ((qs[i] & 15) | h[i]    << 4) * d + m     i in 0..15
/// value[i+16] = ((qs[i] >> 4) | h[i+16] << 4) * d + m
/// ```
///
/// Encoding: m = min, d = (max - min) / 31, levels rounded.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q5_1Format extends BlockFormat {
    private static final int N = 32;
    private static final int HALF = 16;
    private static final int BYTES = 24;
    private static final int M = 2;
    private static final int QH = 4;
    private static final int QS = 8;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(4).at(QS).bytes(16, 1).bits(2, 4),
                            BitField.of(1).at(QH).bits(N, 1)),
                    0,
                    Scale.f16(0))
            .withMinimums(Scale.f16(M).with(-1, 0));

    /// Creates the format; it has no state.
    public Q5_1Format() {
        super("Q5_1", 7, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            float min = Extremes.least(in, x, N);
            float d = (Extremes.greatest(in, x, N) - min) / 31;
            float inverse = d != 0 ? 1 / d : 0;
            Bits.putHalf(out, block, d);
            Bits.putHalf(out, block + M, min);
            int qh = 0;
            for (int i = 0; i < HALF; i++) {
                int low = level((in[x + i] - min) * inverse);
                int high = level((in[x + HALF + i] - min) * inverse);
                out[block + QS + i] = (byte) (low & 15 | high << 4);
                qh |= low >> 4 << i | high >> 4 << i + HALF;
            }
            Bits.putI32(out, block + QH, qh);
        }
    }

    private static int level(float scaled) {
        return Math.min(31, (int) (scaled + 0.5f));
    }
}
