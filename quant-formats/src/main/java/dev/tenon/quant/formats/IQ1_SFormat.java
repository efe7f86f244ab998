package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// IQ1_S: 256 values as 32 rows of a grid of 2048, eight sub-blocks of 32 with a 3-bit scale and a shift, 1.56 bits a
/// weight.
///
/// ```
/// byte 0       2               34             50
///      | d:f16 | qs: uint8[32] | h: uint16[8] |
///
/// value[i] = d * (2 * s + 1) * (grid[q[i / 8]][i % 8] + shift);  of h = h[i / 32]:
///   s = bits 12 to 14;  shift = bit 15 ? -0.125 : 0.125;  q[k] = qs[k] | (h >> 3 * (k % 4) & 7) << 8
/// ```
///
/// Without an encoder, as [IQ2_XXSFormat].
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ1_SFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 50;
    private static final int QS = 2;
    private static final int H = 34;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(8).at(QS).bytes(32, 1),
                            BitField.of(3).at(H).bits(4, 3).bytes(8, 2)),
                    Grids.IQ1.book(),
                    Scale.f16(0, Numbers.unsigned(BitField.of(3).at(H + 1, 4).bytes(8, 2)))
                            .with(2, 1))
            .withShifts(Scale.of(Numbers.unsigned(BitField.of(1).at(H + 1, 7).bytes(8, 2)))
                    .with(-0.25f, 0.125f));

    /// Creates the format; it has no state.
    public IQ1_SFormat() {
        super("IQ1_S", 19, LAYOUT);
    }
}
