package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.Optional;

/// IQ1_M: 256 values as 32 rows of a grid of 2048, each with a shift, sixteen sub-blocks of 16 with a 3-bit scale,
/// 1.75 bits a weight.
///
/// ```
/// byte 0               32              48             56
///      | qs: uint8[32] | qh: uint8[16] | w: uint16[4] |
///
/// value[i] = d * (2 * s[i / 16] + 1) * (grid[q[i / 8]][i % 8] + shift[i / 8]);  h[k] = qh[k / 2] >> 4 * (k % 2) & 15:
///   q[k] = qs[k] | (h[k] & 7) << 8;  shift[k] = h[k] > 7 ? -0.125 : 0.125
///   s[g] = w[g / 4] >> 3 * (g % 4) & 7;  d: f16, whose bits 4j to 4j+3 are bits 12 to 15 of w[j]
/// ```
///
/// Without an encoder, as [IQ2_XXSFormat].
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class IQ1_MFormat extends LayoutFormat {
    private static final int N = 256;
    private static final int BYTES = 56;
    private static final int QS = 0;
    private static final int QH = 32;
    private static final int W = 48;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(8).at(QS).bytes(32, 1),
                            BitField.of(3).at(QH).bits(32, 4)),
                    Grids.IQ1.book(),
                    new Scale(
                            Optional.of(Numbers.of(Numbers.Type.F16, top(0), top(1), top(2), top(3))),
                            Numbers.unsigned(BitField.of(3).at(W).bits(4, 3).bytes(4, 2)),
                            2,
                            1))
            .withShifts(Scale.of(Numbers.unsigned(BitField.of(1).at(QH, 3).bits(32, 4)))
                    .with(-0.25f, 0.125f));

    /// Four bits of d: the top ones of a word.
    private static BitField top(int word) {
        return BitField.of(4).at(W + 2 * word + 1, 4);
    }

    /// Creates the format; it has no state.
    public IQ1_MFormat() {
        super("IQ1_M", 29, LAYOUT);
    }
}
