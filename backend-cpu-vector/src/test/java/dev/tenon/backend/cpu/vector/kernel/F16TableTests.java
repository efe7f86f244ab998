package dev.tenon.backend.cpu.vector.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class F16TableTests {
    @Test
    void eachNumberIsThatOfItsBits() {
        for (int bits = 0; bits < 1 << 16; bits++) {
            int exponent = bits >> 10 & 31;
            int fraction = bits & 1023;
            double size = exponent == 0
                    ? fraction * 0x1p-24
                    : exponent < 31
                            ? (1024 + fraction) * Math.pow(2, exponent - 25)
                            : fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
            float number = (float) (bits >> 15 == 0 ? size : -size);
            assertEquals(number, F16Table.FLOATS[bits], "bits " + Integer.toHexString(bits));
        }
    }

    @Test
    void theOtherSignIsTheHighestBit() {
        for (int bits = 0; bits <= 0x7C00; bits++) {
            assertEquals(
                    Float.floatToRawIntBits(-F16Table.FLOATS[bits]),
                    Float.floatToRawIntBits(F16Table.FLOATS[bits ^ 0x8000]),
                    "bits " + Integer.toHexString(bits));
        }
    }
}
