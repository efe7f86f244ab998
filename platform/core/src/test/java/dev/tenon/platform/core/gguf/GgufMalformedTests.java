package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.InTime;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class GgufMalformedTests {
    private static final Map<String, String> CODES = Map.ofEntries(
            Map.entry("empty.gguf", ErrorCode.GGUF_MAGIC),
            Map.entry("magic_ggml.gguf", ErrorCode.GGUF_MAGIC),
            Map.entry("random_bytes.gguf", ErrorCode.GGUF_MAGIC),
            Map.entry("version_0.gguf", ErrorCode.GGUF_VERSION),
            Map.entry("version_1.gguf", ErrorCode.GGUF_VERSION),
            Map.entry("cut_after_version.gguf", ErrorCode.GGUF_TRUNCATED),
            Map.entry("cut_in_tensor_info.gguf", ErrorCode.GGUF_TRUNCATED),
            Map.entry("huge_n_kv.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("negative_n_tensors.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("huge_key_length.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("unknown_value_type.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("unknown_array_type.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("nested_arrays_1000.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("alignment_3.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("alignment_string.gguf", ErrorCode.GGUF_HEADER),
            Map.entry("duplicate_key.gguf", ErrorCode.GGUF_NAME),
            Map.entry("duplicate_tensor.gguf", ErrorCode.GGUF_NAME),
            Map.entry("invalid_utf8_key.gguf", ErrorCode.GGUF_NAME),
            Map.entry("nul_in_tensor_name.gguf", ErrorCode.GGUF_NAME),
            Map.entry("five_dims.gguf", ErrorCode.GGUF_SHAPE),
            Map.entry("negative_dim.gguf", ErrorCode.GGUF_SHAPE),
            Map.entry("bytes_overflow.gguf", ErrorCode.GGUF_SHAPE),
            Map.entry("unknown_tensor_type.gguf", ErrorCode.GGUF_TENSOR_TYPE),
            Map.entry("misaligned_offset.gguf", ErrorCode.GGUF_OFFSET),
            Map.entry("offset_beyond_eof.gguf", ErrorCode.GGUF_OFFSET),
            Map.entry("directory.gguf", ErrorCode.IO));

    @Test
    void manifestHasTheCasesThatHaveACode() throws IOException {
        List<String> containers = entries()
                .filter(e -> level(e).equals("container"))
                .map(e -> file(e))
                .sorted()
                .toList();
        assertEquals(CODES.keySet().stream().sorted().toList(), containers);
        assertEquals(26, containers.size());
    }

    @TestFactory
    Stream<DynamicTest> brokenContainerIsRefusedWithItsCode() throws IOException {
        return entries().filter(e -> level(e).equals("container")).map(e -> dynamicTest(file(e), () -> refused(e)));
    }

    @TestFactory
    Stream<DynamicTest> soundContainerOpens() throws IOException {
        return entries().filter(e -> !level(e).equals("container")).map(e -> dynamicTest(file(e), () -> opens(e)));
    }

    private static void refused(JsonNode entry) {
        List<String> expected = new ArrayList<>();
        entry.get("expect").forEach(node -> expected.add(node.asText()));
        TenonException error = InTime.of(
                1,
                () -> assertThrows(
                        TenonException.class,
                        () -> TestFiles.open(TestFiles.malformed(file(entry))).close()),
                () -> file(entry));
        String kind = switch (error) {
            case ModelFormatException e -> "format";
            case UnsupportedModelException e -> "unsupported";
            default -> error.code().equals(ErrorCode.IO) ? "io" : fail("unexpected " + error);
        };
        assertEquals(expected.getFirst(), kind, error.getMessage());
        assertEquals(CODES.get(file(entry)), error.code(), error.getMessage());
        assertTrue(error.getMessage().contains(file(entry)), error.getMessage());
        TestFiles.assertNotMapped(file(entry));
    }

    private static void opens(JsonNode entry) {
        try (GgufFile file = TestFiles.open(TestFiles.malformed(file(entry)))) {
            long bytes = 0;
            for (var tensor : file.tensors()) {
                bytes += file.data(tensor).byteSize();
                file.data(tensor).get(ValueLayout.JAVA_BYTE, tensor.sizeBytes() - 1);
            }
            assertTrue(bytes > 0 && bytes < file.sizeBytes());
        }
        TestFiles.assertNotMapped(file(entry));
    }

    private static Stream<JsonNode> entries() throws IOException {
        List<JsonNode> list = new ArrayList<>();
        new ObjectMapper()
                .readTree(TestFiles.malformed("manifest.json").toFile())
                .forEach(list::add);
        return list.stream();
    }

    private static String level(JsonNode entry) {
        return entry.get("level").asText();
    }

    private static String file(JsonNode entry) {
        return entry.get("file").asText();
    }
}
