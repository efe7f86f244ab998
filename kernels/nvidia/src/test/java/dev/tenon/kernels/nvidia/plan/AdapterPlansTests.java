package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.step.AdapterFactor;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// How what adapters add is launched.
class AdapterPlansTests {
    private final TestGraphs t = new TestGraphs();

    /// Adapters beside the products of one tensor, each of a rank.
    private PlannedGraph plan(String tensor, String format, int... ranks) {
        Graph graph = t.decoder("Q8_0", "Q8_0", false);
        List<Op> ops = new ArrayList<>();
        int next = graph.valueCount();
        for (Op op : graph.ops()) {
            if (!(op instanceof CoreOp.Linear l) || !l.weight().name().equals(tensor)) {
                ops.add(op);
                continue;
            }
            Value base = new Value(next++, "base", l.out().width());
            List<LowRankAdd.Part> parts = new ArrayList<>();
            for (int i = 0; i < ranks.length; i++) {
                parts.add(new LowRankAdd.Part(
                        i,
                        t.matrix(i + ".a", l.x().width(), ranks[i], format),
                        t.matrix(i + ".b", ranks[i], l.out().width(), format),
                        0.5f));
            }
            ops.add(new CoreOp.Linear(l.x(), l.weight(), l.bias(), base));
            ops.add(new LowRankAdd(l.x(), base, parts, l.out()));
        }
        return t.plan(graph.withOps(ops), TestGraphs.options(512, 4), TestGraphs.HOPPER, MvSchedule.DEFAULT);
    }

    /// The launches of what adapters add.
    private static List<Launch> launches(PlannedGraph planned, StepShape shape) {
        for (int i = 0; i < planned.steps().size(); i++) {
            int step = i;
            if (planned.steps().get(i).op().equals("low_rank_add")) {
                return planned.launches(shape).stream()
                        .filter(launch -> launch.step() == step)
                        .toList();
            }
        }
        throw new AssertionError("no such step");
    }

    private static List<String> entries(List<Launch> launches) {
        return launches.stream().map(Launch::entry).toList();
    }

    @Test
    void anAdapterIsTwoProductsAndAWeightedSumBetweenThem() {
        PlannedGraph planned = plan("blk.0.gate", "F16", 32, 64);
        List<Launch> one = launches(planned, new StepShape(1, 1, false));
        List<String> each = List.of("linear_F16_t1", "weighted_sum", "linear_F16_t1");
        assertEquals(List.of(each, each), List.of(entries(one.subList(0, 3)), entries(one.subList(3, 6))));
        assertEquals(6, one.size());
        StepShape shape = new StepShape(1, 1, false);
        for (int adapter = 0; adapter < 2; adapter++) {
            Launch sum = one.get(3 * adapter + 1);
            assertEquals(sum.arguments().get(0), sum.arguments().get(3), "in place");
            long scales = planned.limits().layout(shape).scales(adapter, false);
            assertEquals(
                    new Argument.Address(planned.step().id(), scales),
                    sum.arguments().get(1));
        }
        assertEquals(
                List.of(new AdapterFactor(0, 0.5f), new AdapterFactor(1, 0.5f)),
                planned.limits().factors());
        List<Launch> many = launches(planned, new StepShape(256, 1, false));
        assertTrue(
                entries(many).stream().filter(e -> e.startsWith("matmul_F16")).count() == 4, many::toString);
    }

    @Test
    void anAdapterThatTheStepDoesNotReadHasNoLaunches() {
        PlannedGraph planned = plan("blk.0.gate", "F16", 32, 64);
        StepShape shape = new StepShape(1, 1, false);
        List<Launch> both = launches(planned, shape);
        assertEquals(List.of(), launches(planned, shape.reading(0)));
        List<Launch> second = launches(planned, shape.reading(2));
        assertEquals(3, second.size());
        assertEquals(both.get(3), second.getFirst());
        assertEquals(both.getLast(), second.getLast(), "in place, the first adapter's sum is the projection's");
    }

    @Test
    void stepsReadTheOnlyAdapterThatTheyUseAndEveryOneIfTheyUseSeveral() {
        PlannedGraph planned = plan("blk.0.gate", "F16", 32, 64);
        assertEquals(0, read(planned, new float[0], new float[] {0, 0}));
        assertEquals(2, read(planned, new float[] {0, 0.5f}, new float[0], new float[] {0, 1}));
        assertEquals(StepShape.EVERY, read(planned, new float[] {0, 0.5f}, new float[] {1}));
        assertEquals(StepShape.EVERY, read(planned, new float[] {2, 0.5f}));
    }

    private static int read(PlannedGraph planned, float[]... scales) {
        StepInput input = new StepInput();
        for (float[] each : scales) {
            input.addSequence(new int[1], StepInput.NO_SLOT, each);
            input.addToken(1, 0, true);
        }
        return planned.limits().shape(input, scales.length).adapters();
    }

    @Test
    void aRankThatIsNoTileIsMultipliedInFloat32() {
        PlannedGraph planned = plan("blk.0.o", "F16", 8);
        assertEquals(
                List.of("linear_F16_t1", "weighted_sum", "linear_F32_t1"),
                entries(launches(planned, new StepShape(1, 1, false))));
        List<String> many = entries(launches(planned, new StepShape(512, 1, false)));
        assertEquals(List.of("to_f16", "matmul_F16_n128_alone", "weighted_sum", "float_matmul"), many);
        assertTrue(planned.matrices().stream().noneMatch(w -> w.tensor().equals("0.b")), "uploaded twice");
    }

    @Test
    void rowsThatWantLogitsHaveWeightsOfTheirOwn() {
        PlannedGraph planned = plan("token_embd.weight", "F32", 8);
        StepShape shape = new StepShape(16, 2, false);
        List<Launch> launches = launches(planned, shape);
        assertEquals(List.of("linear_F32_t2", "weighted_sum", "linear_F32_t2"), entries(launches));
        long scales = planned.limits().layout(shape).scales(0, true);
        assertEquals(
                new Argument.Address(planned.step().id(), scales),
                launches.get(1).arguments().get(1));
    }

    @Test
    void everyAddressLiesInItsBuffer() {
        for (String format : List.of("F32", "F16", "BF16", "Q8_0")) {
            PlannedGraph planned = plan("blk.1.down", format, 32, 96);
            for (int rows : new int[] {1, 4, 8, 64, 512}) {
                for (Launch launch : planned.launches(new StepShape(rows, 1, false))) {
                    for (Argument argument : launch.arguments()) {
                        if (argument instanceof Argument.Address a && a.buffer() >= 0) {
                            BufferSpec buffer = planned.buffers().get(a.buffer());
                            assertTrue(a.offsetBytes() < buffer.bytes(), () -> launch + " reaches beyond " + buffer);
                        }
                    }
                }
            }
        }
    }
}
