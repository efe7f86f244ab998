package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static dev.tenon.itest.testkit.Closeness.assertCloseTo;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// The part of [BackendContract] that is about numbers: every op, format and batch against [Reference].
///
/// Numbers are compared with [Reference]. A backend that rounds activations more coarsely than to
/// float32 overrides [#tolerance(String, int)]. Where the hardware is missing, the tests are
/// skipped with the probe's reason, unless [#mustBeAvailable()] says otherwise. The rest of the
/// contract (limits, life cycle, errors) is in [BackendContract].
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BackendNumbersContract {
    private Backend backend;
    private Device device;

    /// For subclasses.
    protected BackendNumbersContract() {}

    /// {@return the backend under test}
    protected abstract Backend backend();

    /// {@return the formats that it is tested with}
    protected abstract Collection<QuantFormat> formats();

    /// {@return whether missing hardware fails the tests instead of skipping them}
    protected boolean mustBeAvailable() {
        return false;
    }

    /// {@return how to open the device}
    protected DeviceOptions deviceOptions() {
        return DeviceOptions.defaults();
    }

    /// {@return the element types of the KV cache that it offers}
    protected Set<PlanOptions.KvType> kvTypes() {
        return Set.of(PlanOptions.KvType.values());
    }

    /// {@return whether sizes of real models are tested, too: minutes on a CPU}
    protected boolean large() {
        return false;
    }

    /// {@return kernels of other bundles that plans are compiled with; none by default}
    protected Collection<KernelProvider> kernels() {
        return List.of();
    }

    /// {@return how far a number may be off, as a fraction of the root mean square of its rows; the
    ///     default suits float32 activations}
    ///
    /// @param what the case, starting with the kind of op or `model`
    /// @param n terms of the longest sum in it
    protected double tolerance(String what, int n) {
        return 1e-5 * Math.sqrt(n);
    }

    /// {@return how far a number may be off where weights are in a format; the default does not look at it}
    ///
    /// @param what the case, starting with the kind of op or `model`
    /// @param format format of the weights; a backend may round activations more coarsely for some
    /// @param n terms of the longest sum in it
    protected double tolerance(String what, QuantFormat format, int n) {
        return tolerance(what, n);
    }

    /// {@return how far logits may be off because of the KV cache's element type}
    ///
    /// @param type element type of keys and values
    protected double kvTolerance(PlanOptions.KvType type) {
        return switch (type) {
            case F32 -> 0;
            case F16 -> 5e-3;
            case Q8_0 -> 6e-2;
        };
    }

    /// {@return the open device, shared by the tests; closed by this class}
    protected final Device device() {
        return device;
    }

    @BeforeAll
    final void openDevice() {
        backend = backend();
        Probe probe = backend.probe();
        if (!mustBeAvailable()) {
            assumeTrue(probe.available(), () -> backend.id() + " is not available here: " + probe.reason());
        }
        assertTrue(probe.available(), () -> backend.id() + " is not available: " + probe.reason());
        device = backend.open(deviceOptions());
    }

    @AfterAll
    final void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    // --- what it says of itself

    @Test
    void describesItselfAndItsDevices() {
        assertFalse(backend.id().isBlank(), "id");
        assertEquals(backend.id(), backend.id().strip(), "id has blanks around it");
        assertFalse(backend.probe().reason().isBlank(), "the probe gives no reason");
        List<DeviceInfo> devices = backend.devices();
        assertFalse(devices.isEmpty(), "available, but without a device");
        assertEquals(
                devices.stream().map(DeviceInfo::id).toList(),
                backend.devices().stream().map(DeviceInfo::id).toList(),
                "the order of devices changes");
        Set<String> ids = new HashSet<>();
        for (DeviceInfo info : devices) {
            assertTrue(ids.add(info.id()), "device id " + info.id() + " appears twice");
            assertFalse(info.kind().isBlank(), "device " + info.id() + " has no kind");
            assertFalse(info.name().isBlank(), "device " + info.id() + " has no name");
            assertTrue(info.memoryBytes() >= 0, "memory of device " + info.id());
        }
        assertTrue(ids.contains(device.info().id()), "the open device is not in the list");
    }

    @Test
    void anUnknownDeviceIsRefusedByName() {
        BackendException e = assertThrows(
                BackendException.class,
                () -> backend.open(
                        DeviceOptions.builder().deviceId("no-such-device").build()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("no-such-device"), e.getMessage());
    }

    // --- numbers

    @TestFactory
    Stream<DynamicTest> everyCoreOpMatchesTheReference() {
        return OpCases.all().stream()
                .map(c -> DynamicTest.dynamicTest(c.name(), () -> {
                    try (Model model = c.model().get()) {
                        if (c.optional()) {
                            assumeSupported(model);
                        }
                        int[] chunks = c.oneStep() ? new int[] {40} : new int[] {40, 17, 1};
                        compareChunks(
                                model, tokens(3, 40, model.vocabularySize()), chunks, tolerance(kind(model), c.n()));
                    }
                }));
    }

    /// Skips a test where the backend says that it does not run one of the ops.
    final void assumeSupported(Model model) {
        for (Op op : model.graph().ops()) {
            Support support = device.compiler().supports(op, model.weights(), kernels());
            assumeTrue(support.level() != Support.Level.NONE, () -> backend.id() + ": " + support.reason());
        }
    }

    @TestFactory
    Stream<DynamicTest> expertsMatchTheReferenceInEveryFormat() {
        return formats().stream()
                .map(format -> DynamicTest.dynamicTest("experts " + format.id(), () -> {
                    int unit = Math.ceilDiv(32, format.blockSize()) * format.blockSize();
                    try (Model model = ExpertCases.inFormat(format, 2 * unit, unit)) {
                        assumeSupported(model);
                        double allowed = tolerance("experts", format, 4 * unit);
                        compareChunks(model, tokens(3, 40, model.vocabularySize()), new int[] {40, 17, 1}, allowed);
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> matricesOfHeadsMatchTheReferenceInEveryFormat() {
        return formats().stream()
                .map(format -> DynamicTest.dynamicTest("heads " + format.id(), () -> {
                    int cols = Math.ceilDiv(32, format.blockSize()) * format.blockSize();
                    try (Model model = StateOpCases.heads(format, 3, cols, 33)) {
                        assumeSupported(model);
                        double allowed = tolerance("linear", format, cols);
                        compareChunks(model, tokens(3, 40, model.vocabularySize()), new int[] {40, 17, 1}, allowed);
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> expertsOfManyTokensMatchTheReference() {
        return ExpertCases.all().stream()
                .map(c -> DynamicTest.dynamicTest(c.name(), () -> {
                    try (Model model = c.model().get()) {
                        assumeSupported(model);
                        int[] tokens = tokens(3, 300, model.vocabularySize());
                        compareChunks(model, tokens, new int[] {300, 40}, tolerance(kind(model), c.n()));
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> linearMatchesTheReferenceInEveryFormat() {
        List<DynamicTest> tests = new ArrayList<>();
        for (QuantFormat format : formats()) {
            for (int cols : oddWidths(format)) {
                for (int rows : new int[] {1, 3, 17, 67}) {
                    boolean bias = rows == 17;
                    tests.add(DynamicTest.dynamicTest(
                            "linear " + format.id() + " " + rows + "x" + cols + (bias ? " bias" : ""),
                            () -> linear(format, cols, rows, bias)));
                }
            }
        }
        return tests.stream();
    }

    private void linear(QuantFormat format, int cols, int rows, boolean bias) {
        try (Model model = RandomModels.linear(5, format, cols, rows, bias);
                PlanDriver driver = new PlanDriver(device, model, settings(64, 1, 64))) {
            int[] tokens = tokens(4, 64, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            for (int count : new int[] {1, 2, 3, 4, 5, 8, 13, 16, 33, 64}) {
                PlanDriver.Sequence s = driver.open();
                float[][] got = driver.step(new Chunk(s, Arrays.copyOf(tokens, count), true));
                driver.release(s);
                String name = model.name() + " tokens=" + count;
                assertCloseTo(name, expected, got, count, tolerance("linear", format, cols));
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> sizesOfRealModelsMatchTheReference() {
        assumeTrue(large(), "sizes of real models are left to 'tenon itest --large'");
        List<DynamicTest> tests = new ArrayList<>();
        for (QuantFormat format : formats()) {
            int block = format.blockSize();
            for (int[] shape : new int[][] {{4096, 1024}, {11_008, 257}, {896, 4864}}) {
                int cols = Math.max(1, shape[0] / block) * block;
                tests.add(DynamicTest.dynamicTest(
                        "linear " + format.id() + " " + shape[1] + "x" + cols,
                        () -> linear(format, cols, shape[1], false)));
            }
            int unit = 64 * (block == 1 ? 1 : Math.max(1, block / 64));
            Shape shape = new Shape(4, 8 * unit, 8, 2, unit, 24 * unit, 1031);
            tests.add(DynamicTest.dynamicTest("model " + format.id(), () -> {
                try (Model model = RandomModels.qwen3Like(18, format, shape)) {
                    compare(model, tokens(18, 40, model.vocabularySize()), format, 8 * shape.embeddingLength());
                }
            }));
        }
        tests.add(DynamicTest.dynamicTest("attention over 3000 positions", () -> {
            try (Model model = llama();
                    PlanDriver driver = new PlanDriver(device, model, settings(512, 1, 3000))) {
                int[] tokens = tokens(19, 3000, model.vocabularySize());
                double[][] expected = new Reference(model.graph(), model.weights())
                        .newSequence()
                        .feed(tokens);
                float[][] got = driver.feed(driver.open(), tokens, 512);
                assertClose(model.name() + " length=3000", expected, got, tolerance("model", 4 * 3000));
            }
        }));
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> embeddingGivesTheDecodedRowsInEveryFormat() {
        List<DynamicTest> tests = new ArrayList<>();
        for (QuantFormat format : formats()) {
            for (int width : oddWidths(format)) {
                tests.add(DynamicTest.dynamicTest("embedding " + format.id() + " width=" + width, () -> {
                    try (Model model = RandomModels.embedding(6, format, width)) {
                        compare(model, tokens(5, 20, model.vocabularySize()), format, 1);
                    }
                }));
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> wholeModelsMatchTheReferenceInEveryFormat() {
        List<DynamicTest> tests = new ArrayList<>();
        // The first test makes a backend that compiles kernels do so for all formats at once.
        tests.add(DynamicTest.dynamicTest("compiled at the same time", this::compileInAllFormatsAtOnce));
        for (QuantFormat format : formats()) {
            Shape shape = Shape.smallFor(format);
            tests.add(DynamicTest.dynamicTest("llama-like " + format.id(), () -> {
                try (Model model = RandomModels.llamaLike(8, format, shape)) {
                    compare(model, tokens(6, 21, model.vocabularySize()), format, 4 * shape.embeddingLength());
                }
            }));
            tests.add(DynamicTest.dynamicTest("qwen3-like " + format.id(), () -> {
                try (Model model = RandomModels.qwen3Like(9, format, shape)) {
                    compare(model, tokens(7, 21, model.vocabularySize()), format, 4 * shape.embeddingLength());
                }
            }));
        }
        return tests.stream();
    }

    private void compileInAllFormatsAtOnce() throws Exception {
        int atOnce =
                Math.min(Math.max(1, formats().size()), Runtime.getRuntime().availableProcessors());
        try (ExecutorService pool = Executors.newFixedThreadPool(atOnce)) {
            List<Future<?>> compiled = new ArrayList<>();
            for (QuantFormat format : formats()) {
                compiled.add(pool.submit(() -> {
                    try (Model model = RandomModels.qwen3Like(9, format, Shape.smallFor(format));
                            PlanDriver driver = new PlanDriver(device, model, settings(21, 1, 21))) {
                        driver.feed(driver.open(), tokens(7, 21, model.vocabularySize()), 21);
                    }
                }));
            }
            for (Future<?> each : compiled) {
                each.get();
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> everyCacheTypeKeepsItsPrecision() {
        return kvTypes().stream()
                .sorted()
                .map(type -> DynamicTest.dynamicTest("kv " + type, () -> {
                    try (Model model = llama()) {
                        int[] tokens = tokens(8, 45, model.vocabularySize());
                        double[][] expected = new Reference(model.graph(), model.weights())
                                .newSequence()
                                .feed(tokens);
                        Settings settings = settings(16, 1, 45).withKvType(type);
                        try (PlanDriver driver = new PlanDriver(device, model, settings)) {
                            float[][] got = driver.feed(driver.open(), tokens, 16);
                            double allowed = tolerance("model", 256) + kvTolerance(type);
                            assertClose(model.name() + " kv=" + type, expected, got, allowed);
                        }
                    }
                }));
    }

    @Test
    void aSequenceRunsOverManyPages() {
        try (Model model = llama()) {
            int perPage;
            try (PlanDriver driver = new PlanDriver(device, model, settings(8, 1, 1))) {
                perPage = driver.plan().kvPages().tokensPerPage();
            }
            assertTrue(perPage >= 1, "tokensPerPage is " + perPage);
            int length = Math.min(2 * perPage + 5, 300);
            int[] tokens = tokens(9, length, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            try (PlanDriver driver = new PlanDriver(device, model, settings(64, 1, length))) {
                float[][] got = driver.feed(driver.open(), tokens, 29);
                assertClose(model.name() + " length=" + length, expected, got, tolerance("model", 4 * length));
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> rotationStaysPreciseAtFarPositions() {
        return Stream.of(RopeParams.Pairing.values())
                .map(pairing -> DynamicTest.dynamicTest(pairing.toString(), () -> {
                    RopeParams params = RopeParams.builder(64, pairing, 10_000).build();
                    try (Model model =
                            RandomModels.ops("rope", 17, 128, TestFormats.F32, (b, x) -> b.rope("r", x, params))) {
                        for (int position : new int[] {511, 4095, 30_001}) {
                            farPosition(model, position);
                        }
                    }
                }));
    }

    /// There is no attention in the graph, so the positions before need not have been run.
    private void farPosition(Model model, int position) {
        try (PlanDriver driver = new PlanDriver(device, model, settings(1, 1, position + 1))) {
            StepInput input = new StepInput();
            input.addSequence(
                    IntStream.range(0, driver.plan().kvPages().pageCount()).toArray());
            input.addToken(5, position, true);
            double[][] expected =
                    new Reference(model.graph(), model.weights()).evaluate(new int[] {5}, new int[] {position}, null);
            float[][] got = driver.rows(driver.plan().run(input));
            // Angles that are computed in float32 lose 2^-24 of the position.
            assertClose(
                    model.name() + " position=" + position, expected, got, tolerance("rope", 16) + position * 0x1p-24);
        }
    }

    // --- helpers for this class and its extensions

    /// Limits of a plan that gets [#kernels()].
    final Settings settings(int maxTokens, int maxSequences, int positions) {
        return Settings.of(maxTokens, maxSequences, positions).withKernels(kernels());
    }

    final Model llama() {
        return RandomModels.llamaLike(1, TestFormats.F32, Shape.smallFor(TestFormats.F32));
    }

    final Model qwen3() {
        return RandomModels.qwen3Like(2, TestFormats.F32, Shape.smallFor(TestFormats.F32));
    }

    /// {@return random token ids}
    ///
    /// @param seed seed
    /// @param n how many
    /// @param vocabularySize ids are 0 to this - 1
    protected static int[] tokens(long seed, int n, int vocabularySize) {
        return new Random(seed).ints(n, 0, vocabularySize).toArray();
    }

    private static int[] oddWidths(QuantFormat format) {
        int block = format.blockSize();
        return block == 1 ? new int[] {1, 7, 33, 64, 130, 257} : new int[] {block, 2 * block, 3 * block, 5 * block};
    }

    /// Runs tokens in chunks of 1, 17 and all, and compares every row with the reference.
    ///
    /// @param model graph and weights
    /// @param tokens token ids
    /// @param n terms of the longest sum
    protected final void compare(Model model, int[] tokens, int n) {
        compare(model, tokens, null, n);
    }

    /// As [#compare(Model, int[], int)], for weights in a format.
    ///
    /// @param model graph and weights
    /// @param tokens token ids
    /// @param format format of the weights, or null for float32
    /// @param n terms of the longest sum
    protected final void compare(Model model, int[] tokens, QuantFormat format, int n) {
        String kind = kind(model);
        double allowed = format == null ? tolerance(kind, n) : tolerance(kind, format, n);
        compareChunks(model, tokens, new int[] {tokens.length, 17, 1}, allowed);
    }

    private static String kind(Model model) {
        return model.graph().weights().size() > 6 ? "model" : model.graph().name();
    }

    private void compareChunks(Model model, int[] tokens, int[] chunks, double allowed) {
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        try (PlanDriver driver = new PlanDriver(device, model, settings(tokens.length, 1, tokens.length))) {
            for (int chunk : chunks) {
                PlanDriver.Sequence s = driver.open();
                float[][] got = driver.feed(s, tokens, chunk);
                driver.release(s);
                assertClose(model.name() + " chunk=" + chunk, expected, got, allowed);
            }
        }
    }
}
