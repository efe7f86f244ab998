package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q1_0: the signs of 128 values under one scale, 1.13 bits a weight.
///
/// ```
/// byte 0       2               18
///      | d:f16 | qs: uint8[16] |        value[i] = qs[i / 8] >> i % 8 & 1 ? d : -d
/// ```
///
/// Encoding: d = the mean magnitude.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q1_0Format extends BlockFormat {
    private static final int N = 128;
    private static final int BYTES = 18;
    private static final int QS = 2;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N, BYTES, Numbers.unsigned(BitField.of(1).at(QS).bits(N, 1)), CodeBook.of(-1, 1), Scale.f16(0));

    /// Creates the format; it has no state.
    public Q1_0Format() {
        super("Q1_0", 41, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            float sum = 0;
            for (int i = 0; i < N; i += Byte.SIZE) {
                int signs = 0;
                for (int j = 0; j < Byte.SIZE; j++) {
                    sum += Math.abs(in[x + i + j]);
                    signs |= in[x + i + j] >= 0 ? 1 << j : 0;
                }
                out[block + QS + i / Byte.SIZE] = (byte) signs;
            }
            Bits.putHalf(out, block, sum / N);
        }
    }
}
