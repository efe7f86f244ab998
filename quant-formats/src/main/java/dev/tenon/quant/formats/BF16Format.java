package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;

/// BF16: the upper half of a single-precision number, 16 bits a weight.
///
/// ```
/// byte 0       2
///      | bf16  |          value = float whose upper 16 bits are bf16 and whose lower 16 bits are 0
/// ```
///
/// Encoding rounds to the nearest, ties to even; NaN stays NaN (made quiet).
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class BF16Format extends BlockFormat {
    /// Creates the format; it has no state.
    public BF16Format() {
        super("BF16", 30, BlockLayout.ofNumbers(Numbers.Type.BF16), false);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int i = 0; i < blocks; i++) {
            Bits.putU16(out, 2 * i, upperHalf(in[at + i]));
        }
    }

    private static int upperHalf(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return bits >>> 16 | 0x40;
        }
        int evenBit = bits >>> 16 & 1;
        return bits + 0x7fff + evenBit >>> 16;
    }
}
