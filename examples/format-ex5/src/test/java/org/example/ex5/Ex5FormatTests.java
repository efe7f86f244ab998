package org.example.ex5;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.QuantFormatContract;
import java.util.List;

/// EX5 keeps the contract of weight formats.
class Ex5FormatTests extends QuantFormatContract {
    @Override
    protected QuantFormat format() {
        return new Ex5Format();
    }

    /// Worked out by hand: d = 0.5 and the levels 0, 1, .. 7 in the first group, 31 in the second,
    /// 16 (zero) behind.
    @Override
    protected List<Golden> golden() {
        byte[] block = new byte[42];
        float[] values = new float[64];
        block[1] = 0x38; // 0.5 as float16, high byte
        // Group 0, from level 7 down to 0: 00111 00110 00101 00100 00011 00010 00001 00000
        set(block, 2, 0x20, 0x88, 0x41, 0x8a, 0x39);
        set(block, 7, 0xff, 0xff, 0xff, 0xff, 0xff);
        for (int group = 2; group < 8; group++) {
            set(block, 2 + 5 * group, 0x10, 0x42, 0x08, 0x21, 0x84); // 16 = 10000, eight times
        }
        for (int i = 0; i < 8; i++) {
            values[i] = 0.5f * (i - 16);
            values[8 + i] = 7.5f;
        }
        return List.of(new Golden("by hand", block, values));
    }

    private static void set(byte[] block, int at, int... bytes) {
        for (int i = 0; i < bytes.length; i++) {
            block[at + i] = (byte) bytes[i];
        }
    }
}
