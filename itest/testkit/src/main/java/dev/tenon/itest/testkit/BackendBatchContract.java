package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.AdapterModels;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.StateModels;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The part of [BackendContract] that is about batches: chunks of prompts, mixed steps, pages used again,
/// several plans, graphs cut after each op.
public abstract class BackendBatchContract extends BackendNumbersContract {
    /// For subclasses.
    protected BackendBatchContract() {}

    @TestFactory
    Stream<DynamicTest> logitsAreTheSameForEveryChunkSize() {
        return models(this::chunks);
    }

    /// A test with a usual model, and one with a model whose ops have states.
    private Stream<DynamicTest> models(Consumer<Model> test) {
        return Stream.of(true, false)
                .map(usual -> DynamicTest.dynamicTest(usual ? "decoder" : "with states", () -> {
                    try (Model model = usual ? qwen3() : withStates()) {
                        assumeSupported(model);
                        test.accept(model);
                    }
                }));
    }

    private static Model withStates() {
        return StateModels.hybrid(11, TestFormats.F32, 24);
    }

    private void chunks(Model model) {
        try (PlanDriver driver = new PlanDriver(device(), model, settings(40, 1, 40))) {
            int[] tokens = tokens(10, 40, model.vocabularySize());
            PlanDriver.Sequence whole = driver.open();
            double[][] expected = Closeness.widen(driver.feed(whole, tokens, 40));
            driver.release(whole);
            for (int chunk : new int[] {1, 2, 3, 5, 8, 16, 17, 39}) {
                PlanDriver.Sequence s = driver.open();
                float[][] got = driver.feed(s, tokens, chunk);
                driver.release(s);
                assertClose(model.name() + " chunk=" + chunk, expected, got, tolerance("model", 256));
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> prefillAndDecodeOfSeveralSequencesMixInOneStep() {
        return models(this::mixedSteps);
    }

    private void mixedSteps(Model model) {
        try (PlanDriver driver = new PlanDriver(device(), model, settings(24, 4, 20))) {
            Reference reference = new Reference(model.graph(), model.weights());
            Random random = new Random(12);
            PlanDriver.Sequence[] sequences = new PlanDriver.Sequence[4];
            Reference.Sequence[] truths = new Reference.Sequence[4];
            for (int s = 0; s < 4; s++) {
                sequences[s] = driver.open();
                truths[s] = reference.newSequence();
            }
            int[][] sizes = {{9, 0, 0, 0}, {1, 11, 0, 0}, {1, 1, 7, 3}, {0, 1, 1, 13}, {1, 1, 1, 1}, {6, 1, 6, 1}};
            for (int step = 0; step < sizes.length; step++) {
                List<Chunk> chunks = new ArrayList<>();
                List<double[]> expected = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    int s = (i + step) % 4;
                    if (sizes[step][s] > 0) {
                        int[] tokens = random.ints(sizes[step][s], 0, model.vocabularySize())
                                .toArray();
                        boolean logits = (s + step) % 3 != 0 || step == 4;
                        chunks.add(new Chunk(sequences[s], tokens, logits));
                        double[][] rows = truths[s].feed(tokens);
                        if (logits) {
                            expected.addAll(List.of(rows));
                        }
                    }
                }
                float[][] got = driver.step(chunks.toArray(Chunk[]::new));
                assertClose(
                        model.name() + " step=" + step,
                        expected.toArray(double[][]::new),
                        got,
                        tolerance("model", 256));
            }
        }
    }

    /// Of a backend whose compiler says that its plans can do it.
    @TestFactory
    Stream<DynamicTest> bitsDoNotDependOnTheBatchWhereThatIsAskedFor() {
        assumeTrue(device().compiler().batchInvariant(), "the backend does not say that its plans can do it");
        Stream<DynamicTest> byFormat = formats().stream()
                .map(format -> DynamicTest.dynamicTest(format.id(), () -> {
                    try (Model model = RandomModels.qwen3Like(14, format, Shape.smallFor(format))) {
                        invariant(model, PlanOptions.KvType.F32);
                    }
                }));
        return Stream.concat(
                models(model -> kvTypes().stream().sorted().forEach(type -> invariant(model, type))), byFormat);
    }

    private void invariant(Model model, PlanOptions.KvType type) {
        int[] lengths = {70, 41, 17, 5};
        Settings settings = settings(70, lengths.length, 70).withKvType(type).withBatchInvariance();
        try (PlanDriver driver = new PlanDriver(device(), model, settings)) {
            int[][] tokens = new int[lengths.length][];
            float[][][] alone = new float[lengths.length][][];
            for (int s = 0; s < lengths.length; s++) {
                tokens[s] = tokens(21 + s, lengths[s], model.vocabularySize());
                alone[s] = fedInPieces(driver, tokens[s], lengths[s]);
            }
            for (int piece : new int[] {1, 4, 5, 17, 64}) {
                assertArrayEquals(
                        alone[0], fedInPieces(driver, tokens[0], piece), model.name() + " in pieces of " + piece);
            }
            Random random = new Random(25);
            PlanDriver.Sequence[] sequences = new PlanDriver.Sequence[lengths.length];
            Arrays.setAll(sequences, s -> driver.open());
            while (sequences[0].length() < lengths[0]) {
                List<Chunk> chunks = new ArrayList<>();
                List<float[]> expected = new ArrayList<>();
                for (int s = 0; s < lengths.length; s++) {
                    int from = sequences[s].length();
                    int to = Math.min(lengths[s], from + random.nextInt(random.nextBoolean() ? 2 : 18));
                    if (to > from) {
                        chunks.add(new Chunk(sequences[s], Arrays.copyOfRange(tokens[s], from, to), true));
                        expected.addAll(List.of(alone[s]).subList(from, to));
                    }
                }
                assertArrayEquals(
                        expected.toArray(float[][]::new),
                        chunks.isEmpty() ? new float[0][] : driver.step(chunks.toArray(Chunk[]::new)),
                        model.name() + " beside others");
            }
        }
    }

    private static float[][] fedInPieces(PlanDriver driver, int[] tokens, int piece) {
        PlanDriver.Sequence sequence = driver.open();
        float[][] rows = driver.feed(sequence, tokens, piece);
        driver.release(sequence);
        return rows;
    }

    @TestFactory
    Stream<DynamicTest> sequencesWithDifferentAdaptersMixInOneStep() {
        return formats().stream()
                .filter(format -> format.id().matches("F32|F16|Q8_0"))
                .map(format -> DynamicTest.dynamicTest(format.id(), () -> {
                    try (Model model = AdapterModels.llamaLike(11, format)) {
                        assumeSupported(model);
                        adapters(model, tolerance("model", format, 256));
                    }
                }));
    }

    private void adapters(Model model, double tolerance) {
        float[][] scales = {{}, {1}, {0, -0.5f}, {0.7f, 1}};
        int[][] sizes = {{9, 5, 1, 3}, {1, 1, 1, 1}, {0, 7, 7, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 2}};
        int[] tokens = tokens(17, 24, model.vocabularySize());
        Reference reference = new Reference(model.graph(), model.weights());
        double[][][] expected = new double[scales.length][][];
        PlanDriver.Sequence[] sequences = new PlanDriver.Sequence[scales.length];
        try (PlanDriver driver = new PlanDriver(device(), model, settings(24, 4, 24))) {
            for (int s = 0; s < scales.length; s++) {
                expected[s] = reference.newSequence().adapters(scales[s]).feed(tokens);
                sequences[s] = driver.open().adapters(scales[s]);
            }
            double before = expected[0][0][0];
            assertNotEquals(before, expected[1][0][0], 0.01 * Math.abs(before), "the adapter changes next to nothing");
            for (int[] step : sizes) {
                List<Chunk> chunks = new ArrayList<>();
                List<double[]> rows = new ArrayList<>();
                for (int s = 0; s < scales.length; s++) {
                    int from = sequences[s].length();
                    if (step[s] > 0) {
                        chunks.add(new Chunk(sequences[s], Arrays.copyOfRange(tokens, from, from + step[s]), true));
                        rows.addAll(List.of(expected[s]).subList(from, from + step[s]));
                    }
                }
                float[][] got = driver.step(chunks.toArray(Chunk[]::new));
                assertClose(
                        model.name() + " step=" + Arrays.toString(step), rows.toArray(double[][]::new), got, tolerance);
            }
        }
    }

    @Test
    void aStepWithoutWantedRowsGivesNoneAndStillFillsTheCache() {
        try (Model model = llama();
                PlanDriver driver = new PlanDriver(device(), model, settings(16, 1, 32))) {
            int[] tokens = tokens(13, 17, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            PlanDriver.Sequence s = driver.open();
            assertEquals(0, driver.step(new Chunk(s, Arrays.copyOf(tokens, 16), false)).length);
            float[][] last = driver.step(new Chunk(s, new int[] {tokens[16]}, true));
            assertClose(model.name(), new double[][] {expected[16]}, last, tolerance("model", 256));
        }
    }

    @TestFactory
    Stream<DynamicTest> usedPagesCanBeUsedAgainWithoutClearing() {
        return models(this::sequencesAfterEachOther);
    }

    private void sequencesAfterEachOther(Model model) {
        try (PlanDriver driver = new PlanDriver(device(), model, settings(16, 1, 32))) {
            for (int round = 0; round < 4; round++) {
                int[] tokens = tokens(20 + round, 30 - 7 * round, model.vocabularySize());
                double[][] expected = new Reference(model.graph(), model.weights())
                        .newSequence()
                        .feed(tokens);
                PlanDriver.Sequence s = driver.open();
                float[][] got = driver.feed(s, tokens, 16);
                driver.release(s);
                assertClose(model.name() + " round=" + round, expected, got, tolerance("model", 256));
            }
        }
    }

    /// Also where few tokens and many take different kernels. A backend that cannot do it says so.
    @TestFactory
    Stream<DynamicTest> keysAndValuesMayBeOfDifferentTypes() {
        return kvTypes().stream()
                .sorted()
                .flatMap(keys -> kvTypes().stream()
                        .sorted()
                        .filter(values -> values != keys)
                        .flatMap(values -> Stream.of(16, 1)
                                .map(chunk -> DynamicTest.dynamicTest(
                                        "kv " + keys + " " + values + ", " + chunk + " at once",
                                        () -> runsWithCacheOf(keys, values, chunk)))));
    }

    private void runsWithCacheOf(PlanOptions.KvType keys, PlanOptions.KvType values, int chunk) {
        try (Model model = llama()) {
            int[] tokens = tokens(8, 45, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            Settings settings = settings(16, 1, 45).withKvTypes(keys, values);
            try (PlanDriver driver = new PlanDriver(device(), model, settings)) {
                float[][] got = driver.feed(driver.open(), tokens, chunk);
                double allowed = tolerance("model", 256) + kvTolerance(keys) + kvTolerance(values);
                assertClose(model.name() + " kv=" + keys + "," + values, expected, got, allowed);
            } catch (UnsupportedModelException e) {
                assertEquals(ErrorCode.BACKEND_UNSUPPORTED, e.code());
                assertTrue(
                        e.getMessage().contains(keys.name()) && e.getMessage().contains(values.name()), e.getMessage());
                assumeTrue(false, e.getMessage());
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> aCopiedPageLivesOnItsOwn() {
        return kvTypes().stream()
                .sorted()
                .map(type -> DynamicTest.dynamicTest("kv " + type, () -> {
                    try (Model model = llama()) {
                        double allowed = tolerance("model", 256) + kvTolerance(type);
                        copy(model, settings(16, 3, 32).withKvType(type), allowed);
                    }
                }));
    }

    @Test
    void aCopiedStateLivesOnItsOwn() {
        try (Model model = withStates()) {
            assumeSupported(model);
            copy(model, settings(16, 3, 32), tolerance("model", 256));
        }
    }

    private void copy(Model model, Settings settings, double allowed) {
        try (PlanDriver driver = new PlanDriver(device(), model, settings)) {
            Reference reference = new Reference(model.graph(), model.weights());
            int[] prefix = tokens(30, 13, model.vocabularySize());
            int[] left = tokens(31, 6, model.vocabularySize());
            int[] right = tokens(32, 6, model.vocabularySize());
            Reference.Sequence leftTruth = reference.newSequence();
            leftTruth.feed(prefix);
            Reference.Sequence rightTruth = reference.newSequence();
            rightTruth.feed(prefix);
            PlanDriver.Sequence original = driver.open();
            driver.feed(original, prefix, 16);
            PlanDriver.Sequence copy = driver.fork(original);
            Optional<PlanDriver.Sequence> restored = driver.forkThroughHost(original);
            float[][] gotRight = driver.step(new Chunk(copy, right, true));
            float[][] gotLeft = driver.step(new Chunk(original, left, true));
            assertClose(model.name() + " copy", rightTruth.feed(right), gotRight, allowed);
            assertClose(model.name() + " original", leftTruth.feed(left), gotLeft, allowed);
            if (restored.isPresent()) {
                float[][] gotAgain = driver.step(new Chunk(restored.get(), right, true));
                assertArrayEquals(gotRight, gotAgain, model.name() + " copied by way of the host");
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> fusionDoesNotChangeLogits() {
        List<DynamicTest> tests = new ArrayList<>();
        for (QuantFormat format : formats()) {
            tests.add(DynamicTest.dynamicTest(format.id(), () -> {
                Shape shape = Shape.smallFor(format);
                try (Model model = RandomModels.qwen3Like(14, format, shape)) {
                    int[] tokens = tokens(15, 19, model.vocabularySize());
                    float[][] fused;
                    float[][] plain;
                    try (PlanDriver driver = new PlanDriver(device(), model, settings(16, 1, 32))) {
                        fused = driver.feed(driver.open(), tokens, 16);
                    }
                    Settings unfused = settings(16, 1, 32).withFuse(false);
                    try (PlanDriver driver = new PlanDriver(device(), model, unfused)) {
                        plain = driver.feed(driver.open(), tokens, 16);
                    }
                    double allowed = tolerance("model", format, 4 * shape.embeddingLength());
                    assertClose(model.name(), Closeness.widen(plain), fused, allowed);
                }
            }));
        }
        return tests.stream();
    }

    @Test
    void twoPlansOfOneDeviceDoNotDisturbEachOther() {
        MemoryUse before = device().allocator().use();
        try (Model a = llama();
                Model b = qwen3();
                PlanDriver first = new PlanDriver(device(), a, settings(8, 1, 32));
                PlanDriver second = new PlanDriver(device(), b, settings(8, 1, 32))) {
            int[] tokens = tokens(16, 12, a.vocabularySize());
            double[][] truthA =
                    new Reference(a.graph(), a.weights()).newSequence().feed(tokens);
            double[][] truthB =
                    new Reference(b.graph(), b.weights()).newSequence().feed(tokens);
            PlanDriver.Sequence s = first.open();
            PlanDriver.Sequence t = second.open();
            for (int i = 0; i < tokens.length; i++) {
                float[][] gotA = first.step(new Chunk(s, new int[] {tokens[i]}, true));
                float[][] gotB = second.step(new Chunk(t, new int[] {tokens[i]}, true));
                assertClose(a.name() + " token " + i, new double[][] {truthA[i]}, gotA, tolerance("model", 256));
                assertClose(b.name() + " token " + i, new double[][] {truthB[i]}, gotB, tolerance("model", 256));
            }
            assertNotEquals(before, device().allocator().use(), "two open plans leave no trace in the memory report");
        }
        assertEquals(before, device().allocator().use(), "memory in use after both plans are closed");
    }

    /// What `tenon compare` asks for.
    @TestFactory
    Stream<DynamicTest> theOutputOfEachOpMayBeTheGraphs() {
        List<DynamicTest> tests = new ArrayList<>();
        for (boolean fuse : new boolean[] {true, false}) {
            for (Model made : List.of(llama(), qwen3())) {
                tests.add(DynamicTest.dynamicTest(made.graph().name() + (fuse ? " fused" : ""), () -> {
                    try (Model model = made) {
                        for (int op = 0; op < model.graph().ops().size(); op++) {
                            cut(model, op, fuse);
                        }
                    }
                }));
            }
        }
        return tests.stream();
    }

    private void cut(Model model, int op, boolean fuse) {
        Graph graph = Cut.after(model.graph(), op);
        String name = model.graph().ops().get(op).outputs().getFirst().name() + " of " + model.name();
        int[] tokens = tokens(20, 6, model.vocabularySize());
        double[][] expected =
                new Reference(graph, model.weights()).newSequence().feed(tokens);
        Model until = new Model(name, graph, model.weights(), model.vocabularySize());
        try (PlanDriver driver =
                new PlanDriver(device(), until, settings(8, 1, 8).withFuse(fuse))) {
            assertClose(name, expected, driver.feed(driver.open(), tokens, 5), tolerance("model", 256));
        }
    }
}
