package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;

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

    /// Creates the format; it has no state.
    public IQ4_NLFormat() {
        super("IQ4_NL", 20, N, BYTES, true);
    }

    @Override
    void decode(byte[] in, int blocks, float[] out, int at) {
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int y = at + b * N;
            float d = Bits.half(in, block);
            for (int i = 0; i < HALF; i++) {
                int q = in[block + QS + i];
                out[y + i] = d * Iq4Codebook.level(q & 15);
                out[y + HALF + i] = d * Iq4Codebook.level(q >> 4 & 15);
            }
        }
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
