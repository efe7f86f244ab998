package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ2_XS: 256 values as 32 rows of a grid of 512, sixteen sub-blocks of 16 with a 4-bit scale, 2.31 bits a weight.
///
/// ```
/// byte 0       2                66                 74
///      | d:f16 | qs: uint16[32] | scales: uint8[8] |
///
/// value[i] = d * (0.25 * s[i / 16] + 0.125) * sign[i] * grid[qs[i / 8] & 511][i % 8]; s = 4-bit numbers of scales,
/// the low ones first; bits 9 to 15 of qs[k] are the signs of the k-th eight values, the eighth makes their number
/// even
/// ```
///
/// Without an encoder, as [IQ2_XXSFormat].
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ2_XSFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 74;
    private static final int QS = 2;
    private static final int SCALES = 66;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(BitField.of(9).at(QS).bytes(32, 2)),
                    Grids.IQ2_XS.book(),
                    Scale.f16(0, Numbers.unsigned(BitField.of(4).at(SCALES).bits(16, 4)))
                            .with(0.25f, 0.125f))
            .withSigns(Numbers.unsigned(BitField.of(7).at(QS + 1, 1).bytes(32, 2)));

    /// Creates the format; it has no state.
    public IQ2_XSFormat() {
        super("IQ2_XS", 17, LAYOUT);
    }
}
