package dev.tenon.itest.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// Where golden data lies, and how to read it.
final class GoldenData {
    private static final ObjectMapper JSON = new ObjectMapper();

    private GoldenData() {}

    /// A file of the golden data that is part of the project.
    static Path own(String name) {
        try {
            return Path.of(GoldenData.class.getResource("/golden/" + name).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A file of the larger set, which lies beside a developer's checkout; empty elsewhere.
    static Optional<Path> shared(String name) {
        String given = System.getenv("TENON_SHARED");
        Path root = given != null ? Path.of(given) : projectRoot().resolveSibling("shared");
        Path file = root.resolve(name);
        return Files.exists(file) ? Optional.of(file) : Optional.empty();
    }

    /// The embedded default model.
    static Path embeddedModel() {
        return projectRoot().resolve("platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    }

    static Path projectRoot() {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.exists(folder.resolve("mvnw"))) {
            folder = folder.getParent();
        }
        if (folder == null) {
            throw new IllegalStateException("no mvnw above " + Path.of("").toAbsolutePath());
        }
        return folder;
    }

    static JsonNode json(Path path) {
        try {
            return JSON.readTree(path.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static float[] floats(Path path) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
            float[] values = new float[bytes.remaining() / Float.BYTES];
            bytes.asFloatBuffer().get(values);
            return values;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int[] ints(JsonNode array) {
        int[] values = new int[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.get(i).asInt();
        }
        return values;
    }

    /// Normalised mean square error of a row of logits: `sum((a - b)^2) / sum(b^2)`.
    static double nmse(float[] got, float[] truth, int offset) {
        double error = 0;
        double power = 0;
        for (int i = 0; i < got.length; i++) {
            double d = got[i] - (double) truth[offset + i];
            error += d * d;
            power += truth[offset + i] * (double) truth[offset + i];
        }
        return error / power;
    }

    static int argMax(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }
}
