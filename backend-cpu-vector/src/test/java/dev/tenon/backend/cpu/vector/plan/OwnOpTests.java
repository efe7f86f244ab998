package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.itest.testkit.Closeness;
import dev.tenon.itest.testkit.models.OwnOp;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import dev.tenon.quant.formats.Q8_0Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Ops that model bundles define: computed by themselves, or by a kernel that is offered for them.
class OwnOpTests {
    private static final int WIDTH = 64;

    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(2).build());

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private static Model model(QuantFormat format) {
        return RandomModels.ops("own", 3, WIDTH, format, (b, x) -> add(b, x, new Weight("own.weight", WIDTH, 32)));
    }

    private static Value add(GraphBuilder b, Value x, Weight matrix) {
        Value y = b.linear("y", x, new Weight("y.weight", WIDTH, matrix.rows()), Optional.empty());
        OwnOp op = new OwnOp(x, y, matrix, 0.5f, b.value("sum", matrix.rows()), b.value("top", 1));
        b.add(op);
        return op.sum();
    }

    /// Two parts of each row: both halves of the sum, the second one with the top.
    private static final class HalvesKernel implements OpKernel {
        private final Set<Integer> parts = ConcurrentHashMap.newKeySet();

        @Override
        public String name() {
            return "own.halves";
        }

        @Override
        public String op() {
            return OwnOp.KIND;
        }

        @Override
        public boolean accepts(Op op, List<QuantFormat> formats) {
            return formats.getFirst().id().equals("Q8_0");
        }

        @Override
        public Rows bind(Op op, List<OpWeight> weights) {
            OwnOp own = (OwnOp) op;
            float[] matrix = weights.getFirst().decode();
            int cols = own.x().width();
            int half = own.sum().width() / 2;
            return new Rows() {
                @Override
                public int parts() {
                    return 2;
                }

                @Override
                public int scratchFloats() {
                    return cols;
                }

                @Override
                public void run(HostFloats[] in, HostFloats[] out, int first, int rows, int part, float[] scratch) {
                    parts.add(part);
                    for (int t = first; t < first + rows; t++) {
                        System.arraycopy(in[0].array(), t * cols, scratch, 0, cols);
                        for (int r = part * half; r < (part + 1) * half; r++) {
                            float sum = own.factor() * in[1].array()[t * 2 * half + r];
                            for (int c = 0; c < cols; c++) {
                                sum += matrix[r * cols + c] * scratch[c];
                            }
                            out[0].array()[t * 2 * half + r] = sum;
                        }
                        float top = Float.NEGATIVE_INFINITY;
                        for (int c = 0; c < cols; c++) {
                            top = Math.max(top, scratch[c]);
                        }
                        if (part == 1) {
                            out[1].array()[t] = top;
                        }
                    }
                }
            };
        }
    }

    private void check(Model model, List<KernelProvider> kernels) {
        int[] tokens = IntStream.range(0, 30).map(i -> i * 7 % 41).toArray();
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        Settings settings = Settings.of(64, 2, 64).withKernels(kernels);
        try (PlanDriver driver = new PlanDriver(device, model, settings)) {
            PlanDriver.Sequence one = driver.open();
            PlanDriver.Sequence two = driver.open();
            float[][] both = driver.step(new Chunk(one, tokens, true), new Chunk(two, tokens, true));
            Closeness.assertClose("both", twice(expected), both, 1e-5);
            driver.release(two);
            PlanDriver.Sequence single = driver.open();
            Closeness.assertClose("one by one", expected, driver.feed(single, tokens, 1), 1e-5);
        }
    }

    private static double[][] twice(double[][] rows) {
        List<double[]> all = new ArrayList<>(List.of(rows));
        all.addAll(List.of(rows));
        return all.toArray(double[][]::new);
    }

    private List<PlanReport.Kernel> own(Model model, List<KernelProvider> kernels) {
        try (PlanDriver driver =
                new PlanDriver(device, model, Settings.of(4, 1, 4).withKernels(kernels))) {
            return driver.plan().report().kernels().stream()
                    .filter(k -> k.op().equals(OwnOp.KIND))
                    .toList();
        }
    }

    private Support support(Model model, List<KernelProvider> kernels) {
        Op own = model.graph().ops().stream()
                .filter(OwnOp.class::isInstance)
                .findFirst()
                .orElseThrow();
        return device.compiler().supports(own, model.weights(), kernels);
    }

    @Test
    void withoutAKernelItComputesItself() {
        try (Model model = model(new Q8_0Format())) {
            check(model, List.of());
            PlanReport.Kernel report = own(model, List.of()).getFirst();
            assertEquals("evaluate.float64", report.kernel());
            assertEquals(Support.Level.GENERIC, report.level());
            Support support = support(model, List.of());
            assertEquals(Support.Level.GENERIC, support.level());
            assertTrue(
                    support.reason().contains(OwnOp.KIND)
                            && support.reason().contains(OwnOp.class.getName())
                            && support.reason().contains("evaluate.float64"),
                    support.reason());
        }
    }

    @Test
    void aKernelThatIsOfferedAndAcceptsItComputesIt() {
        HalvesKernel kernel = new HalvesKernel();
        List<KernelProvider> offered = List.of(() -> List.<Kernel>of(kernel));
        try (Model model = model(new Q8_0Format())) {
            check(model, offered);
            assertEquals(Set.of(0, 1), kernel.parts);
            PlanReport.Kernel report = own(model, offered).getFirst();
            assertEquals("own.halves", report.kernel());
            assertEquals(Support.Level.FAST, report.level());
            assertEquals(
                    "kernel own.halves for op " + OwnOp.KIND,
                    support(model, offered).reason());
        }
        try (Model model = model(TestFormats.F32)) {
            check(model, offered);
            assertEquals("evaluate.float64", own(model, offered).getFirst().kernel());
        }
    }

    @Test
    void decodedWeightsAreMemoryOfThePlanAndShared() {
        Weight matrix = new Weight("own.weight", WIDTH, 32);
        try (Model one = model(new Q8_0Format());
                Model two = RandomModels.ops("two", 3, WIDTH, new Q8_0Format(), (b, x) -> {
                    Value first = add(b, x, matrix);
                    return b.add("both", first, add(b, x, matrix));
                })) {
            long before = device.allocator().use().allocatedBytes();
            long single = bytes(one);
            assertTrue(single - before > 4 * matrix.elements());
            assertTrue(bytes(two) - single < 4 * matrix.elements());
            assertEquals(before, device.allocator().use().allocatedBytes());
        }
    }

    private long bytes(Model model) {
        try (PlanDriver driver = new PlanDriver(device, model, Settings.of(1, 1, 1))) {
            return device.allocator().use().allocatedBytes();
        }
    }

    /// An op that computes what a function says.
    private record Faulty(Value x, Value out, Function<double[][], double[][]> function) implements ReferenceOp {
        @Override
        public String kind() {
            return "faulty";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public double[][] evaluate(double[][] inputs, float[][] weights) {
            return function.apply(inputs);
        }
    }

    private void fails(String expected, Function<double[][], double[][]> function) {
        Model faulty = RandomModels.ops("faulty", 3, WIDTH, TestFormats.F32, (b, x) -> {
            Value out = b.value("blk.0.out", 3);
            b.add(new Faulty(x, out, function));
            return out;
        });
        try (Model model = faulty;
                PlanDriver driver = new PlanDriver(device, model, Settings.of(8, 1, 8))) {
            BackendException e = assertThrows(
                    BackendException.class, () -> driver.feed(driver.open(), new int[] {1, 2, 3, 4, 5}, 5));
            assertEquals(ErrorCode.BACKEND_FAILED, e.code());
            assertTrue(e.getMessage().contains("op faulty -> [blk.0.out [3]]"), e.getMessage());
            assertTrue(e.getMessage().contains(Faulty.class.getName()), e.getMessage());
            assertTrue(e.getMessage().contains(expected), e.getMessage());
        }
    }

    @Test
    void anOpThatFailsIsNamed() {
        fails("evaluate returned 2 elements for blk.0.out [3]", in -> new double[][] {{1, 2}});
        fails("evaluate returned 2 rows", in -> new double[2][3]);
        fails("ArrayIndexOutOfBounds", in -> new double[][] {{in[0][WIDTH]}});
        fails("StackOverflowError", OwnOpTests::endless);
    }

    private static double[][] endless(double[][] in) {
        return endless(in);
    }

    @Test
    void aKernelThatCannotBePreparedIsNamed() {
        OpKernel broken = new OpKernel() {
            @Override
            public String name() {
                return "own.broken";
            }

            @Override
            public String op() {
                return OwnOp.KIND;
            }

            @Override
            public Rows bind(Op op, List<OpWeight> weights) {
                throw new IllegalStateException("no vectors here");
            }
        };
        try (Model model = model(TestFormats.F32)) {
            BackendException e = assertThrows(BackendException.class, () -> own(model, List.of(() -> List.of(broken))));
            assertEquals(ErrorCode.BACKEND_FAILED, e.code());
            for (String part : List.of("own.broken", OwnOp.KIND, "no vectors here")) {
                assertTrue(e.getMessage().contains(part), e.getMessage());
            }
        }
    }
}
