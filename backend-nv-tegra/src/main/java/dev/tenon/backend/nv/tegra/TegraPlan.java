package dev.tenon.backend.nv.tegra;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.gpu.CommandList;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.ResultRows;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// A planned graph with its memory on a Tegra. A step is what the processor writes into the step's
/// input, which the GPU sees where it is, and one command list; logits are read where they are.
final class TegraPlan implements Plan {
    private final PlannedGraph planned;
    private final StepCheck check;
    private final KernelCode code;
    private final ReentrantLock turn = new ReentrantLock();
    private final Map<StepShape, CommandList> lists = new HashMap<>();
    private final Result result;
    private Launcher launcher;
    private PlanMemory memory;
    private MemorySegment stepInput;
    private MemorySegment pageTables;
    private MemorySegment logits;
    private PlanReport report;
    private boolean closed;

    private TegraPlan(PlannedGraph planned, KernelCode code) {
        this.planned = planned;
        this.check = planned.stepCheck();
        this.code = code;
        this.result = new Result(planned.logitsWidth());
    }

    /// Allocates a planned graph's memory and copies its weights.
    ///
    /// @param planned the graph
    /// @param weights its weights
    /// @param device the device; closes after the plan
    /// @return the plan; if this throws, all memory has been given back
    static TegraPlan create(PlannedGraph planned, Weights weights, TegraDevice device) {
        TegraPlan plan = new TegraPlan(planned, device.code());
        boolean done = false;
        try {
            plan.open(weights, device);
            done = true;
            return plan;
        } finally {
            if (!done) {
                plan.close();
            }
        }
    }

    private void open(Weights weights, TegraDevice device) {
        TegraAllocator allocator = device.allocator();
        memory = new PlanMemory(planned.buffers(), planned.logits(), allocator);
        stepInput = memory.host(planned.step());
        pageTables = memory.host(planned.pages());
        logits = memory.host(planned.logits());
        launcher = new Launcher(device.gpu(), code, memory);
        new WeightUpload(memory, launcher, allocator).run(planned, weights);
        report = new PlanReport(
                planned.steps(),
                planned.stepWeightBytes().stream().mapToLong(Long::longValue).sum(),
                new MemoryUse(memory.sizeBytes(), 0, allocator.use().limitBytes()));
    }

    @Override
    public StepResult run(StepInput input) {
        turn.lock();
        try {
            requireOpen();
            check.check(input);
            result.rows.begin(input);
            if (input.tokenCount() > 0) {
                step(input);
            }
            return result;
        } finally {
            turn.unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new BackendException(ErrorCode.CLOSED, "the plan was closed; load the model anew");
        }
    }

    private void step(StepInput input) {
        // The step before is through, so that nothing reads these any more.
        planned.writePages(input, 1, pageTables);
        int wanted = planned.logitsSelected() ? input.logitRows() : 0;
        int first = Math.min(wanted, planned.maxLogitRows());
        start(StepShape.of(input.tokenCount(), first, sequences(input)), input, 0, first);
        if (wanted > first) {
            result.keep(0, first);
            for (int done = first; done < wanted; ) {
                int count = Math.min(wanted - done, planned.maxLogitRows());
                start(new StepShape(0, Buckets.of(count), false), input, done, count);
                result.keep(done, count);
                done += count;
            }
        }
    }

    private void start(StepShape shape, StepInput input, int firstLogit, int count) {
        planned.writeStep(shape, input, firstLogit, count, stepInput);
        CommandList list = lists.computeIfAbsent(shape, s -> launcher.list(planned.launches(s)));
        launcher.device().await(list.run());
    }

    private static int sequences(StepInput input) {
        int count = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            if (t == 0 || input.sequence(t) != input.sequence(t - 1)) {
                count++;
            }
        }
        return count;
    }

    @Override
    public KvPages kvPages() {
        return new TegraKv(memory, planned, launcher.device());
    }

    @Override
    public PlanReport report() {
        return report;
    }

    @Override
    public void close() {
        turn.lock();
        try {
            if (!closed) {
                closed = true;
                lists.values().forEach(CommandList::close);
                lists.clear();
                if (memory != null) {
                    memory.close();
                }
            }
        } finally {
            turn.unlock();
        }
    }

    /// The logits of the last step, where the GPU has written them; those of steps that want more
    /// rows than there is room for are copies.
    private final class Result implements StepResult {
        private final ResultRows rows;

        Result(int width) {
            this.rows = new ResultRows(width);
        }

        /// Copies rows, because the next run will overwrite them.
        void keep(int first, int count) {
            for (int r = 0; r < count; r++) {
                take(r, rows.keep(first + r));
            }
        }

        private void take(int row, float[] target) {
            int width = planned.logitsWidth();
            MemorySegment.copy(logits, ValueLayout.JAVA_FLOAT, 4L * width * row, target, 0, width);
        }

        @Override
        public int rows() {
            return rows.count();
        }

        @Override
        public void logits(int row, float[] target) {
            rows.check(row);
            turn.lock();
            try {
                if (!rows.copyKept(row, target)) {
                    requireOpen();
                    take(planned.logitsSelected() ? row : rows.token(row), target);
                }
            } finally {
                turn.unlock();
            }
        }
    }
}
