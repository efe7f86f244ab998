package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;

/// F16: IEEE half precision, 16 bits a weight.
///
/// ```
/// byte 0       2
///      | f16   |          value = f16 (1 sign, 5 exponent, 10 fraction bits; infinities and NaN exist)
/// ```
///
/// Encoding rounds to the nearest, ties to even; magnitudes from 65520 on become infinite, as IEEE
/// 754 has it.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class F16Format extends BlockFormat {
    /// Creates the format; it has no state.
    public F16Format() {
        super("F16", 1, BlockLayout.ofNumbers(Numbers.Type.F16), false);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int i = 0; i < blocks; i++) {
            Bits.putHalf(out, 2 * i, in[at + i]);
        }
    }
}
