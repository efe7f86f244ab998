package dev.tenon.api.gguf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class GgufTests {
    private static final Map<String, GgufValue> VALUES = new LinkedHashMap<>(Map.of(
            "name", GgufValue.of("llama"),
            "count", GgufValue.ofUint32(32),
            "huge", GgufValue.ofUint32(1L << 31),
            "negative", new GgufValue(GgufType.INT32, null, -1L),
            "eps", GgufValue.of(1e-5f),
            "on", GgufValue.of(true),
            "tokens", GgufValue.of(new String[] {"a", "b"}),
            "scores", GgufValue.of(new float[] {1, 2}),
            "types", GgufValue.ofInt32Array(new long[] {1, 3})));
    private final GgufMetadata metadata = GgufMetadata.of("a.gguf", VALUES);

    @Test
    void valuesAreFoundByTheirTypes() {
        assertEquals("llama", metadata.requiredString("name"));
        assertEquals(32, metadata.requiredInteger("count"));
        assertEquals(32, metadata.requiredInteger("count", 32, 32));
        assertEquals(1e-5f, metadata.requiredNumber("eps"));
        assertEquals(32.0, metadata.requiredNumber("count"));
        assertEquals(Optional.of(true), metadata.bool("on"));
        assertArrayEquals(new String[] {"a", "b"}, metadata.strings("tokens").orElseThrow());
        assertArrayEquals(new float[] {1, 2}, metadata.floats("scores").orElseThrow());
        assertArrayEquals(new long[] {1, 3}, metadata.integers("types").orElseThrow());
        assertTrue(metadata.has("on"));
        assertFalse(metadata.has("off"));
        assertEquals(VALUES.keySet(), metadata.values().keySet());
        assertThrows(
                UnsupportedOperationException.class, () -> metadata.values().clear());
    }

    @Test
    void keysThatAreLookedUpAreRecorded() {
        Set<String> read = new HashSet<>();
        GgufMetadata recording = metadata.recording(read);
        assertEquals(
                List.copyOf(VALUES.entrySet()), List.copyOf(recording.values().entrySet()));
        recording.values().forEach((key, value) -> assertEquals(VALUES.get(key), value));
        assertEquals(Set.of(), read, "going through all of them looks up none");
        assertEquals("llama", recording.requiredString("name"));
        assertEquals(32, recording.requiredInteger("count"));
        assertEquals(1e-5f, recording.requiredNumber("eps"));
        assertEquals(Optional.of(true), recording.bool("on"));
        assertTrue(recording.strings("tokens").isPresent());
        assertTrue(recording.has("scores"));
        assertFalse(recording.has("off"));
        assertEquals(VALUES.get("types"), recording.values().get("types"));
        assertEquals(Set.of("name", "count", "eps", "on", "tokens", "scores", "off", "types"), read);
        assertThrows(
                UnsupportedOperationException.class, () -> recording.values().clear());
    }

    @Test
    void whatIsMissingIsEmptyOrRefusedByName() {
        assertEquals(OptionalInt.empty(), metadata.integer("none"));
        assertEquals(Optional.empty(), metadata.string("none"));
        assertEquals(Optional.empty(), metadata.strings("none"));
        for (Consumer<String> look : List.<Consumer<String>>of(
                metadata::requiredString, metadata::requiredInteger, metadata::requiredNumber)) {
            refused(ErrorCode.MODEL_KEY_MISSING, "none", look);
        }
    }

    @Test
    void anotherTypeOrRangeIsRefusedByName() {
        refused(ErrorCode.MODEL_KEY_VALUE, "count", metadata::string);
        refused(ErrorCode.MODEL_KEY_VALUE, "name", metadata::integer);
        refused(ErrorCode.MODEL_KEY_VALUE, "name", metadata::number);
        refused(ErrorCode.MODEL_KEY_VALUE, "name", metadata::bool);
        refused(ErrorCode.MODEL_KEY_VALUE, "tokens", metadata::floats);
        refused(ErrorCode.MODEL_KEY_VALUE, "scores", metadata::strings);
        refused(ErrorCode.MODEL_KEY_VALUE, "tokens", metadata::integers);
        refused(ErrorCode.MODEL_KEY_VALUE, "huge", metadata::integer);
        refused(ErrorCode.MODEL_KEY_VALUE, "negative", metadata::integer);
        refused(ErrorCode.MODEL_KEY_VALUE, "count", key -> metadata.requiredInteger(key, 1, 31));
    }

    private static void refused(String code, String key, Consumer<String> look) {
        var e = assertThrows(ModelFormatException.class, () -> look.accept(key));
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains("key " + key + " ") && e.getMessage().contains("a.gguf"), e.getMessage());
        assertTrue(e.getMessage().endsWith("[" + code + "]"), e.getMessage());
    }

    @Test
    void typesHaveTheNumbersOfTheFormat() {
        assertEquals(8, GgufType.STRING.number());
        assertEquals(12, GgufType.FLOAT64.number());
        for (GgufType type : GgufType.values()) {
            assertEquals(Optional.of(type), GgufType.of(type.number()));
        }
        assertEquals(Optional.empty(), GgufType.of(13));
        assertEquals(Optional.empty(), GgufType.of(-1));
    }

    @Test
    void onlyAnArrayHasAnElementType() {
        assertThrows(IllegalArgumentException.class, () -> new GgufValue(GgufType.ARRAY, null, new long[0]));
        assertThrows(IllegalArgumentException.class, () -> new GgufValue(GgufType.BOOL, GgufType.BOOL, true));
    }

    @Test
    void aTensorHasRowsOfItsFastestLength() {
        TensorInfo matrix = new TensorInfo("m", 0, List.of(64L, 32L, 2L), 0, 0, 0);
        assertEquals(64, matrix.cols());
        assertEquals(64, matrix.rows());
        assertEquals(4096, matrix.elements());
        assertEquals(1, new TensorInfo("v", 0, List.of(64L), 0, 0, 0).rows());
        assertThrows(UnsupportedOperationException.class, () -> matrix.shape().clear());
    }
}
