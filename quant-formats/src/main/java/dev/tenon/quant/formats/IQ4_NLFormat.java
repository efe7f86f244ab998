package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ4_NL: 32 four-bit indices into a table of sixteen uneven levels, one scale, 4.5 bits a weight.
///
/// ```
/// byte 0       2                         18
///      | d:f16 | qs: uint8[16]           |          value[i]    = d * T[qs[i] & 15]     i in 0..15
///                                                   value[i+16] = d * T[qs[i] >> 4]
/// T = -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
/// ```
///
/// Encoding: the scale comes from [Iq4Codebook#scale(float[], int)]; each value takes the nearest
/// level.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ4_NLFormat extends BlockFormat {
    private static final int N = 32;
    private static final int HALF = 16;
    private static final int BYTES = 18;
    private static final int QS = 2;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(BitField.of(4).at(QS).bytes(16, 1).bits(2, 4)),
            Iq4Codebook.LEVELS,
            Scale.f16(0));

    /// Creates the format; it has no state.
    public IQ4_NLFormat() {
        super("IQ4_NL", 20, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            float d = Iq4Codebook.scale(in, x);
            float inverse = d != 0 ? 1 / d : 0;
            Bits.putHalf(out, block, d);
            for (int i = 0; i < HALF; i++) {
                int low = Iq4Codebook.nearest(inverse * in[x + i]);
                int high = Iq4Codebook.nearest(inverse * in[x + HALF + i]);
                out[block + QS + i] = (byte) (low | high << 4);
            }
        }
    }
}
