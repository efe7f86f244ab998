package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Merge;
import dev.tenon.platform.tools.gguf.Requantizer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Low-rank adapters, made from seeds, on models of files.
class AdapterTests {
    /// More than a page of the cache, which sessions share where they use the same adapters.
    private static final int[] TEXT =
            IntStream.range(0, 100).map(i -> 3 + 7 * i % 250).toArray();
    private static final Predicate<TensorInfo> PROJECTIONS =
            tensor -> tensor.name().matches("blk\\.\\d+\\.(attn|ffn)_(q|k|v|qkv|output|gate|up|down)\\.weight");

    private static Engine engine;
    /// A model of F32 matrices.
    private static Path model;

    @TempDir
    static Path folder;

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
        model = folder.resolve("model.gguf");
        Path sound = GoldenData.projectRoot()
                .resolve("platform/core/src/test/resources/golden/malformed")
                .resolve("ok_model.gguf");
        try (GgufFile in = open(sound)) {
            Requantizer.quantize(in, GgufWriter.to(model).threads(1).replaceExisting(true), "F32", engine.formats());
        }
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private static GgufFile open(Path file) {
        return GgufReader.open(file, TensorTypes.of(engine.formats()));
    }

    private static LoadRequest.Builder request(Path file) {
        return LoadRequest.builder(file)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .contextLength(128);
    }

    private static TinyGguf adapter(Path of, float alpha) {
        try (GgufFile file = open(of)) {
            return new TinyGguf()
                    .put("general.type", GgufValue.of("adapter"))
                    .put("general.architecture", GgufValue.of(file.metadata().requiredString("general.architecture")))
                    .put("adapter.type", GgufValue.of("lora"))
                    .put("adapter.lora.alpha", GgufValue.of(alpha));
        }
    }

    private static void matrix(TinyGguf to, String name, long cols, long rows, long seed) {
        ByteBuffer data =
                ByteBuffer.allocate(Math.toIntExact(cols * rows) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        Random random = new Random(seed + name.hashCode());
        for (long i = 0; i < cols * rows; i++) {
            data.putFloat((float) (random.nextGaussian() / Math.sqrt(cols)));
        }
        to.tensor(name, 0, List.of(cols, rows), data.array());
    }

    /// Makes an adapter of some of a model's matrices.
    private static Path adapter(Path of, String name, long seed, int rank, Predicate<TensorInfo> which) {
        TinyGguf made = adapter(of, 1.5f * rank);
        try (GgufFile file = open(of)) {
            for (TensorInfo tensor : file.tensors()) {
                if (which.test(tensor)) {
                    matrix(made, tensor.name() + ".lora_a", tensor.cols(), rank, seed);
                    matrix(made, tensor.name() + ".lora_b", rank, tensor.rows(), seed);
                }
            }
            return made.write(folder.resolve(name + ".gguf"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Path first() {
        return adapter(model, "first", 1, 4, PROJECTIONS);
    }

    private static Path second() {
        return adapter(
                model, "second", 2, 8, PROJECTIONS.and(tensor -> !tensor.name().contains("ffn_down")));
    }

    private static float[][] logits(Session session, int... tokens) {
        List<float[]> rows = new ArrayList<>();
        session.evaluate(tokens, Rows.ALL, (index, row) -> rows.add(row.clone()));
        return rows.toArray(float[][]::new);
    }

    private static float[][] logits(LoadRequest.Builder request) {
        try (LoadedModel loaded = engine.load(request.build());
                Session session = loaded.newSession()) {
            return logits(session, TEXT);
        }
    }

    private static double nmse(float[][] expected, float[][] actual) {
        double error = 0;
        double energy = 0;
        for (int r = 0; r < expected.length; r++) {
            for (int i = 0; i < expected[r].length; i++) {
                double difference = (double) expected[r][i] - actual[r][i];
                error += difference * difference;
                energy += (double) expected[r][i] * expected[r][i];
            }
        }
        return error / energy;
    }

    @Test
    void aMergedModelComputesWhatItsAdaptersDo() {
        merged(model);
    }

    /// Also where projections are rows of one tensor, and between ops with states.
    @TestFactory
    Stream<DynamicTest> mergedModelsOfOtherFamiliesDoToo() {
        return Stream.of("models/phi3.q5_k_m", "models/olmoe.q8_0", "models-more/granitehybrid.q8_0")
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Path plain = folder.resolve(name.substring(name.indexOf('/') + 1) + ".f32.gguf");
                    try (GgufFile in = open(GoldenData.larger("golden/" + name + ".gguf"))) {
                        Requantizer.quantize(
                                in, GgufWriter.to(plain).threads(2).replaceExisting(true), "F32", engine.formats());
                    }
                    merged(plain);
                }));
    }

    private static void merged(Path plain) {
        Path a = adapter(plain, "a", 1, 4, PROJECTIONS);
        Path b = adapter(
                plain, "b", 2, 8, PROJECTIONS.and(tensor -> !tensor.name().contains("ffn_down")));
        Path merged = folder.resolve("merged.gguf");
        try (GgufFile in = open(plain);
                Merge merge = Merge.open(Map.of(a, 0.5f, b, -1f), TensorTypes.of(engine.formats()), in)) {
            Requantizer.quantize(
                    in, merge, GgufWriter.to(merged).threads(2).replaceExisting(true), "F32", engine.formats());
        }
        float[][] beside = logits(request(plain).adapter("a", a, 0.5f).adapter("b", b, -1));
        double error = nmse(logits(request(merged)), beside);
        System.out.printf("%s merged and beside the model: NMSE %.2g%n", plain.getFileName(), error);
        assertTrue(error <= 1e-8, () -> "NMSE " + error);
        assertTrue(nmse(logits(request(plain)), beside) > 1e-3, "the adapters change next to nothing");
    }

    @Test
    void withoutAScaleTheModelIsWhatItIsAlone() {
        float[][] alone = logits(request(model));
        float[][] unfused = logits(request(model).fuse(false));
        LoadRequest.Builder with = request(model).adapter("a", first(), 0).adapter("b", second(), 1);
        try (LoadedModel loaded = engine.load(with.build());
                Session session = loaded.newSession()) {
            session.adapters(Map.of());
            float[][] unused = logits(session, TEXT);
            assertArrayEquals(unfused, unused);
            assertArrayEquals(alone, unused);
            session.truncate(0);
            session.adapters(Map.of("a", 0f, "b", 0f));
            assertArrayEquals(unused, logits(session, TEXT));
        }
    }

    @Test
    void sessionsThatUseDifferentAdaptersRunTogether() throws Exception {
        List<Map<String, Float>> choices =
                List.of(Map.of(), Map.of("a", 1f), Map.of("b", 0.7f), Map.of("a", -0.5f, "b", 1f));
        LoadRequest.Builder with = request(model)
                .adapter("a", first(), 1)
                .adapter("b", second(), 1)
                .maxSequences(choices.size());
        List<List<Integer>> alone = new ArrayList<>();
        for (Map<String, Float> choice : choices) {
            try (LoadedModel loaded = engine.load(with.build())) {
                alone.add(generate(loaded, choice));
            }
        }
        try (LoadedModel loaded = engine.load(with.build());
                ExecutorService threads = Executors.newCachedThreadPool()) {
            assertEquals(choices.size(), alone.stream().distinct().count(), "each adapter says something else");
            List<Future<List<Integer>>> together = new ArrayList<>();
            for (Map<String, Float> choice : choices) {
                together.add(threads.submit(() -> generate(loaded, choice)));
            }
            for (int i = 0; i < alone.size(); i++) {
                assertEquals(alone.get(i), together.get(i).get(), choices.get(i).toString());
            }
        }
    }

    private static List<Integer> generate(LoadedModel loaded, Map<String, Float> adapters) {
        try (Session session = loaded.newSession()) {
            session.adapters(adapters);
            List<Integer> tokens = new ArrayList<>();
            session.generate(
                    GenerationRequest.builder()
                            .prompt(Arrays.copyOf(TEXT, 90))
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(30)
                            .ignoreEndOfGeneration(true)
                            .build(),
                    GenerationListener.ofTokens(token -> tokens.add(token.id())));
            return tokens;
        }
    }

    /// The kernels of NVIDIA GPUs, with stand-ins for machine code; a card does the same if it keeps the contract of
    /// backends.
    @Test
    void theEmulatedOrinComputesWhatTheProcessorDoes() {
        LoadRequest.Builder with = request(model)
                .adapter("a", first(), 1)
                .adapter("b", second(), 0)
                .maxSequences(3);
        LoadRequest.Builder orin = with.build().toBuilder()
                .backend("nv-tegra")
                .device("emulated")
                .settings(Map.of("nv-tegra.kernels", "stand-ins"));
        List<Map<String, Float>> choices = List.of(Map.of(), Map.of("b", 0.7f), Map.of("a", -0.5f, "b", 1f));
        try (LoadedModel expected = engine.load(with.build());
                LoadedModel found = engine.load(orin.build());
                Session here = expected.newSession();
                Session there = found.newSession();
                Session beside = found.newSession()) {
            assertEquals("nv-tegra", found.backend());
            float[][] usual = logits(beside, TEXT);
            assertTrue(nmse(logits(here, TEXT), usual) < 1e-5);
            for (Map<String, Float> choice : choices) {
                here.adapters(choice);
                here.truncate(0);
                there.adapters(choice);
                there.truncate(0);
                float[][] logits = logits(here, TEXT);
                assertTrue(nmse(logits, usual) > 1e-3, "the adapters change next to nothing");
                assertTrue(nmse(logits, logits(there, TEXT)) < 1e-5, choice.toString());
            }
            assertEquals(generate(expected, choices.get(1)), generate(found, choices.get(1)));
        }
    }

    @TestFactory
    Stream<DynamicTest> aSessionThatChangesItsAdaptersRunsItsTokensAgain() {
        return Stream.of("model", "with states")
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Path file = name.equals("model")
                            ? model
                            : GoldenData.larger("golden/models-more/granitehybrid.q8_0.gguf");
                    changes(file);
                }));
    }

    private void changes(Path file) {
        Path adapter = adapter(file, "changed", 3, 4, PROJECTIONS);
        try (LoadedModel loaded =
                        engine.load(request(file).adapter("a", adapter, 1).build());
                Session session = loaded.newSession();
                Session fresh = loaded.newSession()) {
            fresh.adapters(Map.of("a", -0.5f));
            float[][] expected = logits(fresh, TEXT);
            logits(session, Arrays.copyOf(TEXT, 90));
            session.adapters(Map.of("a", -0.5f));
            assertEquals(90, session.length());
            float[][] rest = logits(session, Arrays.copyOfRange(TEXT, 90, 100));
            assertArrayEquals(Arrays.copyOfRange(expected, 90, 100), rest);
            session.adapters(Map.of("a", -0.5f));
            fresh.truncate(0);
            fresh.adapters(Map.of());
            float[][] base = logits(fresh, TEXT);
            assertTrue(nmse(base, expected) > 1e-3, "the adapter changes next to nothing");
        }
    }

    @TestFactory
    Stream<DynamicTest> whatIsNoAdapterOfTheModelIsRefused() {
        return Stream.of(
                refused(
                        "another architecture",
                        ErrorCode.MODEL_KEY_VALUE,
                        "'qwen3'; expected 'llama'",
                        made -> made.put("general.architecture", GgufValue.of("qwen3"))),
                refused(
                        "a model",
                        ErrorCode.MODEL_KEY_VALUE,
                        "general.type 'model'",
                        made -> made.put("general.type", GgufValue.of("model"))),
                refused(
                        "another kind",
                        ErrorCode.MODEL_KEY_VALUE,
                        "adapter.type 'control'",
                        made -> made.put("adapter.type", GgufValue.of("control"))),
                refused(
                        "an activated one",
                        ErrorCode.MODEL_KEY_VALUE,
                        "invocation tokens",
                        made -> made.put("adapter.alora.invocation_tokens", GgufValue.of(1f))),
                refused(
                        "without a factor",
                        ErrorCode.MODEL_KEY_VALUE,
                        "adapter.lora.alpha NaN",
                        made -> made.put("adapter.lora.alpha", GgufValue.of(Float.NaN))),
                refused("without tensors", ErrorCode.MODEL_TENSOR_MISSING, ".lora_a is missing", made -> {}),
                refused(
                        "an unknown tensor",
                        ErrorCode.MODEL_TENSOR_UNUSED,
                        "blk.7.attn_q.weight, which the model does not have",
                        made -> pair(made, "blk.7.attn_q.weight", 32, 4, 32)),
                refused(
                        "rows that do not fit",
                        ErrorCode.MODEL_TENSOR_SHAPE,
                        "do not fit the shape [32, 16]",
                        made -> pair(made, "blk.0.attn_k.weight", 32, 4, 32)),
                refused(
                        "another tensor",
                        ErrorCode.MODEL_TENSOR_UNUSED,
                        "tensor norm is neither",
                        made -> matrix(made, "norm", 32, 1, 1)),
                refused(
                        "half a pair",
                        ErrorCode.MODEL_TENSOR_MISSING,
                        "attn_k.weight.lora_b is missing",
                        made -> matrix(made, "blk.0.attn_k.weight.lora_a", 32, 4, 1)),
                refused(
                        "the other half",
                        ErrorCode.MODEL_TENSOR_MISSING,
                        "attn_k.weight.lora_a is missing",
                        made -> matrix(made, "blk.0.attn_k.weight.lora_b", 4, 16, 1)),
                refused(
                        "what is no projection",
                        ErrorCode.MODEL_TENSOR_UNUSED,
                        "token_embd.weight, which op embedding reads",
                        made -> pair(made, "token_embd.weight", 32, 4, 261)),
                refused(
                        "a table as llama.cpp writes it",
                        ErrorCode.MODEL_TENSOR_UNUSED,
                        "token_embd.weight, which op embedding reads; only matrices of linear ops can be changed",
                        made -> {
                            matrix(made, "token_embd.weight.lora_a", 4, 261, 1);
                            matrix(made, "token_embd.weight.lora_b", 4, 32, 1);
                        }));
    }

    private static void pair(TinyGguf made, String name, int cols, int rank, int rows) {
        matrix(made, name + ".lora_a", cols, rank, 1);
        matrix(made, name + ".lora_b", rank, rows, 1);
    }

    private static DynamicTest refused(String name, String code, String says, Consumer<TinyGguf> change) {
        return DynamicTest.dynamicTest(name, () -> {
            TinyGguf made = adapter(model, 8);
            change.accept(made);
            Path file = made.write(folder.resolve("refused.gguf"));
            LoadRequest wanted = request(model).adapter("a", file, 1).build();
            TenonException e = assertThrows(TenonException.class, () -> engine.load(wanted));
            assertEquals(code, e.code(), e.getMessage());
            assertTrue(e.getMessage().contains(says), e.getMessage());
            assertEquals(List.of(), engine.models());
        });
    }

    @Test
    void anAdapterThatIsNotLoadedCannotBeUsed() {
        try (LoadedModel loaded =
                        engine.load(request(model).adapter("a", first(), 1).build());
                Session session = loaded.newSession()) {
            for (Map<String, Float> choice : List.of(Map.of("b", 1f), Map.of("a", Float.NaN))) {
                TenonException e = assertThrows(TenonException.class, () -> session.adapters(choice));
                assertEquals(ErrorCode.ARGUMENT, e.code());
                assertTrue(e.getMessage().contains("loaded with: a"), e.getMessage());
            }
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> request(model)
                        .adapter("a", first(), 1)
                        .adapter("a", second(), 1)
                        .build());
    }
}
