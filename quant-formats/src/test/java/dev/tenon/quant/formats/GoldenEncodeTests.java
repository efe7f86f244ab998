package dev.tenon.quant.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Encoders against the bytes that ggml's reference quantiser makes of twenty kinds of rows, and decoders against
/// those of formats that have no encoder here.
class GoldenEncodeTests {
    /// Half an ulp of the nine digits that the golden errors are written with.
    private static final double PRINTED = 1e-8;

    static Stream<QuantFormat> formats() {
        return golden().filter(f -> f.quantizer().isPresent());
    }

    private static Stream<QuantFormat> golden() {
        List<String> types = GoldenData.quantizeTypes();
        return QuantFormats.all().stream().filter(f -> types.contains(f.id()));
    }

    /// Those that ggml's encoder wrote with the weights of an importance matrix.
    static Stream<QuantFormat> formatsThatAreOnlyRead() {
        return golden().filter(f -> f.quantizer().isEmpty());
    }

    @Test
    void everyTypeOfTheGoldenDataIsThere() {
        assertEquals(
                GoldenData.quantizeTypes().stream().sorted().toList(),
                golden().map(QuantFormat::id).sorted().toList());
    }

    @ParameterizedTest
    @MethodSource("formats")
    void bytesOfEveryRowAreEqual(QuantFormat format) {
        float[] input = GoldenData.input(format.id());
        byte[] expected = GoldenData.bytes("quantize/" + format.id() + ".bin");
        List<String> rows = GoldenData.rowContent();
        int columns = GoldenData.columns();
        int rowBytes = (int) format.bytesFor(columns);
        assertEquals(rows.size() * rowBytes, expected.length);

        byte[] got = new byte[expected.length];
        format.quantizer().orElseThrow().quantize(input, 0, MemorySegment.ofArray(got), 0, input.length);

        List<String> different = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            int from = row * rowBytes;
            int at = Arrays.mismatch(expected, from, from + rowBytes, got, from, from + rowBytes);
            if (at >= 0) {
                different.add("row %d (%s): block %d byte %d"
                        .formatted(row, rows.get(row), at / format.blockBytes(), at % format.blockBytes()));
            }
        }
        assertTrue(different.isEmpty(), () -> format.id() + " differs in " + different);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void errorOfEveryRowIsTheReferences(QuantFormat format) {
        float[] input = GoldenData.input(format.id());
        byte[] blocks = new byte[(int) format.bytesFor(input.length)];
        format.quantizer().orElseThrow().quantize(input, 0, MemorySegment.ofArray(blocks), 0, input.length);
        assertErrors(format, blocks);
    }

    @ParameterizedTest
    @MethodSource("formatsThatAreOnlyRead")
    void rowsOfTheReferencesEncoderHaveItsError(QuantFormat format) {
        assertErrors(format, GoldenData.bytes("quantize/" + format.id() + ".bin"));
    }

    private static void assertErrors(QuantFormat format, byte[] blocks) {
        JsonNode reference = GoldenData.quantize(format.id()).path("row_rmse");
        float[] input = GoldenData.input(format.id());
        float[] back = new float[input.length];
        format.dequantize(MemorySegment.ofArray(blocks), 0, back, 0, back.length);
        int columns = GoldenData.columns();
        assertEquals(GoldenData.rowContent().size(), reference.size());
        for (int row = 0; row < reference.size(); row++) {
            double expected = reference.get(row).asDouble();
            double sum = 0;
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                double difference = (double) back[i] - input[i];
                sum += difference * difference;
            }
            double rmse = Math.sqrt(sum / columns);
            String what =
                    format.id() + " row " + row + " (" + GoldenData.rowContent().get(row) + ")";
            assertEquals(expected, rmse, PRINTED * expected, what);
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void rowsEncodedOneByOneGiveTheSameBytes(QuantFormat format) {
        Quantizer quantizer = format.quantizer().orElseThrow();
        float[] input = GoldenData.input(format.id());
        byte[] expected = GoldenData.bytes("quantize/" + format.id() + ".bin");
        int n = 256;
        int bytes = (int) format.bytesFor(n);
        byte[] got = new byte[expected.length + 3];
        Arrays.fill(got, (byte) 0x5a);
        for (int i = 0; i < input.length / n; i++) {
            quantizer.quantize(input, i * n, MemorySegment.ofArray(got), 3 + (long) i * bytes, n);
        }
        assertEquals(-1, Arrays.mismatch(expected, 0, expected.length, got, 3, got.length), format.id());
        assertTrue(got[0] == 0x5a && got[1] == 0x5a && got[2] == 0x5a, "bytes in front are left alone");
    }

    @ParameterizedTest
    @MethodSource("formats")
    void threadsOnRowsOfOneTensorGiveTheSameBytes(QuantFormat format) {
        Quantizer quantizer = format.quantizer().orElseThrow();
        float[] input = GoldenData.input(format.id());
        int columns = GoldenData.columns();
        long rowBytes = format.bytesFor(columns);
        byte[] expected = GoldenData.bytes("quantize/" + format.id() + ".bin");
        byte[] got = new byte[expected.length];
        MemorySegment target = MemorySegment.ofArray(got);
        IntStream.range(0, input.length / columns)
                .parallel()
                .forEach(row -> quantizer.quantize(input, row * columns, target, row * rowBytes, columns));
        assertEquals(-1, Arrays.mismatch(expected, got), format.id());
    }
}
