package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ2_XXS: 256 values as 32 rows of a grid of 256, eight sub-blocks of 32 with a 4-bit scale, 2.06 bits a weight.
///
/// ```
/// byte 0       2                                            66
///      | d:f16 | 8 times: | qs: uint8[4] | w: uint32 | |
///
/// value[i] = d * (0.25 * s + 0.125) * sign[i] * grid[q[i / 8]][i % 8];  s = w >> 28 of sub-block i / 32, whose
/// indices are qs; bits 7k to 7k+6 of w are the signs of its k-th eight values, the eighth makes their number even
/// ```
///
/// The encoder is missing: rows are found by weighing values by what activations do, which no encoder is told here.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ2_XXSFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 66;
    private static final int QS = 2;
    private static final int W = 6;
    private static final int GROUP = 8;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(BitField.of(8).at(QS).bytes(4, 1).bytes(8, GROUP)),
                    Grids.IQ2_XXS.book(),
                    Scale.f16(0, Numbers.unsigned(BitField.of(4).at(W + 3, 4).bytes(8, GROUP)))
                            .with(0.25f, 0.125f))
            .withSigns(Numbers.unsigned(BitField.of(7).at(W).bits(4, 7).bytes(8, GROUP)));

    /// Creates the format; it has no state.
    public IQ2_XXSFormat() {
        super("IQ2_XXS", 16, LAYOUT);
    }
}
