package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ2_S: 256 values as 32 rows of a grid of 1024, sixteen sub-blocks of 16 with a 4-bit scale, 2.56 bits a weight.
///
/// ```
/// byte 0       2               34                 66             74                 82
///      | d:f16 | qs: uint8[32] | signs: uint8[32] | qh: uint8[8] | scales: uint8[8] |
///
/// value[i] = d * (0.25 * s[i / 16] + 0.125) * sign[i] * grid[q[i / 8]][i % 8]
///   q[k] = qs[k] | (qh[k / 4] >> 2 * (k % 4) & 3) << 8;  sign[i] is -1 where bit i of signs is 1;  s as in IQ2_XS
/// ```
///
/// Without an encoder, as [IQ2_XXSFormat].
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ2_SFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 82;
    private static final int QS = 2;
    private static final int SIGNS = 34;
    private static final int QH = 66;
    private static final int SCALES = 74;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(8).at(QS).bytes(32, 1),
                            BitField.of(2).at(QH).bits(32, 2)),
                    Grids.IQ2_S.book(),
                    Scale.f16(0, Numbers.unsigned(BitField.of(4).at(SCALES).bits(16, 4)))
                            .with(0.25f, 0.125f))
            .withSigns(Numbers.unsigned(BitField.of(1).at(SIGNS).bits(N, 1)));

    /// Creates the format; it has no state.
    public IQ2_SFormat() {
        super("IQ2_S", 22, LAYOUT);
    }
}
