package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ3_S: 256 values as 64 rows of a grid of 512, eight sub-blocks of 32 with a 4-bit scale, 3.44 bits a weight.
///
/// ```
/// byte 0       2               66             74                 106                110
///      | d:f16 | qs: uint8[64] | qh: uint8[8] | signs: uint8[32] | scales: uint8[4] |
///
/// value[i] = d * (2 * s[i / 32] + 1) * sign[i] * grid[q[i / 4]][i % 4]
///   q[k] = qs[k] | (qh[k / 8] >> k % 8 & 1) << 8;  sign[i] is -1 where bit i of signs is 1
///   s = 4-bit numbers of scales, the low ones first
/// ```
///
/// Without an encoder, as [IQ2_XXSFormat].
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ3_SFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 110;
    private static final int QS = 2;
    private static final int QH = 66;
    private static final int SIGNS = 74;
    private static final int SCALES = 106;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(8).at(QS).bytes(64, 1),
                            BitField.of(1).at(QH).bits(64, 1)),
                    Grids.IQ3_S.book(),
                    Scale.f16(0, Numbers.unsigned(BitField.of(4).at(SCALES).bits(8, 4)))
                            .with(2, 1))
            .withSigns(Numbers.unsigned(BitField.of(1).at(SIGNS).bits(N, 1)));

    /// Creates the format; it has no state.
    public IQ3_SFormat() {
        super("IQ3_S", 21, LAYOUT);
    }
}
