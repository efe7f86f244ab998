package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Requantizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Where golden data lies, and how to read it.
final class GoldenData {
    static final List<QuantFormat> FORMATS = ServiceLoader.load(QuantFormat.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    private static final ObjectMapper JSON = new ObjectMapper();

    private GoldenData() {}

    /// A file of the golden data: of the choice that is part of the project, or else of the larger set. Skips the
    /// test where it is in neither.
    static Path file(String name) {
        if (name.equals(Quantized.NAME)) {
            return Quantized.FILE;
        }
        URL own = GoldenData.class.getResource("/golden/" + name);
        if (own == null) {
            return larger("golden/" + name);
        }
        return path(own);
    }

    private static Path path(URL own) {
        try {
            return Path.of(own.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A golden model that the project holds in F16 alone: quantised here, to the bytes that llama.cpp made.
    private static final class Quantized {
        static final String NAME = "models/llama-gqa.q6_k.gguf";
        static final Path FILE = make();

        private static Path make() {
            try {
                Path folder = Files.createTempDirectory("tenon-golden");
                Path made = folder.resolve("llama-gqa.q6_k.gguf");
                folder.toFile().deleteOnExit();
                made.toFile().deleteOnExit(); // what comes last goes first
                try (GgufFile in = GgufReader.open(file("models/llama-gqa.f16.gguf"), TensorTypes.of(FORMATS))) {
                    Requantizer.quantize(in, GgufWriter.to(made).threads(1), "Q6_K", FORMATS);
                }
                String digest = HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(made)));
                assertEquals(
                        json(file("models/llama-gqa.q6_k.json")).get("sha256").asText(), digest, NAME);
                return made;
            } catch (IOException | NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /// A file of the larger set; skips the test where it is missing.
    static Path larger(String name) {
        Optional<Path> file = shared(name);
        assumeTrue(
                file.isPresent(), name + " is not part of the project, and TENON_SHARED names no folder that has it");
        return file.get();
    }

    /// A file of the larger set, which lies beside a developer's checkout; empty elsewhere.
    static Optional<Path> shared(String name) {
        String given = System.getenv("TENON_SHARED");
        Path root = given != null ? Path.of(given) : projectRoot().resolveSibling("shared");
        Path file = root.resolve(name);
        return Files.exists(file) ? Optional.of(file) : Optional.empty();
    }

    /// {@return the folders of a name: that of the project, that of the larger set, those that are there}
    static List<Path> folders(String name) {
        URL own = GoldenData.class.getResource("/" + name);
        return Stream.concat(Stream.ofNullable(own).map(GoldenData::path), shared(name).stream())
                .toList();
    }

    /// {@return the graph that the bundle which serves a file builds}
    static Graph graph(GgufFile file) {
        return architecture(file).define(source(file)).graph();
    }

    /// {@return the head for further tokens that the bundle which serves a file builds}
    static Optional<Graph> head(GgufFile file) {
        return architecture(file).head(source(file));
    }

    static ModelArchitecture architecture(GgufFile file) {
        String id = file.metadata().requiredString("general.architecture");
        return ServiceLoader.load(ModelArchitecture.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(architecture -> architecture.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no bundle serves " + id));
    }

    static ModelSource source(GgufFile file) {
        Map<String, TensorInfo> tensors =
                file.tensors().stream().collect(Collectors.toMap(TensorInfo::name, Function.identity()));
        return new ModelSource(file.metadata(), tensors);
    }

    /// {@return the weights of a file; borrows it}
    static Weights weights(GgufFile file) {
        return new FileWeights(file);
    }

    private record FileWeights(GgufFile file) implements Weights {
        @Override
        public TensorInfo info(String name) {
            return file.tensor(name).orElseThrow();
        }

        @Override
        public QuantFormat format(String name) {
            return FORMATS.stream()
                    .filter(format -> format.ggmlType() == info(name).ggmlType())
                    .findFirst()
                    .orElseThrow();
        }

        @Override
        public MemorySegment data(String name) {
            return file.data(info(name));
        }
    }

    /// What the reference says of a trained model in a format; skips the test where that is not known.
    static JsonNode story(String architecture, String format) {
        boolean own = embedded(architecture, format);
        String name = "golden-" + architecture + ".json";
        return json(own ? file("story/" + name) : larger("models/" + name))
                .get("formats")
                .get(format);
    }

    /// {@return a trained model in a format, if it is part of the project or of the larger set}
    static Optional<Path> storyModel(String architecture, String format) {
        return embedded(architecture, format)
                ? Optional.of(embeddedModel())
                : shared("models/story-" + architecture + "-" + format + ".gguf");
    }

    private static boolean embedded(String architecture, String format) {
        return architecture.equals("qwen3") && format.equals("q4_k_m");
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
