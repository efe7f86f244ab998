package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/// A model of the golden set and what is known of it, found in the set's folders: those of the project, and those
/// of the larger set where it is.
///
/// @param folder the folder
/// @param name the file's name without `.gguf`
/// @param json sequences and their results
record GoldenModel(String folder, String name, JsonNode json) {
    static final List<String> FOLDERS = List.of("models", "models-more");

    private static final double QUANT_LIMIT = 1e-3;
    /// Where a router's choice is closer than rounding, another expert may win.
    private static final double ROUTING_LIMIT = 5e-3;

    /// What another expert makes of a token where it is one of few.
    private static final double OTHER_EXPERT = 0.2;

    /// What other positions make of a token: the float64 pass with activations rounded to 8 bits is off by 0.46 in a
    /// sequence of 200 tokens that attend to 24.
    private static final double OTHER_POSITIONS = 0.6;

    /// Distance of routing scores that rounded activations turn around.
    private static final double CLOSE = 5e-4;

    /// How many times as much as in another implementation a sequence may be off by, where activations are rounded to
    /// 8 bits: by chance, the more so the narrower a model is.
    private static final double ROUNDING = 2;

    private static final Map<String, ModelArchitecture> ARCHITECTURES =
            ServiceLoader.load(ModelArchitecture.class).stream()
                    .map(ServiceLoader.Provider::get)
                    .collect(Collectors.toMap(ModelArchitecture::id, architecture -> architecture));

    /// {@return the models whose architecture a bundle serves, by folder and name}
    static List<GoldenModel> all() {
        List<GoldenModel> models = new ArrayList<>();
        for (String folder : FOLDERS) {
            for (String name : names(folder)) {
                JsonNode json = GoldenData.json(GoldenData.file(folder + "/" + name + ".json"));
                if (ARCHITECTURES.containsKey(json.get("arch").asText())) {
                    models.add(new GoldenModel(folder, name, json));
                }
            }
        }
        return models;
    }

    private static Set<String> names(String folder) {
        Set<String> names = new TreeSet<>();
        for (Path each : GoldenData.folders("golden/" + folder)) {
            try (Stream<Path> files = Files.list(each)) {
                files.map(file -> file.getFileName().toString())
                        .filter(file -> file.endsWith(".json"))
                        .forEach(file -> names.add(file.replace(".json", "")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return names;
    }

    /// {@return those that continue texts}
    static Stream<GoldenModel> ofLanguage() {
        return all().stream().filter(model -> !model.json.has("n_out"));
    }

    /// {@return those that make vectors of texts}
    static Stream<GoldenModel> ofVectors() {
        return all().stream().filter(model -> model.json.has("n_out") && !model.ranks());
    }

    /// {@return those that score texts}
    static Stream<GoldenModel> ofScores() {
        return all().stream().filter(GoldenModel::ranks);
    }

    /// {@return one test a model, and one that is skipped where the larger set is missing}
    static Stream<DynamicTest> each(Stream<GoldenModel> models, Consumer<GoldenModel> test) {
        Stream<DynamicTest> tests = models.map(model -> DynamicTest.dynamicTest(model.name, () -> test.accept(model)));
        DynamicTest others = DynamicTest.dynamicTest("the larger set", () -> GoldenData.larger("golden/models-more"));
        return Stream.concat(tests, Stream.of(others));
    }

    boolean ranks() {
        return json.path("pooling").asText().equals("rank");
    }

    /// The output that the results are of.
    String output() {
        return ranks() ? Graph.SCORES : json.has("n_out") ? Graph.EMBEDDING : Graph.LOGITS;
    }

    Path path() {
        return GoldenData.file(folder + "/" + name + ".gguf");
    }

    float[] truth() {
        return GoldenData.floats(
                GoldenData.file(folder + "/" + json.get("files").get("f64").asText()));
    }

    List<JsonNode> sequences() {
        return json.get("sequences").valueStream().toList();
    }

    int[] ids(String sequence) {
        return sequences().stream()
                .filter(s -> s.get("name").asText().equals(sequence))
                .map(s -> GoldenData.ints(s.get("ids")))
                .findFirst()
                .orElseThrow();
    }

    /// Holds the error of each sequence to a limit.
    ///
    /// Where activations are rounded and two experts are as good as equal, a router may choose another one
    /// than the truth does, which is no small difference: a third of a model's sequences may be that far off.
    ///
    /// @param where for what is printed
    /// @param rounds whether activations are rounded
    /// @param run gives the logits after tokens
    /// @param limit of a sequence's NMSE
    void check(String where, boolean rounds, Function<int[], float[]> run, ToDoubleFunction<JsonNode> limit) {
        float[] truth = truth();
        int turned = 0;
        for (JsonNode sequence : sequences()) {
            float[] logits = run.apply(GoldenData.ints(sequence.get("ids")));
            double error = GoldenData.nmse(logits, truth, sequence.get("row").asInt() * logits.length);
            double most = limit.applyAsDouble(sequence);
            String what = where + name + " " + sequence.get("name").asText() + ": NMSE ";
            System.out.printf("%s%.3g (limit %.3g)%n", what, error, most);
            if (error > most && rounds && turned < sequences().size() / 3 && isClose(sequence)) {
                turned++;
                most = json.get("hyper").has("topk") ? OTHER_POSITIONS : OTHER_EXPERT;
            }
            assertTrue(error <= most, what + error + " > " + most);
        }
    }

    private static boolean isClose(JsonNode sequence) {
        return sequence.has("router_gap") && sequence.get("router_gap").asDouble() < CLOSE;
    }

    /// {@return the limit where activations are rounded to 8 bits, of what another implementation with such
    ///     activations is off by}
    ///
    /// What that is differs from sequence to sequence by chance: at least its mean counts.
    double limitOf8Bits(JsonNode sequence) {
        double mean = sequences().stream()
                .mapToDouble(s -> s.get("nmse_native_vs_f64").asDouble())
                .average()
                .orElseThrow();
        double other = Math.max(mean, sequence.get("nmse_native_vs_f64").asDouble());
        return sequence.has("router_gap")
                ? Math.max(ROUTING_LIMIT, 3 * other)
                : Math.max(QUANT_LIMIT, ROUNDING * other);
    }

    LoadRequest.Builder request() {
        return LoadRequest.builder(path()).keyType(KvType.F32).valueType(KvType.F32);
    }

    @Override
    public String toString() {
        return name;
    }
}
