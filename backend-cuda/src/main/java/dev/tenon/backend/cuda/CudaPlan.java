package dev.tenon.backend.cuda;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.TokenChoice;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.CudaDriver.Hot;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.ResultRows;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A planned graph with its memory on a GPU. A step is one copy of its input and one launch of a
/// captured graph. Tokens that the device chose come with the step, logits when somebody asks for
/// them.
final class CudaPlan implements Plan {
    /// Setting: `off` launches kernels one by one instead of capturing them.
    static final String GRAPHS = "cuda.graphs";
    /// Setting: `off` lets each kernel wait until its predecessor has ended.
    static final String DEPENDENT_LAUNCH = "cuda.dependent-launch";

    /// Steps that are under way while the host waits for a token: one that runs and one behind it.
    private static final int STEPS_UNDER_WAY = 2;

    private static final StepInput NOTHING = new StepInput();

    private static final Logger LOG = LoggerFactory.getLogger(CudaPlan.class);

    private final PlannedGraph planned;
    private final StepCheck check;
    private final PlanOptions options;
    private final CudaContext context;
    private final ReentrantLock turn = new ReentrantLock();
    private final Result result;
    private final StepChoices choices = new StepChoices();
    private final List<AutoCloseable> owned = new ArrayList<>();
    private PlanMemory memory;
    private MemorySegment stepInput;
    private MemorySegment pageTables;
    private StepGraphs graphs;
    private CudaAllocator allocator;
    private long freeBefore;
    private LogitsMemory logits;
    private CudaProfiler profiler;
    private CudaKv cache;
    private TokenGenerator generator;
    private PlanReport report;
    private final Consumer<CudaPlan> onClose;
    private boolean closed;

    private CudaPlan(PlannedGraph planned, PlanOptions options, CudaContext context, Consumer<CudaPlan> onClose) {
        this.onClose = onClose;
        this.planned = planned;
        this.check = planned.stepCheck();
        this.options = options;
        this.context = own(context.withOwnStream());
        this.result = new Result(planned.logitsWidth());
    }

    /// Allocates a planned graph's memory, loads its kernels and uploads its weights.
    ///
    /// @param planned the graph
    /// @param weights its weights
    /// @param options limits
    /// @param context the device's
    /// @param allocator the device's memory
    /// @param kernels loads kernels
    /// @param traits the device
    /// @param onClose hears that the plan has been closed
    /// @return the plan; if this throws, all memory has been given back
    static CudaPlan create(
            PlannedGraph planned,
            Weights weights,
            PlanOptions options,
            CudaContext context,
            CudaAllocator allocator,
            KernelLoader kernels,
            DeviceTraits traits,
            Consumer<CudaPlan> onClose) {
        CudaPlan plan = new CudaPlan(planned, options, context, onClose);
        try {
            plan.open(weights, allocator, kernels, traits);
            return plan;
        } catch (RuntimeException | Error e) {
            plan.close();
            throw e;
        }
    }

    private void open(Weights weights, CudaAllocator allocator, KernelLoader kernels, DeviceTraits traits) {
        context.enter();
        this.allocator = allocator;
        freeBefore = allocator.freeAndTotal()[0];
        memory = own(new PlanMemory(planned.buffers(), allocator, context));
        stepInput = own(new PinnedMemory(
                        context, planned.buffers().get(planned.step().id()).bytes()))
                .memory();
        pageTables =
                own(new PinnedMemory(context, planned.pages().bytes())).memory().fill((byte) 0);
        boolean early = traits.programmaticLaunch() && on(DEPENDENT_LAUNCH);
        Launcher launcher = new Launcher(kernels, memory, planned.headers(), early);
        profiler = own(new CudaProfiler(turn, context, planned, launcher));
        logits = own(new LogitsMemory(context, planned, memory));
        graphs = own(new StepGraphs(
                context,
                planned,
                kernels,
                launcher,
                memory.address(planned.step()),
                stepInput.address(),
                logits,
                on(GRAPHS)));
        kernels.load(repackModules(), Map.of());
        List<StepShape> usual = new ArrayList<>(List.of(new StepShape(1, 1, false)));
        if (options.maxTokens() > 1) {
            usual.add(StepShape.of(options.maxTokens(), 1, 1));
        }
        if (planned.canChoose()) {
            usual.add(StepShape.choosing(1, 1));
        }
        graphs.load(usual);
        try (WeightUpload upload = new WeightUpload(context, memory, launcher, allocator)) {
            upload.run(planned, weights);
        }
        cache = new CudaKv(this::whileNothingRuns, context, memory, planned);
        generator = planned.canChoose() ? new CudaGenerator(this::generate) : null;
        long weightBytes =
                planned.stepWeightBytes().stream().mapToLong(Long::longValue).sum();
        report = new PlanReport(
                planned.steps(),
                weightBytes,
                new MemoryUse(memory.sizeBytes(), 0, allocator.use().limitBytes()));
    }

    private boolean on(String setting) {
        return !"off".equals(options.settings().get(setting));
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    private List<KernelModule> repackModules() {
        Map<String, KernelModule> modules = new LinkedHashMap<>();
        for (DeviceWeight weight : planned.matrices()) {
            if (weight.format().repacked()) {
                modules.putIfAbsent(weight.repackModule().name(), weight.repackModule());
            }
        }
        return List.copyOf(modules.values());
    }

    @Override
    public StepResult run(StepInput input) {
        turn.lock();
        try {
            requireTurn("run");
            check.check(input);
            result.begin(input);
            if (input.tokenCount() > 0) {
                context.enter();
                long begin = System.nanoTime();
                step(input);
                if (profiler.on()) {
                    profiler.ran(input, begin);
                }
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

    /// Refuses a closed plan, and a call from a sink, which would meet steps that are under way.
    private void requireTurn(String call) {
        requireOpen();
        requireOutsideSink(call);
    }

    private void requireOutsideSink(String call) {
        if (turn.getHoldCount() > 1) {
            throw new IllegalStateException(
                    "a plan's " + call + " was called by the sink of its own generation, while steps are under way;"
                            + " let the sink return false, and call it then");
        }
    }

    /// Runs work on the plan's stream between two steps.
    private void whileNothingRuns(Runnable work) {
        turn.lock();
        try {
            requireTurn("copying of pages");
            context.enter();
            work.run();
            context.synchronize();
        } finally {
            turn.unlock();
        }
    }

    private void step(StepInput input) {
        sendPages(input, 1);
        int wanted = planned.logitsSelected() ? input.logitRows() : 0;
        int first = Math.min(wanted, planned.maxLogitRows());
        StepShape plain =
                planned.shapeAt(StepShape.of(input.tokenCount(), first, sequences(input)), lastPosition(input));
        StepShape shape = planned.canChoose() ? choices.begin(plain, input, planned.maxChosen()) : plain;
        logits.begin();
        boolean sends = shape.candidates() == 0 && logits.arrivesWith(shape.logitRows()) && !input.leavesLogits();
        start(shape, input, 0, first, sends);
        if (sends) {
            result.inPinned = wanted;
        }
        if (wanted > first) {
            result.keep(0, first);
            for (int done = first; done < wanted; ) {
                int count = Math.min(wanted - done, planned.maxLogitRows());
                start(new StepShape(0, Buckets.of(count), false), input, done, count, false);
                result.keep(done, count);
                done += count;
            }
        }
    }

    private void start(StepShape shape, StepInput input, int firstLogit, int logits, boolean sends) {
        planned.writeStep(shape, input, firstLogit, logits, stepInput);
        boolean chooses = shape.candidates() > 0;
        if (chooses) {
            planned.writeChoices(shape, choices.rows(), stepInput);
        }
        if (chooses || profiler.on()) {
            graphs.copyInput(shape);
        }
        if (profiler.on()) {
            profile(shape, input, 0);
            if (sends) {
                this.logits.copyWithStep(shape.logitRows());
            }
        } else {
            graphs.start(shape, sends);
        }
        context.synchronize();
        if (chooses) {
            choices.read(memory.host(planned.chosen()), shape);
        }
    }

    private void profile(StepShape shape, StepInput input, int further) {
        graphs.load(List.of(shape));
        profiler.run(shape, graphs.launches(shape), input, further);
    }

    private void sendPages(StepInput input, int steps) {
        long[] changed = planned.writePages(input, steps, pageTables);
        if (changed[1] > 0) {
            Hot.toDevice(
                    memory.address(planned.pages()) + changed[0],
                    pageTables.address() + changed[0],
                    changed[1],
                    context.stream());
        }
    }

    @Override
    public Optional<TokenGenerator> generator() {
        return Optional.ofNullable(generator);
    }

    /// Runs steps whose tokens the device chooses; see [TokenGenerator#generate]. Always some steps
    /// are under way beyond the one that is waited for, so that the device need not wait for the
    /// host.
    private void generate(StepInput input, List<TokenChoice> choices, int steps, TokenGenerator.TokenSink sink) {
        turn.lock();
        try {
            requireTurn("generate");
            check.check(input, steps);
            StepShape shape = CudaGenerator.shape(input, choices, steps, planned.maxLogitRows());
            result.begin(NOTHING);
            context.enter();
            sendPages(input, steps);
            planned.writeStep(shape, input, 0, input.logitRows(), stepInput);
            planned.writeChoices(shape, choices, stepInput);
            MemorySegment chosen = memory.host(planned.chosen());
            TokenRing.clear(chosen);
            graphs.copyInput(shape);
            try {
                int[] tokens = new int[input.tokenCount()];
                int last = lastPosition(input);
                int started = 0;
                for (int done = 0; done < steps; done++) {
                    while (started < Math.min(steps, done + STEPS_UNDER_WAY)) {
                        StepShape next = planned.shapeAt(shape, last + started);
                        if (profiler.on()) {
                            long begin = System.nanoTime();
                            profile(next, input, started);
                            profiler.ran(input, begin);
                        } else {
                            graphs.start(next, false);
                        }
                        started++;
                    }
                    CudaGenerator.await(chosen, done, context);
                    TokenRing.read(chosen, done, shape, tokens, tokens.length);
                    CudaGenerator.check(tokens, done);
                    if (!sink.accept(tokens)) {
                        break;
                    }
                }
            } finally {
                context.synchronize();
            }
        } finally {
            turn.unlock();
        }
    }

    private static int lastPosition(StepInput input) {
        int last = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            last = Math.max(last, input.position(t));
        }
        return last;
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
    public Optional<PlanProfiler> profiler() {
        return Optional.of(profiler);
    }

    @Override
    public KvPages kvPages() {
        return cache;
    }

    @Override
    public PlanReport report() {
        return report;
    }

    /// What the plan owns is given back when nothing runs on its stream any more, all of it even if
    /// something fails.
    @Override
    public void close() {
        turn.lock();
        try {
            if (closed) {
                return;
            }
            requireOutsideSink("close");
            closed = true;
            onClose.accept(this);
            context.enter();
            List<AutoCloseable> all = new ArrayList<>(owned.reversed());
            all.addFirst(context::synchronize);
            Closing.all(all);
            if (LOG.isDebugEnabled() && allocator != null) {
                LOG.debug(
                        "the device had {} bytes free before the plan, {} after it",
                        freeBefore,
                        allocator.freeAndTotal()[0]);
            }
        } finally {
            turn.unlock();
        }
    }

    /// The logits of the last step. They are on the device until they are asked for, but for those
    /// of steps that want more rows than the device holds.
    private final class Result implements StepResult {
        private final ResultRows rows;
        private int inPinned;

        Result(int width) {
            this.rows = new ResultRows(width);
        }

        void begin(StepInput input) {
            rows.begin(input);
            choices.clear();
            inPinned = 0;
        }

        /// Copies rows to the host, because the next run will overwrite them.
        void keep(int first, int count) {
            logits.fetch(0, count);
            for (int r = 0; r < count; r++) {
                logits.take(r, rows.keep(first + r));
            }
            inPinned = 0;
        }

        @Override
        public int rows() {
            return rows.count();
        }

        @Override
        public int token(int row) {
            rows.check(row);
            return choices.token(row);
        }

        @Override
        public void logits(int row, float[] target) {
            rows.check(row);
            turn.lock();
            try {
                if (rows.copyKept(row, target)) {
                    return;
                }
                requireOpen();
                context.enter();
                if (!planned.logitsSelected() || choices.most()) {
                    logits.fetch(planned.logitsSelected() ? row : rows.token(row), 1);
                    logits.take(0, target);
                    return;
                }
                if (inPinned == 0) {
                    logits.fetch(0, rows.count());
                    inPinned = rows.count();
                }
                logits.take(row, target);
            } finally {
                turn.unlock();
            }
        }
    }
}
