package dev.tenon.itest.testkit.models;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.gguf.GgufValue;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class TinyGgufTests {
    @Test
    void aFileOfOneKeyAndOneTensorIsAsTheFormatSays() {
        byte[] bytes = new TinyGguf()
                .put("ab", GgufValue.ofUint32(258))
                .tensor("t", 0, List.of(2L), TinyGguf.f32(1, -2))
                .bytes();
        String expected = "47475546" + "03000000" + "0100000000000000" + "0100000000000000"
                + "0200000000000000" + "6162" + "04000000" + "02010000"
                + "0100000000000000" + "74" + "01000000" + "0200000000000000" + "00000000" + "0000000000000000";
        assertEquals(expected, HexFormat.of().formatHex(bytes, 0, expected.length() / 2));
        assertEquals(0, bytes.length % 32, "padded");
        assertEquals("0000803f000000c0", HexFormat.of().formatHex(bytes, bytes.length - 32, bytes.length - 24));
    }
}
