package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q4_K: 256 four-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each,
/// 4.5 bits a weight.
///
/// ```
/// byte 0       2          4                   16                           144
///      | d:f16 | dmin:f16 | scales: uint8[12] | qs: uint8[128]             |
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..31:
///   q[64j + l]      = qs[32j + l] & 15
///   q[64j + l + 32] = qs[32j + l] >> 4
/// ```
///
/// `scales` is laid out as [PackedScales] says; the encoder is [ScaleMinEncoder], with 21 tries a
/// sub-block.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q4_KFormat extends BlockFormat {
    private static final int N = 256;
    private static final int BYTES = 144;
    private static final int DMIN = 2;
    private static final int SCALES = 4;
    private static final int QS = 16;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(4).at(QS).bytes(32, 1).bits(2, 4).bytes(4, 32)),
                    0,
                    Scale.f16(0, PackedScales.scales(SCALES)))
            .withMinimums(Scale.f16(DMIN, PackedScales.minimums(SCALES)));

    /// Creates the format; it has no state.
    public Q4_KFormat() {
        super("Q4_K", 12, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        ScaleMinEncoder encoder = new ScaleMinEncoder(15, new ScaleMinFit(32, 15, -1f, 0.1f, 20, false));
        byte[] q = encoder.levels;
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            encoder.encode(in, at + b * N, out, block);
            for (int j = 0; j < 4; j++) {
                for (int l = 0; l < 32; l++) {
                    out[block + QS + 32 * j + l] = (byte) (q[64 * j + l] | q[64 * j + l + 32] << 4);
                }
            }
        }
    }
}
