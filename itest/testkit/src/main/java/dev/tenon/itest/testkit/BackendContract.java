package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What every backend has to do: extend this class, name the backend and the formats, and run it with
/// JUnit.
///
/// ```java
/// class MyBackendTests extends BackendContract {
///     protected Backend backend() { return new MyBackend(); }
///     protected Collection<QuantFormat> formats() { return List.of(new MyFormat()); }
/// }
/// ```
///
/// Numbers ([BackendNumbersContract]), batches ([BackendBatchContract]), opening and closing and threads
/// ([BackendLifeContract]), steps that run again ([BackendReplayContract]), limits, memory, errors, and agreement of
/// `supports` with `compile`. The hooks are the
/// protected methods.
public abstract class BackendContract extends BackendLifeContract {
    /// For subclasses.
    protected BackendContract() {}

    // --- limits: each is refused, and the plan goes on working

    private record BadStep(String name, Consumer<StepInput> fill) {}

    private static final int MAX_TOKENS = 8;
    private static final int MAX_SEQUENCES = 2;

    @TestFactory
    Stream<DynamicTest> aStepBeyondTheLimitsIsRefusedAndThePlanGoesOn() {
        int vocabularySize = 67;
        int[] page = {0};
        return Stream.of(
                        new BadStep("one token too many", in -> {
                            in.addSequence(page);
                            for (int t = 0; t <= MAX_TOKENS; t++) {
                                in.addToken(1, t, true);
                            }
                        }),
                        new BadStep("one sequence too many", in -> {
                            for (int s = 0; s <= MAX_SEQUENCES; s++) {
                                in.addSequence(new int[] {s % 2});
                                in.addToken(1, 0, true);
                            }
                        }),
                        new BadStep("position beyond the page table", in -> {
                            in.addSequence(new int[0]);
                            in.addToken(1, 0, true);
                        }),
                        new BadStep("far position beyond the page table", in -> {
                            in.addSequence(page);
                            in.addToken(1, Integer.MAX_VALUE, true);
                        }),
                        new BadStep("negative position", in -> {
                            in.addSequence(page);
                            in.addToken(1, -1, true);
                        }),
                        new BadStep("page that does not exist", in -> {
                            in.addSequence(new int[] {1_000_000});
                            in.addToken(1, 0, true);
                        }),
                        new BadStep("negative page", in -> {
                            in.addSequence(new int[] {-1});
                            in.addToken(1, 0, true);
                        }),
                        new BadStep("token beyond the vocabulary", in -> {
                            in.addSequence(page);
                            in.addToken(vocabularySize, 0, true);
                        }),
                        new BadStep("huge token", in -> {
                            in.addSequence(page);
                            in.addToken(Integer.MAX_VALUE, 0, true);
                        }),
                        new BadStep("negative token", in -> {
                            in.addSequence(page);
                            in.addToken(-1, 0, true);
                        }))
                .map(bad -> DynamicTest.dynamicTest(bad.name(), () -> refuses(bad)));
    }

    private void refuses(BadStep bad) {
        try (Model model = llama();
                PlanDriver driver = new PlanDriver(device(), model, Settings.of(MAX_TOKENS, MAX_SEQUENCES, 8))) {
            StepInput input = new StepInput();
            bad.fill().accept(input);
            assertThrows(IllegalArgumentException.class, () -> driver.plan().run(input), bad.name());
            int[] tokens = tokens(40, 8, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            float[][] got = driver.step(new Chunk(driver.open(), tokens, true));
            assertClose("after " + bad.name(), expected, got, tolerance("model", 256));
        }
    }

    @Test
    void anEmptyStepGivesNoRows() {
        try (Model model = llama();
                PlanDriver driver = new PlanDriver(device(), model, Settings.of(4, 1, 8))) {
            assertEquals(0, driver.plan().run(new StepInput()).rows());
        }
    }

    @Test
    void theCacheHoldsAtLeastWhatWasAskedFor() {
        try (Model model = llama()) {
            for (int kvTokens : new int[] {1, 100, 1000}) {
                try (Plan plan =
                        device().compiler().compile(Settings.of(4, 1, 8).request(model, kvTokens))) {
                    long room =
                            (long) plan.kvPages().pageCount() * plan.kvPages().tokensPerPage();
                    assertTrue(room >= kvTokens, "asked for " + kvTokens + " positions, got " + room);
                    assertTrue(room < kvTokens + plan.kvPages().tokensPerPage(), "more than whole pages: " + room);
                    assertTrue(plan.kvPages().pageBytes() > 0, "pageBytes");
                }
            }
        }
    }

    // --- memory

    @Test
    void allocatedMemoryIsZeroedCountedAndCheckedForBounds() {
        Allocator allocator = device().allocator();
        MemoryUse before = allocator.use();
        try (Arena arena = Arena.ofConfined();
                DeviceBuffer buffer = allocator.allocate(1000, "test")) {
            assertTrue(buffer.sizeBytes() >= 1000, "size " + buffer.sizeBytes());
            assertTrue(allocator.use().allocatedBytes() >= before.allocatedBytes() + 1000, "not counted");
            MemorySegment back = arena.allocate(1000);
            back.fill((byte) 9);
            buffer.read(0, back);
            for (int i = 0; i < 1000; i++) {
                assertEquals(0, back.get(ValueLayout.JAVA_BYTE, i), "byte " + i + " of fresh memory");
            }
            MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1, (byte) 2, (byte) 3);
            buffer.write(997, source);
            buffer.read(0, back);
            assertEquals(3, back.get(ValueLayout.JAVA_BYTE, 999));
            assertEquals(0, back.get(ValueLayout.JAVA_BYTE, 996));
            MemorySegment tooLong = arena.allocate(buffer.sizeBytes() + 1);
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.write(0, tooLong));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.read(0, tooLong));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.write(-1, source));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.write(buffer.sizeBytes() - 2, source));
        }
        assertEquals(before, allocator.use(), "after close");
    }

    @Test
    void boundMemoryShowsTheHostsBytes() {
        Allocator allocator = device().allocator();
        MemoryUse before = allocator.use();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment host = arena.allocate(4096);
            for (int i = 0; i < 4096; i++) {
                host.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
            }
            DeviceBuffer buffer = allocator.bind(host.asReadOnly(), "test");
            MemorySegment back = arena.allocate(4096);
            buffer.read(0, back);
            assertEquals(-1, host.mismatch(back), "first different byte");
            buffer.close();
            buffer.close();
        }
        assertEquals(before, allocator.use(), "after close");
    }

    @Test
    void moreMemoryThanThereIsIsRefusedWithNumbers() {
        MemoryUse before = device().allocator().use();
        long asked = Long.MAX_VALUE / 4;
        OutOfResourcesException e = assertThrows(
                OutOfResourcesException.class, () -> device().allocator().allocate(asked, "test"));
        assertEquals(ErrorCode.MEMORY, e.code());
        assertEquals(asked, e.asked(), "asked");
        assertEquals(before, device().allocator().use(), "after the refusal");
    }

    @Test
    void aCacheThatDoesNotFitIsRefusedAndEverythingIsGivenBack() {
        MemoryUse before = device().allocator().use();
        Shape wide = new Shape(8, 64, 4, 4, 128, 64, 67);
        try (Model model = RandomModels.llamaLike(3, TestFormats.F32, wide)) {
            CompileRequest request = Settings.of(4, 1, 8).request(model, Integer.MAX_VALUE - 1024);
            OutOfResourcesException e = assertThrows(OutOfResourcesException.class, () -> {
                try (Plan plan = device().compiler().compile(request)) {
                    fail("a cache of " + plan.kvPages().pageCount() + " pages was allocated");
                }
            });
            assertEquals(ErrorCode.MEMORY, e.code());
        }
        assertEquals(before, device().allocator().use(), "after the refusal");
    }

    @Test
    void aCompileThatFailsHalfWayGivesEverythingBack() {
        MemoryUse before = device().allocator().use();
        try (Model model = llama()) {
            CompileRequest whole = Settings.of(4, 1, 8).request(model, 8);
            AtomicInteger left = new AtomicInteger();
            for (int lookUps = 0; lookUps < 60; lookUps += 7) {
                left.set(lookUps);
                Weights failing = new ForeignParts.FailingWeights(model.weights(), left);
                CompileRequest request = CompileRequest.builder(whole.graph(), failing, whole.options())
                        .kernels(whole.kernels())
                        .build();
                try (Plan plan = device().compiler().compile(request)) {
                    assertTrue(plan.kvPages().pageCount() > 0, "compiled without looking at the weight");
                } catch (IllegalStateException e) {
                    assertEquals(ForeignParts.FailingWeights.REASON, e.getMessage());
                }
                assertEquals(before, device().allocator().use(), "after a failure at look-up " + lookUps);
            }
        }
    }

    // --- supports and compile

    @Test
    void anUnknownOpIsRefusedWithItsKind() {
        MemoryUse before = device().allocator().use();
        try (Model model = RandomModels.ops("strange", 1, 16, TestFormats.F32, (b, x) -> strange(b, x))) {
            Op op = model.graph().ops().get(1);
            Support support = device().compiler().supports(op, model.weights(), List.of());
            assertEquals(Support.Level.NONE, support.level(), support.reason());
            assertFalse(support.reason().isBlank(), "no reason");
            UnsupportedModelException e = assertThrows(
                    UnsupportedModelException.class,
                    () -> device().compiler().compile(Settings.of(4, 1, 8).request(model, 8)));
            assertEquals(ErrorCode.BACKEND_UNSUPPORTED, e.code());
            assertEquals(2, e.issues().size(), "two ops are not supported: " + e.issues());
            assertTrue(e.getMessage().contains("testkit_strange"), e.getMessage());
        }
        assertEquals(before, device().allocator().use(), "after the refusal");
    }

    private static Value strange(GraphBuilder b, Value x) {
        Value first = b.value("first", x.width());
        b.add(new ForeignParts.StrangeOp(x, first));
        Value second = b.value("second", x.width());
        b.add(new ForeignParts.StrangeOp(first, second));
        return second;
    }

    @TestFactory
    Stream<DynamicTest> aCacheTypeThatIsNotOfferedIsRefused() {
        return Stream.of(PlanOptions.KvType.values())
                .filter(type -> !kvTypes().contains(type))
                .map(type -> DynamicTest.dynamicTest("kv " + type, () -> {
                    try (Model model = llama()) {
                        CompileRequest request =
                                Settings.of(4, 1, 8).withKvType(type).request(model, 8);
                        UnsupportedModelException e = assertThrows(
                                UnsupportedModelException.class,
                                () -> device().compiler().compile(request));
                        assertEquals(ErrorCode.BACKEND_UNSUPPORTED, e.code());
                        assertTrue(e.getMessage().contains(type.name()), e.getMessage());
                    }
                }));
    }

    @Test
    void anUnknownCustomOpRunsThroughItsExpansion() {
        try (Model model = RandomModels.ops("custom", 1, 16, TestFormats.F32, (b, x) -> {
            Value scaled = b.value("scaled", x.width());
            Value out = b.value("out", x.width());
            b.add(new ForeignParts.ThirdPartyOp(x, scaled, out));
            return out;
        })) {
            Support support = device().compiler().supports(model.graph().ops().get(1), model.weights(), List.of());
            assertFalse(support.level() == Support.Level.NONE, support.reason());
            compare(model, tokens(42, 10, model.vocabularySize()), 2);
        }
    }

    @TestFactory
    Stream<DynamicTest> everyFormatOpsSupportIsKeptByCompile() {
        return Stream.concat(formats().stream(), Stream.of(TestFormats.UNHEARD_OF))
                .map(format -> DynamicTest.dynamicTest(format.id(), () -> {
                    try (Model model = RandomModels.qwen3Like(4, format, Shape.smallFor(format))) {
                        Compiler compiler = device().compiler();
                        for (Graph graph : List.of(model.graph(), Fusion.fuse(model.graph()))) {
                            for (Op op : graph.ops()) {
                                Support support = compiler.supports(op, model.weights(), List.of());
                                assertFalse(
                                        support.level() == Support.Level.NONE,
                                        op.kind() + " in " + format.id() + ": " + support.reason());
                                assertFalse(support.reason().isBlank(), op.kind() + ": no reason");
                            }
                        }
                        try (Plan plan = compiler.compile(Settings.of(4, 1, 8).request(model, 8))) {
                            runOneToken(plan);
                        }
                    }
                }));
    }

    @Test
    void aFormatNobodyHasHeardOfRunsThroughItsDecoder() {
        QuantFormat format = TestFormats.UNHEARD_OF;
        try (Model model = RandomModels.linear(7, format, 3 * format.blockSize(), 19, false)) {
            compare(model, tokens(43, 20, model.vocabularySize()), format, 3 * format.blockSize());
        }
        try (Model model = RandomModels.llamaLike(7, format, Shape.smallFor(format))) {
            compare(model, tokens(44, 20, model.vocabularySize()), format, 256);
        }
    }

    @Test
    void aKernelOfTheFormatsBundleIsUsedOnCpuDevices() {
        assumeTrue(device().info().kind().equals("cpu"), "linear kernels are for devices of kind cpu");
        QuantFormat format = TestFormats.UNHEARD_OF;
        AtomicInteger calls = new AtomicInteger();
        List<Kernel> kernels = List.of(new ForeignParts.OfferedKernel(format, calls));
        Settings settings = Settings.of(16, 1, 32).withKernels(List.of(() -> kernels));
        try (Model model = RandomModels.llamaLike(7, format, Shape.smallFor(format));
                PlanDriver driver = new PlanDriver(device(), model, settings)) {
            int[] tokens = tokens(45, 16, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            float[][] got = driver.feed(driver.open(), tokens, 9);
            assertClose(model.name(), expected, got, tolerance("model", 256));
            assertTrue(calls.get() > 0, "the offered kernel was never called");
        }
    }

    @Test
    void theReportTellsEveryStepAndTheBytesOfAToken() {
        try (Model model = llama();
                PlanDriver fused = new PlanDriver(device(), model, Settings.of(4, 1, 8));
                PlanDriver plain =
                        new PlanDriver(device(), model, Settings.of(4, 1, 8).withFuse(false))) {
            for (PlanDriver driver : List.of(fused, plain)) {
                PlanReport report = driver.plan().report();
                assertFalse(report.kernels().isEmpty(), "no steps");
                for (PlanReport.Kernel step : report.kernels()) {
                    assertFalse(step.op().isBlank() || step.kernel().isBlank(), "a blank name in " + step);
                    assertTrue(step.level() != Support.Level.NONE, "a step that is not supported: " + step);
                }
                long all = model.weights().totalBytes();
                assertTrue(
                        report.weightBytesPerToken() > all / 2 && report.weightBytesPerToken() <= all,
                        "a token reads " + report.weightBytesPerToken() + " bytes of " + all);
            }
            int fusedSteps = fused.plan().report().kernels().size();
            int plainSteps = plain.plan().report().kernels().size();
            assertTrue(fusedSteps <= plainSteps, fusedSteps + " steps fused, " + plainSteps + " not");
        }
    }

    @Test
    void weightsAreOnlyRead() {
        try (Model model = llama();
                PlanDriver driver = new PlanDriver(device(), model, Settings.of(8, 1, 8))) {
            byte[] before = model.weights().data("output.weight").toArray(ValueLayout.JAVA_BYTE);
            driver.step(new Chunk(driver.open(), tokens(46, 8, model.vocabularySize()), true));
            byte[] after = model.weights().data("output.weight").toArray(ValueLayout.JAVA_BYTE);
            assertTrue(Arrays.equals(before, after), "a step changed the weights");
        }
    }
}
