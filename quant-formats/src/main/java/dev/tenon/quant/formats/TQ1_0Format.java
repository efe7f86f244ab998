package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// TQ1_0: 256 levels -1, 0 and 1 under one scale, five of them in a byte, 1.69 bits a weight.
///
/// ```
/// byte 0               32              48             52      54
///      | qs: uint8[32] | rs: uint8[16] | ts: uint8[4] | d:f16 |      value = d * (digit - 1)
///
/// digit n of a byte q, from the highest on, in base 3: (q * 3^n mod 256) * 3 >> 8
/// values 0..159: digit n of qs[i] is value 32n + i; 160..239: of rs[i], 160 + 16n + i; 240..255: of ts[i], 240 + 4n
/// + i
/// ```
///
/// Encoding: d = the largest magnitude, levels rounded; a byte is the least whose digits are those of its levels.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class TQ1_0Format extends BlockFormat {
    private static final int N = 256;
    private static final int BYTES = 54;
    private static final int D = 52;
    /// Digits of a byte, and how many numbers those can be.
    private static final int DIGITS = 5;
    private static final int NUMBERS = 243;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N, BYTES, trits(0, 32, DIGITS).then(trits(32, 16, DIGITS)).then(trits(48, 4, 4)), 1, Scale.f16(D));

    private static Numbers trits(int at, int bytes, int digits) {
        return Numbers.of(
                Numbers.Type.TRITS, BitField.of(8).at(at).bytes(bytes, 1).bits(digits, 0));
    }

    /// Creates the format; it has no state.
    public TQ1_0Format() {
        super("TQ1_0", 34, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        byte[] levels = new byte[N];
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            Bits.putHalf(out, block + D, Ternary.levels(in, at + b * N, levels));
            pack(levels, 0, out, block, 32, DIGITS);
            pack(levels, 160, out, block + 32, 16, DIGITS);
            pack(levels, 240, out, block + 48, 4, 4);
        }
    }

    private static void pack(byte[] levels, int first, byte[] out, int at, int bytes, int digits) {
        for (int i = 0; i < bytes; i++) {
            int number = 0;
            for (int n = 0; n < DIGITS; n++) {
                number = 3 * number + (n < digits ? levels[first + n * bytes + i] : 0);
            }
            out[at + i] = (byte) ((256 * number + NUMBERS - 1) / NUMBERS);
        }
    }
}
