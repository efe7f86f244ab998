package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;

/// F32: IEEE single precision, 32 bits a weight.
///
/// ```
/// byte 0       4
///      | f32   |          value = f32
/// ```
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class F32Format extends BlockFormat {
    /// Creates the format; it has no state.
    public F32Format() {
        super("F32", 0, BlockLayout.ofNumbers(Numbers.Type.F32), false);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        for (int i = 0; i < blocks; i++) {
            Bits.putI32(out, 4 * i, Float.floatToRawIntBits(in[at + i]));
        }
    }
}
