package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static dev.tenon.itest.testkit.Closeness.assertCloseTo;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.RopeParams;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The part of [BackendContract] that is about numbers: every op, format and batch against [Reference].
///
/// A backend that rounds activations more coarsely than to float32 overrides [#tolerance(String, int)]. The
/// rest of the contract (limits, life cycle, errors) is in [BackendContract].
public abstract class BackendNumbersContract extends BackendUnderTest {
    /// For subclasses.
    protected BackendNumbersContract() {}

    // --- what it says of itself

    @Test
    void describesItselfAndItsDevices() {
        Backend backend = backend();
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
        assertTrue(ids.contains(device().info().id()), "the open device is not in the list");
    }

    @Test
    void anUnknownDeviceIsRefusedByName() {
        Backend backend = backend();
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
                PlanDriver driver = new PlanDriver(device(), model, settings(64, 1, 64))) {
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
                    PlanDriver driver = new PlanDriver(device(), model, settings(512, 1, 3000))) {
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
                            PlanDriver driver = new PlanDriver(device(), model, settings(21, 1, 21))) {
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
                        try (PlanDriver driver = new PlanDriver(device(), model, settings)) {
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
            try (PlanDriver driver = new PlanDriver(device(), model, settings(8, 1, 1))) {
                perPage = driver.plan().kvPages().tokensPerPage();
            }
            assertTrue(perPage >= 1, "tokensPerPage is " + perPage);
            int length = Math.min(2 * perPage + 5, 300);
            int[] tokens = tokens(9, length, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            try (PlanDriver driver = new PlanDriver(device(), model, settings(64, 1, length))) {
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
        try (PlanDriver driver = new PlanDriver(device(), model, settings(1, 1, position + 1))) {
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

    private static int[] oddWidths(QuantFormat format) {
        int block = format.blockSize();
        return block == 1 ? new int[] {1, 7, 33, 64, 130, 257} : new int[] {block, 2 * block, 3 * block, 5 * block};
    }
}
