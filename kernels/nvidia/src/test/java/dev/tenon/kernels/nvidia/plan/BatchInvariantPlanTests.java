package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.graph.Fusion;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Where bits may not depend on the batch, steps of all sizes run the same kernels, which share sums in the same way.
class BatchInvariantPlanTests {
    @Test
    void stepsOfAllSizesAddInOneOrder() {
        for (int most : new int[] {1, 64, 512}) {
            PlannedGraph planned = plan(TestGraphs.options(most, Math.min(most, 8)).toBuilder()
                    .batchInvariant(true)
                    .build());
            List<String> alone = sums(planned, planned.limits().shape(1, 1, 1));
            assertTrue(alone.contains("matmul_gate_up_Q4_K in 2"), alone::toString);
            for (StepShape shape : planned.limits().shapes()) {
                assertEquals(alone, sums(planned, shape), shape::toString);
            }
        }
    }

    @Test
    void otherwiseTheyDoNot() {
        PlannedGraph planned = plan(TestGraphs.options(64, 8));
        assertNotEquals(
                sums(planned, planned.limits().shape(16, 1, 1)),
                sums(planned, planned.limits().shape(1, 1, 1)));
    }

    private static PlannedGraph plan(PlanOptions options) {
        TestGraphs t = new TestGraphs();
        return t.plan(Fusion.fuse(t.decoder("Q4_K", "Q6_K", true)), options, TestGraphs.HOPPER, MvSchedule.DEFAULT);
    }

    /// The kernels of a step, whatever number of tokens they take at once, and how many blocks share a sum.
    private static List<String> sums(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream()
                .map(launch -> launch.entry().replaceFirst("_n\\d+(_alone)?$", "") + " in "
                        + launch.blocks().z())
                .toList();
    }
}
