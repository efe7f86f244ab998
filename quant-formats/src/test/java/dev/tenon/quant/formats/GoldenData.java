package dev.tenon.quant.formats;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.zip.GZIPInputStream;

/// Reads the golden data of this module's test resources: raw little-endian arrays, those of floats
/// compressed, and an index.
final class GoldenData {
    private static final String ROOT = "/golden/quant/";
    private static final JsonNode INDEX = index();

    private GoldenData() {}

    /// {@return the index entry of a type's decoded blocks}
    static JsonNode dequant(String type) {
        return required(INDEX.path("dequant"), type);
    }

    /// {@return the index entry of a type's encoded rows}
    static JsonNode quantize(String type) {
        return required(INDEX.path("quantize").path("types"), type);
    }

    /// {@return the types with decoded blocks}
    static List<String> dequantTypes() {
        return INDEX.path("dequant").propertyStream().map(e -> e.getKey()).toList();
    }

    /// {@return the types with encoded rows}
    static List<String> quantizeTypes() {
        return INDEX.path("quantize")
                .path("types")
                .propertyStream()
                .map(e -> e.getKey())
                .toList();
    }

    /// {@return the rows that a type's encoder was given}
    static float[] input(String type) {
        return floats("quantize/" + quantize(type).path("input").asText("input.f32"));
    }

    /// {@return what each row of the encoders' input holds}
    static List<String> rowContent() {
        return INDEX.path("quantize")
                .path("row_content")
                .valueStream()
                .map(JsonNode::asText)
                .toList();
    }

    /// {@return values per row of the encoders' input}
    static int columns() {
        return INDEX.path("quantize").path("cols").asInt();
    }

    /// {@return the bytes of a file below the golden folder}
    static byte[] bytes(String path) {
        try (InputStream in = GoldenData.class.getResourceAsStream(ROOT + path)) {
            if (in == null) {
                throw new IllegalStateException("no golden data " + path);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// {@return the float32 values of a file below the golden folder}
    ///
    /// @param path its path without `.gz`
    static float[] floats(String path) {
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes(path + ".gz")))) {
            ByteBuffer bytes = ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
            float[] values = new float[bytes.remaining() / Float.BYTES];
            bytes.asFloatBuffer().get(values);
            return values;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode index() {
        try {
            return new ObjectMapper().readTree(bytes("index.json"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode required(JsonNode parent, String name) {
        JsonNode node = parent.path(name);
        if (node.isMissingNode()) {
            throw new IllegalStateException("no golden data for " + name);
        }
        return node;
    }
}
