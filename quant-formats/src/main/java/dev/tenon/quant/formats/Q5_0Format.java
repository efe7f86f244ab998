package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q5_0: 32 five-bit levels under one scale, 5.5 bits a weight.
///
/// ```
/// byte 0       2            6                         22
///      | d:f16 | qh: uint32 | qs: uint8[16]           |     h[i] = qh >> i & 1
///
/// value[i]    = d * (((qs[i] & 15) | h[i]    << 4) - 16)     i in 0..15
/// value[i+16] = d * (((qs[i] >> 4) | h[i+16] << 4) - 16)
/// ```
///
/// Encoding: the value m of largest magnitude gets level -16 (d = m / -16); the others are rounded,
/// at most 15.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q5_0Format extends BlockFormat {
    private static final int N = 32;
    private static final int HALF = 16;
    private static final int BYTES = 22;
    private static final int QH = 2;
    private static final int QS = 6;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(
                    BitField.of(4).at(QS).bytes(16, 1).bits(2, 4),
                    BitField.of(1).at(QH).bits(N, 1)),
            16,
            Scale.f16(0));

    /// Creates the format; it has no state.
    public Q5_0Format() {
        super("Q5_0", 6, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            float d = Extremes.largestMagnitude(in, x, N) / -16;
            float inverse = d != 0 ? 1 / d : 0;
            Bits.putHalf(out, block, d);
            int qh = 0;
            for (int i = 0; i < HALF; i++) {
                int low = level(in[x + i] * inverse);
                int high = level(in[x + HALF + i] * inverse);
                out[block + QS + i] = (byte) (low & 15 | high << 4);
                qh |= low >> 4 << i | high >> 4 << i + HALF;
            }
            Bits.putI32(out, block + QH, qh);
        }
    }

    private static int level(float scaled) {
        return Math.max(0, Math.min(31, (int) (scaled + 16.5f)));
    }
}
