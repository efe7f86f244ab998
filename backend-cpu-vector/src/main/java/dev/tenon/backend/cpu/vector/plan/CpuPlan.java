package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.WindowPages;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.math.RopeTable;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.StepContext;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import dev.tenon.backend.cpu.vector.warmup.Warmup;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// A flat list of kernels that a team of threads walks together.
final class CpuPlan implements Plan {
    private final LoweredGraph graph;
    private final CpuThreads threads;
    private final CpuKv cache;
    /// Null where layers with a window keep all positions.
    private final CpuKv windows;
    private final WindowPages windowPages;
    /// Null where no op has a state.
    private final CpuStates states;
    /// Owns the cache, the states and the warm-up too.
    private final PlanMemory memory;
    private final CpuKernel[] kernels;
    private final RopeTable[] tables;
    private final Activations[] activations;
    private final Activations logits;
    private final StepContext context;
    private final StepCheck check;
    private final PlanReport report;
    private final KernelTimes times;
    /// Null where nothing is to be warmed up.
    private final Warmup warmup;
    private final ReentrantLock turn = new ReentrantLock();
    private final CpuThreads.Job job = this::walk;
    private final Result result = new Result();
    /// Whether runs are measured; changes only between runs.
    private boolean measured;
    private boolean closed;

    /// Takes over what [PlanBuilder] made.
    ///
    /// @param graph the kernels; its activations have memory
    /// @param stores closed with the plan, and with them the warm-up
    /// @param context what kernels share during a step
    /// @param check checks the input of steps
    /// @param report what reports tell
    /// @param times measures, where wanted
    /// @param warmup warms kernels up; null where nothing is to be warmed up
    CpuPlan(
            LoweredGraph graph,
            PlanStores stores,
            StepContext context,
            StepCheck check,
            PlanReport report,
            KernelTimes times,
            Warmup warmup) {
        this.graph = graph;
        this.threads = context.team();
        this.cache = stores.cache();
        this.windows = stores.windows();
        this.windowPages = windows == null ? null : new WindowPages(windows, stores.windowLayers()::firstSeen);
        this.states = stores.states();
        this.memory = stores.memory();
        this.kernels = new CpuKernel[graph.kernels().size()];
        for (int i = 0; i < kernels.length; i++) {
            kernels[i] = graph.kernels().get(i).kernel();
        }
        this.tables = graph.tables().toArray(new RopeTable[0]);
        this.activations = graph.activations().toArray(new Activations[0]);
        this.logits = graph.logits();
        this.context = context;
        this.check = check;
        this.report = report;
        this.times = times;
        this.warmup = warmup;
    }

    @Override
    public StepResult run(StepInput input) {
        turn.lock();
        try {
            if (closed) {
                throw new BackendException(ErrorCode.CLOSED, "the plan was closed; load the model again");
            }
            check.check(input);
            graph.checkPositions(input);
            result.rows = 0;
            result.tokenCount = input.tokenCount();
            if (input.tokenCount() == 0) {
                return result;
            }
            if (warmup != null) {
                warmup.stepBegins(input);
            }
            if (measured) {
                times.begin(input);
            }
            if (states != null) {
                states.begin(input);
            }
            cache.prepare(input);
            if (windows != null) {
                windows.prepare(input);
            }
            context.begin(input);
            growFor(input.logitRows());
            for (RopeTable table : tables) {
                table.fill(input);
            }
            threads.run(job);
            if (states != null) {
                states.end(input);
            }
            result.rows = input.logitRows();
            for (int r = 0; r < result.rows && !logits.selected; r++) {
                result.setToken(r, context.token(true, r));
            }
            if (measured) {
                times.end();
            }
            return result;
        } finally {
            context.end();
            if (warmup != null) {
                warmup.stepEnds();
            }
            turn.unlock();
        }
    }

    /// Makes room for more rows with logits than any step had before.
    private void growFor(int rows) {
        for (Activations a : activations) {
            long needed = (long) rows * a.width;
            if (a.selected && a.data.length < needed) {
                float[] old = a.data;
                a.release();
                memory.release(old);
                a.use(memory.floats(needed, "logits"));
            }
        }
    }

    private void walk(int thread) {
        boolean someSelected = context.rows(true) > 0;
        KernelTimes clock = thread == 0 && measured ? times : null;
        if (clock != null) {
            clock.firstKernel();
        }
        for (int i = 0; i < kernels.length; i++) {
            CpuKernel kernel = kernels[i];
            if (kernel.selected() && !someSelected) {
                continue;
            }
            int phases = kernel.phases(context);
            for (int phase = 0; phase < phases; phase++) {
                kernel.run(context, phase, thread);
                threads.barrier(thread);
            }
            if (clock != null) {
                clock.endKernel(i);
            }
        }
    }

    @Override
    public KvPages kvPages() {
        return cache;
    }

    @Override
    public Optional<WindowPages> windowPages() {
        return Optional.ofNullable(windowPages);
    }

    @Override
    public Optional<StateSlots> states() {
        return Optional.ofNullable(states);
    }

    @Override
    public PlanReport report() {
        return report;
    }

    @Override
    public Optional<PlanProfiler> profiler() {
        return Optional.of(new Profiler());
    }

    @Override
    public void close() {
        turn.lock();
        try {
            if (!closed) {
                closed = true;
                for (Activations a : activations) {
                    a.release();
                }
                memory.close();
            }
        } finally {
            turn.unlock();
        }
    }

    /// Switches the measuring of steps.
    private final class Profiler implements PlanProfiler {
        @Override
        public void start() {
            turn.lock();
            try {
                times.clear();
                measured = true;
            } finally {
                turn.unlock();
            }
        }

        @Override
        public PlanProfile stop() {
            turn.lock();
            try {
                measured = false;
                return times.profile();
            } finally {
                turn.unlock();
            }
        }
    }

    /// The logits of the last step.
    private final class Result implements StepResult {
        private int rows;
        private int tokenCount;
        private int[] tokens = new int[1];

        void setToken(int row, int token) {
            if (row >= tokens.length) {
                tokens = Arrays.copyOf(tokens, 2 * row);
            }
            tokens[row] = token;
        }

        @Override
        public int rows() {
            return rows;
        }

        @Override
        public void logits(int row, float[] target) {
            if (row < 0 || row >= rows) {
                throw new IndexOutOfBoundsException("logits of row " + row + "; the step has " + rows + " rows");
            }
            int source = logits.selected ? row : tokens[row];
            System.arraycopy(logits.data, source * logits.width, target, 0, logits.width);
        }

        @Override
        public int rows(String output) {
            return named(output).selected ? rows : tokenCount;
        }

        @Override
        public void output(String output, int row, float[] target) {
            Activations found = named(output);
            if (row < 0 || row >= rows(output)) {
                throw new IndexOutOfBoundsException(
                        "row " + row + " of output " + output + "; the step has " + rows(output) + " rows");
            }
            System.arraycopy(found.data, row * found.width, target, 0, found.width);
        }

        private Activations named(String output) {
            Activations found = graph.outputs().get(output);
            if (found == null) {
                throw new IllegalArgumentException("the graph has no output " + output + "; it has "
                        + graph.outputs().keySet());
            }
            return found;
        }
    }
}
