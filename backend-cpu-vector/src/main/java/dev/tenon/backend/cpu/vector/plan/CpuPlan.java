package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.memory.GateTile;
import dev.tenon.backend.cpu.vector.memory.PackedRows;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.AttentionMemory;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuNormGateUp;
import dev.tenon.backend.cpu.vector.op.RopeTable;
import dev.tenon.backend.cpu.vector.op.StepContext;
import dev.tenon.backend.cpu.vector.op.ThreadMemory;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import dev.tenon.backend.cpu.vector.warmup.Warmup;
import dev.tenon.backend.cpu.vector.warmup.WarmupTask;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// A flat list of kernels that a team of threads walks together.
final class CpuPlan implements Plan {
    private static final float[] NONE = new float[0];

    private final CpuThreads threads;
    private final CpuKv cache;
    /// Owns the cache and the warm-up too.
    private final PlanMemory memory;
    private final CpuKernel[] kernels;
    private final RopeTable[] tables;
    private final List<Activations> activations;
    private final Activations logits;
    private final Map<String, Activations> outputs;
    private final int positions;
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

    private CpuPlan(
            LoweredGraph graph,
            CpuThreads threads,
            CpuKv cache,
            PlanMemory memory,
            StepContext context,
            StepCheck check,
            PlanReport report,
            KernelTimes times,
            Warmup warmup) {
        this.threads = threads;
        this.cache = cache;
        this.memory = memory;
        this.kernels = graph.kernels().stream().map(LoweredGraph.Entry::kernel).toArray(CpuKernel[]::new);
        this.tables = graph.tables().toArray(RopeTable[]::new);
        this.activations = graph.activations();
        this.logits = graph.logits();
        this.outputs = graph.outputs();
        this.positions = graph.positions();
        this.context = context;
        this.check = check;
        this.report = report;
        this.times = times;
        this.warmup = warmup;
    }

    /// Compiles a graph.
    ///
    /// @param graph graph of core ops and fused ops, all supported
    /// @param options limits
    /// @param binder binds weights
    /// @param kernels selects kernels
    /// @param allocator gives memory
    /// @param threads runs the steps
    /// @return the plan; if this throws, all memory has been released
    static CpuPlan create(
            Graph graph,
            PlanOptions options,
            WeightBinder binder,
            KernelSet kernels,
            CpuAllocator allocator,
            CpuThreads threads) {
        PlanMemory memory = new PlanMemory(allocator);
        try {
            return create(graph, options, binder, kernels, allocator.use().limitBytes(), threads, memory);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    private static CpuPlan create(
            Graph graph,
            PlanOptions options,
            WeightBinder binder,
            KernelSet kernels,
            long limitBytes,
            CpuThreads threads,
            PlanMemory memory) {
        List<CoreOp.Attention> layers = graph.attentionLayers();
        CpuKv cache = new CpuKv(layers, options.kvTokens(), options.keyType(), options.valueType(), memory.allocator());
        memory.onClose(cache::close);
        LoweredGraph lowered = new Lowering(graph, binder, cache, kernels, memory, options.maxTokens()).run();
        ThreadMemory[] threadMemory = threadMemory(lowered, layers, options.maxTokens(), threads.size(), memory);
        // Before the large arrays: machine code is generated while those get their memory.
        Warmup warmup = null;
        if (kernels.warming()) {
            warmup = warmup(lowered, layers, options, binder, kernels, threadMemory[0].scratch());
            memory.onClose(warmup::close);
            warmup.start();
        }
        int selectedRows = Math.min(options.maxTokens(), options.maxSequences());
        for (Activations a : lowered.activations()) {
            long rows = a.selected ? selectedRows : options.maxTokens();
            a.use(memory.floats(rows * a.width, "activations"));
        }
        for (PackedRows rows : binder.packedRows()) {
            rows.use(memory.segment(rows.bytes(options.maxTokens()), "packed activations"));
            MemorySegment[] rowOfThread = new MemorySegment[threads.size()];
            Arrays.setAll(rowOfThread, i -> memory.segment(rows.ownBytes(), "packed activations"));
            rows.useOwn(rowOfThread);
        }
        StepContext context =
                new StepContext(threads, threadMemory, AttentionMemory.split(layers, cache.pageCount(), memory));
        memory.bind(binder.boundBytes());
        List<LoweredGraph.Entry> entries = lowered.kernels();
        PlanReport report = new PlanReport(
                entries.stream().map(LoweredGraph.Entry::report).toList(),
                entries.stream().mapToLong(LoweredGraph.Entry::weightBytes).sum(),
                new MemoryUse(cache.sizeBytes() + memory.allocatedBytes(), memory.boundBytes(), limitBytes));
        return new CpuPlan(
                lowered,
                threads,
                cache,
                memory,
                context,
                new StepCheck(options, CpuKv.TOKENS, cache.pageCount(), lowered.vocabularySize()),
                report,
                new KernelTimes(entries, layers, cache),
                warmup);
    }

    private static ThreadMemory[] threadMemory(
            LoweredGraph graph, List<CoreOp.Attention> layers, int maxTokens, int threads, PlanMemory memory) {
        LoweredGraph.ThreadNeeds needs = graph.needs();
        boolean gated = graph.kernels().stream().anyMatch(entry -> entry.kernel() instanceof CpuNormGateUp);
        long gateTile = gated ? (long) maxTokens * StepContext.MANY_TOKENS_ROWS : 0;
        ThreadMemory[] memories = new ThreadMemory[threads];
        for (int i = 0; i < threads; i++) {
            Scratch scratch = new Scratch(
                    memory.floats(needs.scratchFloats(), "scratch"),
                    new byte[needs.scratchBytes()],
                    memory.segment(needs.scratchMemory(), "scratch"));
            GateTile tile = new GateTile(
                    memory.floats(gateTile, "gate projections"), memory.floats(gateTile, "up projections"));
            Activations normed = new Activations(needs.normedWidth(), false);
            normed.use(memory.floats(needs.normedWidth(), "activations"));
            memories[i] = new ThreadMemory(scratch, AttentionMemory.tiles(layers, memory), tile, normed);
        }
        return memories;
    }

    private static Warmup warmup(
            LoweredGraph graph,
            List<CoreOp.Attention> layers,
            PlanOptions options,
            WeightBinder binder,
            KernelSet kernels,
            Scratch sizes) {
        List<BoundLinear> linears = binder.linears();
        List<CoreOp.Attention> own = layers.stream()
                .filter(layer -> !graph.attentionKernels().containsKey(layer))
                .toList();
        return new Warmup(kernels.attention(), kernels.elementMath(), own, graph.ownElements(), options, arena -> {
            List<WarmupTask> tasks = WarmupTask.attention(graph.attentionKernels(), sizes, arena);
            if (graph.elements().kernel() != null) {
                tasks.add(WarmupTask.elements(graph.elements().kernel()));
            }
            tasks.addAll(WarmupTask.linears(linears, sizes, arena));
            return tasks;
        });
    }

    @Override
    public StepResult run(StepInput input) {
        turn.lock();
        try {
            if (closed) {
                throw new BackendException(ErrorCode.CLOSED, "the plan was closed; load the model again");
            }
            check.check(input);
            checkPositions(input);
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
            cache.prepare(input);
            context.begin(input);
            growFor(input.logitRows());
            for (RopeTable table : tables) {
                table.fill(input);
            }
            threads.run(job);
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

    private void checkPositions(StepInput input) {
        for (int t = 0; positions < Integer.MAX_VALUE && t < input.tokenCount(); t++) {
            if (input.position(t) >= positions) {
                throw new IllegalArgumentException("position " + input.position(t) + " at index " + t
                        + "; the model has vectors for positions 0 to " + (positions - 1));
            }
        }
    }

    /// Makes room for more rows with logits than any step had before.
    private void growFor(int rows) {
        for (Activations a : activations) {
            long needed = (long) rows * a.width;
            if (a.selected && a.data.length < needed) {
                float[] old = a.data;
                a.use(NONE);
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
                activations.forEach(a -> a.use(NONE));
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
    private final class Result implements NamedOutputs {
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
            Activations found = outputs.get(output);
            if (found == null) {
                throw new IllegalArgumentException(
                        "the graph has no output " + output + "; it has " + outputs.keySet());
            }
            return found;
        }
    }
}
