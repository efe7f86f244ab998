package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q5_K: 256 five-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each,
/// 5.5 bits a weight.
///
/// ```
/// byte 0       2          4                   16              48                           176
///      | d:f16 | dmin:f16 | scales: uint8[12] | qh: uint8[32] | qs: uint8[128]             |
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..31:
///   q[64j + l]      = (qs[32j + l] & 15) | (qh[l] >> 2j     & 1) << 4
///   q[64j + l + 32] = (qs[32j + l] >> 4) | (qh[l] >> 2j + 1 & 1) << 4
/// ```
///
/// `scales` is laid out as [PackedScales] says; the encoder is [ScaleMinEncoder], with 16 tries a
/// sub-block.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q5_KFormat extends BlockFormat {
    private static final int N = 256;
    private static final int BYTES = 176;
    private static final int DMIN = 2;
    private static final int SCALES = 4;
    private static final int QH = 16;
    private static final int QS = 48;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(4).at(QS).bytes(32, 1).bits(2, 4).bytes(4, 32),
                            BitField.of(1).at(QH).bytes(32, 1).bits(8, 1)),
                    0,
                    Scale.f16(0, PackedScales.scales(SCALES)))
            .withMinimums(Scale.f16(DMIN, PackedScales.minimums(SCALES)));

    /// Creates the format; it has no state.
    public Q5_KFormat() {
        super("Q5_K", 13, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        ScaleMinEncoder encoder = new ScaleMinEncoder(31, new ScaleMinFit(32, 31, -0.5f, 0.1f, 15, false));
        byte[] q = encoder.levels;
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            encoder.encode(in, at + b * N, out, block);
            for (int l = 0; l < 32; l++) {
                int high = 0;
                for (int j = 0; j < 4; j++) {
                    int q0 = q[64 * j + l];
                    int q1 = q[64 * j + l + 32];
                    out[block + QS + 32 * j + l] = (byte) (q0 & 15 | q1 << 4);
                    high |= (q0 >> 4 | q1 >> 4 << 1) << 2 * j;
                }
                out[block + QH + l] = (byte) high;
            }
        }
    }
}
