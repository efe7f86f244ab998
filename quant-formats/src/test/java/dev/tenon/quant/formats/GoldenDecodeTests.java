package dev.tenon.quant.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Decoders against values that ggml and gguf-py agree on, bit for bit; NaN counts as NaN whatever
/// its payload.
class GoldenDecodeTests {
    static Stream<QuantFormat> formats() {
        return QuantFormats.all().stream().filter(f -> !Set.of("F32", "I32").contains(f.id()));
    }

    @Test
    void everyFormatOfWeightsButF32HasGoldenData() {
        List<String> ids = formats().map(QuantFormat::id).sorted().toList();
        assertEquals(GoldenData.dequantTypes().stream().sorted().toList(), ids);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void sizesAndTypeNumberAreThoseOfTheGoldenData(QuantFormat format) {
        JsonNode golden = GoldenData.dequant(format.id());
        assertEquals(golden.path("ggml_type").asInt(), format.ggmlType());
        assertEquals(golden.path("block_elements").asInt(), format.blockSize());
        assertEquals(golden.path("block_bytes").asInt(), format.blockBytes());
    }

    @ParameterizedTest
    @MethodSource("formats")
    void valuesAreEqualBitForBit(QuantFormat format) {
        byte[] blocks = GoldenData.bytes("dequant/" + format.id() + ".blocks.bin");
        float[] expected = GoldenData.floats("dequant/" + format.id() + ".values.f32");
        assertEquals(blocks.length, format.bytesFor(expected.length));
        float[] got = new float[expected.length];
        format.dequantize(MemorySegment.ofArray(blocks), 0, got, 0, got.length);
        assertSameBits(format.id(), expected, got, 0);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void everyAlignmentOfTheSourceGivesTheSameValues(QuantFormat format) {
        byte[] blocks = GoldenData.bytes("dequant/" + format.id() + ".blocks.bin");
        float[] expected = GoldenData.floats("dequant/" + format.id() + ".values.f32");
        try (Arena arena = Arena.ofConfined()) {
            for (int shift = 1; shift < 8; shift++) {
                MemorySegment source = arena.allocate(blocks.length + shift, 64);
                MemorySegment.copy(MemorySegment.ofArray(blocks), 0, source, shift, blocks.length);
                float[] got = new float[expected.length + shift];
                format.dequantize(source.asReadOnly(), shift, got, shift, expected.length);
                assertSameBits(format.id() + " at byte " + shift, expected, got, shift);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void aRowInTheMiddleIsDecodedAlone(QuantFormat format) {
        JsonNode golden = GoldenData.dequant(format.id());
        int columns = golden.path("cols").asInt();
        int rows = golden.path("rows").asInt();
        long rowBytes = format.bytesFor(columns);
        MemorySegment blocks = MemorySegment.ofArray(GoldenData.bytes("dequant/" + format.id() + ".blocks.bin"));
        float[] expected = GoldenData.floats("dequant/" + format.id() + ".values.f32");
        assertTrue(rows > 1);
        for (int row = 0; row < rows; row++) {
            float[] got = new float[expected.length];
            System.arraycopy(expected, 0, got, 0, got.length);
            Arrays.fill(got, row * columns, (row + 1) * columns, -77);
            format.dequantize(blocks, row * rowBytes, got, row * columns, columns);
            assertSameBits(format.id() + " row " + row, expected, got, 0);
        }
    }

    private static void assertSameBits(String what, float[] expected, float[] got, int shift) {
        for (int i = 0; i < expected.length; i++) {
            float e = expected[i];
            float g = got[i + shift];
            boolean same = Float.isNaN(e) ? Float.isNaN(g) : Float.floatToRawIntBits(e) == Float.floatToRawIntBits(g);
            if (!same) {
                fail("%s: value %d is %s (%08x), expected %s (%08x)"
                        .formatted(what, i, g, Float.floatToRawIntBits(g), e, Float.floatToRawIntBits(e)));
            }
        }
    }
}
