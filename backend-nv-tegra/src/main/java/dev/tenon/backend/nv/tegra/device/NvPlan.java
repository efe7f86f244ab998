package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Weights;
import dev.tenon.api.device.WindowPages;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.PlanTurn;
import dev.tenon.kernels.nvidia.run.StepRunner;
import java.util.Optional;

/// A planned graph with its memory on a GPU, which the plan owns. Its steps are [NvSteps].
final class NvPlan implements Plan {
    private final PlanTurn turn = new PlanTurn();
    private final PlanMemory memory;
    private final NvSteps steps;
    private final StepRunner runner;
    private final PlanReport report;

    /// Allocates a planned graph's memory and copies its weights; if this throws, all memory has been given
    /// back.
    ///
    /// @param planned the graph
    /// @param weights its weights
    /// @param device the device; closes after the plan
    NvPlan(PlannedGraph planned, Weights weights, NvDevice device) {
        NvAllocator allocator = device.allocator();
        memory = new PlanMemory(planned.buffers(), planned.logits(), allocator);
        boolean done = false;
        try {
            Launcher launcher = new Launcher(device.gpu(), device.code(), memory);
            new WeightUpload(memory, launcher, allocator).run(planned, weights);
            steps = new NvSteps(planned, memory, launcher);
            runner = new StepRunner(turn, planned, steps);
            report = new PlanReport(
                    planned.steps(),
                    planned.stepWeightBytes().stream()
                            .mapToLong(Long::longValue)
                            .sum(),
                    new MemoryUse(memory.sizeBytes(), 0, allocator.use().limitBytes()));
            done = true;
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    @Override
    public StepResult run(StepInput input) {
        return runner.run(input);
    }

    @Override
    public KvPages kvPages() {
        return runner.pages();
    }

    @Override
    public Optional<WindowPages> windowPages() {
        return runner.windowPages();
    }

    @Override
    public Optional<StateSlots> states() {
        return runner.states();
    }

    @Override
    public PlanReport report() {
        return report;
    }

    @Override
    public void close() {
        turn.close(() -> {
            steps.close();
            memory.close();
        });
    }
}
