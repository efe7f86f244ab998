package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ3_XXS: 256 values as 64 rows of a grid of 256, eight sub-blocks of 32 with a 4-bit scale, 3.06 bits a weight.
///
/// ```
/// byte 0       2               66             98
///      | d:f16 | qs: uint8[64] | w: uint32[8] |
///
/// value[i] = d * (0.5 * s + 0.25) * sign[i] * grid[qs[i / 4]][i % 4];  s and signs are in w[i / 32], as in IQ2_XXS
/// ```
///
/// Without an encoder, as [IQ2_XXSFormat].
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ3_XXSFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 98;
    private static final int QS = 2;
    private static final int W = 66;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(BitField.of(8).at(QS).bytes(64, 1)),
                    Grids.IQ3_XXS.book(),
                    Scale.f16(0, Numbers.unsigned(BitField.of(4).at(W + 3, 4).bytes(8, 4)))
                            .with(0.5f, 0.25f))
            .withSigns(Numbers.unsigned(BitField.of(7).at(W).bits(4, 7).bytes(8, 4)));

    /// Creates the format; it has no state.
    public IQ3_XXSFormat() {
        super("IQ3_XXS", 18, LAYOUT);
    }
}
