package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How layers of experts are launched.
class ExpertPlansTests {
    private final TestGraphs t = new TestGraphs();

    private PlannedGraph plan(Graph graph, int tokens, DeviceTraits traits) {
        return t.plan(graph, TestGraphs.options(tokens, 4), traits, MvSchedule.DEFAULT);
    }

    private static List<String> entries(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream().map(Launch::entry).toList();
    }

    @Test
    void aDecodedTokenTakesFourKernelsAfterAttention() {
        Graph graph = Fusion.fuse(t.experts("Q4_K", 128, 8, false), KernelSupport::isFused);
        PlannedGraph planned = plan(graph, 8, TestGraphs.HOPPER);
        List<String> layer = List.of("linear_F32_t1", "router", "expert_gate_up_Q4_K", "expert_down_Q4_K");
        List<Launch> launches = planned.launches(new StepShape(1, 1, false));
        assertEquals(layer, launches.subList(1, 5).stream().map(Launch::entry).toList());
        Launch gateUp = launches.get(3);
        assertEquals(8, gateUp.blocks().y(), "a choice each");
        assertEquals(33, gateUp.blocks().x(), "two blocks on each of 132 multiprocessors");
        assertEquals(264, launches.get(4).blocks().x());
        long expert = 256L * 512 / 256 * 148;
        List<Long> bytes = planned.stepWeightBytes();
        assertEquals(List.of(8 * 2 * expert, 8 * expert), bytes.subList(2, 4), "only the chosen experts are read");
    }

    @Test
    void eightTokensTakeTheSameKernelsAndMoreRunOnTensorCores() {
        Graph graph = Fusion.fuse(t.experts("MXFP4", 16, 2, false), KernelSupport::isFused);
        PlannedGraph planned = plan(graph, 512, TestGraphs.HOPPER);
        assertTrue(entries(planned, new StepShape(8, 8, true)).contains("expert_gate_up_MXFP4"));
        List<String> many = entries(planned, new StepShape(16, 1, false));
        assertEquals(
                List.of(
                        "router",
                        "expert_groups",
                        "norm_f16",
                        "expert_matmul_gate_up_MXFP4_n16",
                        "expert_matmul_MXFP4_n16",
                        "weighted_sum"),
                many.subList(many.indexOf("router"), many.indexOf("weighted_sum") + 1));
        List<Launch> most = planned.launches(new StepShape(512, 1, false));
        Launch down = most.stream()
                .filter(l -> l.entry().equals("expert_matmul_MXFP4_n128"))
                .findFirst()
                .orElseThrow();
        assertEquals(1024 / 128 + 16, down.blocks().x(), "whole tiles, and a part of one for each expert");
        assertEquals(new Argument.Int(0), down.arguments().get(3), "rows in the order of the choices");
    }

    @Test
    void aSharedExpertTakesTwoKernelsMore() {
        Graph graph = Fusion.fuse(t.experts("Q8_0", 8, 2, true), KernelSupport::isFused);
        PlannedGraph planned = plan(graph, 64, TestGraphs.HOPPER);
        assertEquals(
                List.of(
                        "linear_F32_t1",
                        "router",
                        "expert_gate_up_Q8_0",
                        "gate_up_Q8_0_t1",
                        "linear_Q8_0_t1",
                        "expert_down_Q8_0"),
                entries(planned, new StepShape(1, 1, false)).subList(1, 7));
        List<Launch> launches = planned.launches(new StepShape(1, 1, false));
        assertEquals(
                launches.get(5).arguments().get(6), launches.get(6).arguments().get(5), "residual of the experts");
        List<String> many = entries(planned, new StepShape(64, 1, false));
        assertFalse(many.contains("to_f16"), many::toString);
    }

    @Test
    void floatExpertsStayExactInPrompts() {
        Graph graph = Fusion.fuse(t.experts("F32", 8, 2, false), KernelSupport::isFused);
        List<String> many = entries(plan(graph, 64, TestGraphs.HOPPER), new StepShape(64, 1, false));
        assertTrue(
                many.containsAll(List.of("expert_gate_up_F32", "expert_linear_F32", "weighted_sum")), many::toString);
        assertTrue(many.stream().noneMatch(e -> e.startsWith("expert_matmul")), many::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"F32", "F16", "Q8_0", "IQ4_XS", "RARE"})
    void everyAddressLiesInItsBuffer(String format) {
        for (boolean shared : new boolean[] {false, true}) {
            for (boolean fuse : new boolean[] {true, false}) {
                Graph graph = t.experts(format, 8, 2, shared);
                graph = fuse ? Fusion.fuse(graph, KernelSupport::isFused) : graph.expanded();
                for (DeviceTraits traits : List.of(TestGraphs.HOPPER, TestGraphs.ORIN)) {
                    PlannedGraph planned = plan(graph, 300, traits);
                    for (int rows : new int[] {1, 2, 4, 8, 16, 128, 512}) {
                        planned.launches(new StepShape(rows, 4, false)).forEach(launch -> check(planned, launch));
                    }
                }
            }
        }
    }

    private static void check(PlannedGraph planned, Launch launch) {
        for (Argument argument : launch.arguments()) {
            if (argument instanceof Argument.Address a && a.buffer() >= 0) {
                BufferSpec buffer = planned.buffers().get(a.buffer());
                assertTrue(a.offsetBytes() < buffer.bytes(), () -> launch + " reaches beyond " + buffer);
            }
        }
    }
}
