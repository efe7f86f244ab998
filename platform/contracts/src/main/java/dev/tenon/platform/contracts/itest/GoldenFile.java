package dev.tenon.platform.contracts.itest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.itest.testkit.GoldenLogits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;

/// Reads golden logits from JSON: `sequences`, each with `ids` and the `logits` after the last of them.
///
/// Instead of `logits` a sequence may have a `row`: that of the file which `files.f64` names, beside the JSON,
/// with little-endian float32 values. `name` and, for the whole file, `tolerance` are optional.
public final class GoldenFile {
    private static final double TOLERANCE = 1e-6;

    private GoldenFile() {}

    /// Reads a file.
    ///
    /// @param file the JSON file
    /// @return its cases, at least one
    /// @throws TenonException (`ITEST-003`) if it cannot be read or has another form
    public static List<GoldenLogits> read(Path file) {
        try {
            JsonNode root = new ObjectMapper().readTree(file.toFile());
            double tolerance = root.path("tolerance").asDouble(TOLERANCE);
            JsonNode sequences = root.path("sequences");
            int rows = 0;
            for (JsonNode sequence : sequences) {
                rows = Math.max(rows, sequence.path("row").asInt(-1) + 1);
            }
            String table = root.path("files").path("f64").asText();
            float[] values = table.isEmpty() || rows == 0 ? new float[0] : floats(file.resolveSibling(table));
            List<GoldenLogits> cases = new ArrayList<>();
            for (JsonNode sequence : sequences) {
                int[] ids = StreamSupport.stream(sequence.path("ids").spliterator(), false)
                        .mapToInt(JsonNode::asInt)
                        .toArray();
                float[] logits = sequence.has("logits")
                        ? floats(sequence.get("logits"))
                        : row(values, sequence.path("row").asInt(-1), rows);
                if (ids.length == 0 || logits.length == 0) {
                    throw broken(file, "sequence " + cases.size() + " has no ids, or neither logits nor a row", null);
                }
                String name = sequence.path("name").asText("sequence " + cases.size());
                cases.add(new GoldenLogits(name, ids, logits, tolerance));
            }
            if (cases.isEmpty()) {
                throw broken(file, "it has no sequences", null);
            }
            return cases;
        } catch (IOException e) {
            throw broken(
                    file, String.valueOf(e.getMessage()).lines().findFirst().orElse(""), e);
        }
    }

    private static float[] floats(JsonNode array) {
        float[] values = new float[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) array.get(i).asDouble(Double.NaN);
        }
        return values;
    }

    private static float[] floats(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[bytes.remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(values);
        return values;
    }

    private static float[] row(float[] values, int row, int rows) {
        if (row < 0) {
            return new float[0];
        }
        int width = values.length / rows;
        float[] logits = new float[width];
        System.arraycopy(values, row * width, logits, 0, width);
        return logits;
    }

    private static TenonException broken(Path file, String what, Exception cause) {
        return new TenonException(
                ErrorCode.ITEST_GOLDEN,
                "Golden logits cannot be read from " + file + ": " + what
                        + ". Expected {\"sequences\": [{\"ids\": [1, 2], \"logits\": [0.5, …]}]}",
                cause);
    }
}
