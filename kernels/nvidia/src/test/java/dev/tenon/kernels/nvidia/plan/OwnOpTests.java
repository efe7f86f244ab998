package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.OwnOpSource;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.source.CudaSource;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Ops that bundles define, with kernels in CUDA C that bundles offer.
class OwnOpTests {
    private static final int WIDTH = 96;

    private final TestGraphs t = new TestGraphs();

    /// `out = x * scale`, the scale standing in the source.
    private record Kernel(int threads, String scale) implements CudaOpKernel {
        @Override
        public String name() {
            return "own.cuda";
        }

        @Override
        public String op() {
            return MatrixOp.KIND;
        }

        @Override
        public boolean accepts(Op op) {
            return op.outputs().getFirst().width() == WIDTH;
        }

        @Override
        public String function() {
            return "own_row";
        }

        @Override
        public String source(Op op) {
            return MatrixOp.CUDA
                    .replace("COLS", String.valueOf(op.inputs().getFirst().width()))
                    .replace("SCALE", scale);
        }

        @Override
        public int threads(Op op) {
            return threads;
        }
    }

    private static KernelProvider offered(int threads, String scale) {
        return () -> List.of(new Kernel(threads, scale));
    }

    private Graph graph(int rows) {
        GraphBuilder b = new GraphBuilder("own");
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 50, "F32"));
        Weight tensor = t.matrix("own.weight", WIDTH, 3 * WIDTH, "F16");
        for (int i = 0; i < 2; i++) {
            Value out = b.value("out" + i, rows);
            b.add(new MatrixOp(x, tensor.rows(i * WIDTH, i * WIDTH + rows), out));
            x = rows == WIDTH ? out : x;
        }
        Value selected = b.selectRows("selected", x);
        Value last = b.value("last", rows);
        b.add(new MatrixOp(selected, tensor.rows(0, rows), last));
        return b.build(last);
    }

    private PlannedGraph plan(KernelProvider provider) {
        return t.plan(graph(WIDTH), TestGraphs.options(64, 4), TestGraphs.HOPPER, MvSchedule.DEFAULT, provider);
    }

    private static List<Launch> own(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream()
                .filter(launch -> launch.entry().startsWith("own_"))
                .toList();
    }

    @Test
    void aBlockOfThreadsForEachRowCallsTheFunction() {
        PlannedGraph planned = plan(offered(128, "2.0f"));
        List<Launch> launches = own(planned, new StepShape(16, 2, false));
        assertEquals(
                List.of(16, 16, 2), launches.stream().map(l -> l.blocks().x()).toList());
        for (Launch launch : launches) {
            assertEquals(128, launch.blocks().threads());
            assertEquals(3, launch.arguments().size(), "input, weight, output");
            assertEquals(launch.entry() + ".cu", launch.module().file());
        }
        assertEquals(1, launches.stream().map(Launch::entry).distinct().count(), "one source, one module");
        assertNotEquals(
                launches.get(0).arguments().get(1), launches.get(1).arguments().get(1), "rows of a tensor");
        assertEquals(
                launches.get(0).arguments().get(1), launches.get(2).arguments().get(1), "decoded once");
        String entry = launches.getFirst().entry();
        CudaSource source = KernelCatalogue.source(launches.getFirst().module(), planned.headers());
        for (String part : List.of(
                "extern \"C\" __global__ void " + entry + "(const float* in0, const float* weight0, float* out0)",
                "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");",
                "own_row(in0 + row * 96, weight0, out0 + row * 96);")) {
            assertTrue(source.text().contains(part), source.text());
        }
        assertTrue(planned.modules(List.of(new StepShape(1, 1, false))).stream()
                .anyMatch(module -> module.file().equals(entry + ".cu")));
        List<PlanReport.Kernel> reports = planned.steps().stream()
                .filter(k -> k.op().equals(MatrixOp.KIND))
                .toList();
        assertEquals(3, reports.size());
        assertEquals("own.cuda", reports.getFirst().kernel());
        assertEquals(Support.Level.FAST, reports.getFirst().level());
    }

    /// Values that count up.
    private static final class Counting implements Weights {
        @Override
        public TensorInfo info(String name) {
            throw new UnsupportedOperationException(name);
        }

        @Override
        public QuantFormat format(String name) {
            return TestGraphs.named("F32");
        }

        @Override
        public MemorySegment data(String name) {
            float[] values = new float[24];
            for (int i = 0; i < values.length; i++) {
                values[i] = i;
            }
            return MemorySegment.ofArray(values);
        }
    }

    @Test
    void weightsAreDecodedFromTheirFirstRowOn() {
        WeightList list = new WeightList(new Counting(), DeviceFormats.OWN, new BufferList());
        Weight tensor = new Weight("own.weight", 3, 4, 2);
        assertEquals(list.floats(tensor.rows(1, 3)), list.floats(tensor.rows(1, 3)));
        assertNotEquals(list.floats(tensor), list.floats(tensor.rows(1, 3)));
        assertArrayEquals(
                new float[] {3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 19, 20},
                list.constants().getFirst().data().toArray(ValueLayout.JAVA_FLOAT));
        assertThrows(ModelFormatException.class, () -> list.floats(new Weight("own.weight", 3, 9)));
    }

    @Test
    void otherSourcesAreOtherModules() {
        String one = own(plan(offered(128, "2.0f")), new StepShape(1, 1, false))
                .getFirst()
                .entry();
        String two = own(plan(offered(128, "3.0f")), new StepShape(1, 1, false))
                .getFirst()
                .entry();
        assertNotEquals(one, two);
        assertTrue(one.matches("own_acme_matrix_[0-9a-f]{16}"), one);
    }

    @Test
    void theFirstKernelThatAcceptsTheOpIsTakenAndWithoutOneOrACompilerItIsRefused() {
        Op op = graph(WIDTH).ops().get(1);
        List<KernelProvider> offered = List.of(offered(128, "2.0f"));
        Support support = KernelSupport.of(op, t, offered, () -> true);
        assertEquals("kernel own.cuda for op acme.matrix", support.reason());
        assertEquals(Support.Level.FAST, support.level());
        support = KernelSupport.of(op, t, offered, () -> false);
        assertEquals(Support.Level.NONE, support.level());
        assertTrue(support.reason().contains("acme.matrix") && support.reason().contains("NVRTC"), support.reason());
        support = KernelSupport.of(graph(WIDTH / 2).ops().get(1), t, offered, () -> true);
        assertEquals(Support.Level.NONE, support.level());
        List<Issue> issues = PlanRequest.refusals(
                graph(WIDTH), t, DeviceFormats.OWN, KernelSupport.ownOps(offered), TestGraphs.options(8, 1), false);
        assertEquals(3, issues.size(), issues.toString());
    }

    /// An op that another one expresses.
    private record Around(Op inner) implements CustomOp {
        @Override
        public String kind() {
            return "acme.around";
        }

        @Override
        public List<Value> inputs() {
            return inner.inputs();
        }

        @Override
        public List<Value> outputs() {
            return inner.outputs();
        }

        @Override
        public List<Weight> weights() {
            return inner.weights();
        }

        @Override
        public List<Op> expand() {
            return List.of(inner);
        }
    }

    @Test
    void insideAnExpansionItIsJudgedAsItIsPlanned() {
        Op around = new Around(graph(WIDTH).ops().get(1));
        Support support = KernelSupport.of(around, t, List.of(offered(128, "2.0f")), () -> true);
        assertEquals(new Support(Support.Level.GENERIC, "op acme.around runs as its expansion"), support);
        support = KernelSupport.of(around, t, List.of(), () -> true);
        assertEquals(Support.Level.NONE, support.level());
        assertTrue(support.reason().startsWith("acme.around: op acme.matrix is a bundle's own"), support.reason());
    }

    @Test
    void aKernelThatGivesNothingUsableIsNamed() {
        MatrixOp op = (MatrixOp) graph(WIDTH).ops().get(1);
        for (Kernel wrong : List.of(new Kernel(48, ""), new Kernel(2048, ""), new Kernel(64, null))) {
            BackendException e = assertThrows(BackendException.class, () -> OwnOpSource.of(wrong, op));
            assertEquals(ErrorCode.BACKEND_FAILED, e.code());
            assertTrue(e.getMessage().contains("own.cuda") && e.getMessage().contains("acme.matrix"), e.getMessage());
        }
    }
}
