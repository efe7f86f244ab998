package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.DeviceBuffer;
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
import dev.tenon.backend.cpu.vector.op.AttentionMemory;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuStep;
import dev.tenon.backend.cpu.vector.op.NormGateUpStep;
import dev.tenon.backend.cpu.vector.op.RopeTable;
import dev.tenon.backend.cpu.vector.op.StepContext;
import dev.tenon.backend.cpu.vector.op.ThreadMemory;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import dev.tenon.backend.cpu.vector.warmup.Warmup;
import dev.tenon.backend.cpu.vector.warmup.WarmupTask;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// A flat list of kernels that a team of threads walks together.
final class CpuPlan implements Plan {
    private final PlanOptions options;
    private final CpuAllocator allocator;
    private final CpuThreads threads;
    private final ReentrantLock turn = new ReentrantLock();
    private final CpuKv cache;
    private final CpuThreads.Job job = this::walk;
    private final Result result = new Result();
    private final List<DeviceBuffer> buffers = new ArrayList<>();
    private CpuStep[] steps;
    private RopeTable[] tables;
    private List<Activations> activations = List.of();
    private Activations logits;
    private Map<String, Activations> outputs = Map.of();
    private int positions;
    private StepContext context;
    private PlanReport report;
    private StepTimes times;
    /// Null where nothing is to be warmed up.
    private Warmup warmup;
    /// Whether runs are measured; changes only between runs.
    private boolean measured;
    private StepCheck check;
    private long arrayBytes;
    private long boundBytes;
    private boolean closed;

    private CpuPlan(PlanOptions options, CpuKv cache, CpuAllocator allocator, CpuThreads threads) {
        this.options = options;
        this.cache = cache;
        this.allocator = allocator;
        this.threads = threads;
    }

    /// Compiles a graph.
    ///
    /// @param graph graph of core ops and fused ops, all supported
    /// @param options limits
    /// @param binder binds weights
    /// @param kernels chooses kernels
    /// @param allocator gives memory
    /// @param threads runs the steps
    /// @return the plan; if this throws, all memory has been given back
    static CpuPlan create(
            Graph graph,
            PlanOptions options,
            WeightBinder binder,
            KernelSet kernels,
            CpuAllocator allocator,
            CpuThreads threads) {
        List<CoreOp.Attention> layers = graph.attentionLayers();
        CpuKv cache = new CpuKv(layers, options.kvTokens(), options.keyType(), options.valueType(), allocator);
        CpuPlan plan = new CpuPlan(options, cache, allocator, threads);
        try {
            plan.lower(graph, layers, binder, kernels);
            return plan;
        } catch (RuntimeException | Error e) {
            plan.close();
            throw e;
        }
    }

    private void lower(Graph graph, List<CoreOp.Attention> layers, WeightBinder binder, KernelSet kernels) {
        Lowering lowering = new Lowering(graph, binder, cache, kernels, allocator, options.maxTokens());
        try {
            logits = lowering.run();
        } finally {
            arrayBytes += lowering.tableBytes;
        }
        outputs = lowering.outputs;
        positions = lowering.positions;
        steps = lowering.steps.toArray(CpuStep[]::new);
        tables = lowering.tables.values().toArray(RopeTable[]::new);
        check = new StepCheck(options, CpuKv.TOKENS, cache.pageCount(), lowering.vocabulary);
        ThreadMemory[] memories = new ThreadMemory[threads.size()];
        boolean gated = Arrays.stream(steps).anyMatch(NormGateUpStep.class::isInstance);
        long gateTile = gated ? (long) options.maxTokens() * StepContext.MANY_TOKENS_ROWS : 0;
        for (int i = 0; i < threads.size(); i++) {
            Scratch scratch = new Scratch(
                    floats(lowering.scratchFloats, "scratch"),
                    new byte[lowering.scratchBytes],
                    memory(lowering.scratchMemory, "scratch"));
            GateTile tile = new GateTile(floats(gateTile, "gate projections"), floats(gateTile, "up projections"));
            Activations normed = new Activations(lowering.normedWidth, false);
            normed.use(floats(lowering.normedWidth, "activations"));
            memories[i] = new ThreadMemory(scratch, AttentionMemory.tiles(layers, this::floats), tile, normed);
        }
        // Before the large arrays: machine code is generated while those get their memory.
        if (kernels.warming()) {
            List<BoundLinear> linears = binder.linears();
            List<CoreOp.Attention> own = layers.stream()
                    .filter(layer -> !lowering.attentionKernels.containsKey(layer))
                    .toList();
            warmup = new Warmup(kernels, own, lowering.ownElements, options, arena -> {
                List<WarmupTask> tasks = WarmupTask.attention(lowering.attentionKernels, memories[0].scratch(), arena);
                if (lowering.elements.kernel() != null) {
                    tasks.add(WarmupTask.elements(lowering.elements.kernel()));
                }
                tasks.addAll(WarmupTask.linears(linears, memories[0].scratch(), arena));
                return tasks;
            });
            warmup.start();
        }
        activations = lowering.activations();
        int selectedRows = Math.min(options.maxTokens(), options.maxSequences());
        for (Activations a : activations) {
            a.use(floats((long) a.width * (a.selected ? selectedRows : options.maxTokens()), "activations"));
        }
        for (PackedRows rows : binder.packedRows()) {
            rows.use(memory(rows.bytes(options.maxTokens()), "packed activations"));
            MemorySegment[] rowOfThread = new MemorySegment[threads.size()];
            Arrays.setAll(rowOfThread, i -> memory(rows.ownBytes(), "packed activations"));
            rows.useOwn(rowOfThread);
        }
        context = new StepContext(threads, memories, AttentionMemory.split(layers, cache.pageCount(), this::floats));
        boundBytes = binder.boundBytes();
        allocator.bindBytes(boundBytes);
        long bufferBytes = buffers.stream().mapToLong(DeviceBuffer::sizeBytes).sum();
        MemoryUse memory = new MemoryUse(
                cache.sizeBytes() + arrayBytes + bufferBytes,
                boundBytes,
                allocator.use().limitBytes());
        report = new PlanReport(lowering.report, lowering.weightBytes, memory);
        times = new StepTimes(report.steps(), lowering.stepWeightBytes, layers, cache);
    }

    private MemorySegment memory(long bytes, String purpose) {
        DeviceBuffer buffer = allocator.allocate(bytes, purpose);
        buffers.add(buffer);
        return buffer.host().orElseThrow();
    }

    private float[] floats(long length, String purpose) {
        float[] array = allocator.floats(length, purpose);
        arrayBytes += length * Float.BYTES;
        return array;
    }

    @Override
    public StepResult run(StepInput input) {
        turn.lock();
        try {
            if (closed) {
                throw new BackendException(ErrorCode.CLOSED, "the plan was closed; load the model anew");
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
                long old = (long) a.data.length * Float.BYTES;
                a.use(new float[0]);
                allocator.give(old);
                arrayBytes -= old;
                a.use(floats(needed, "logits"));
            }
        }
    }

    private void walk(int thread) {
        boolean someSelected = context.rows(true) > 0;
        StepTimes clock = thread == 0 && measured ? times : null;
        if (clock != null) {
            clock.firstKernel();
        }
        for (int i = 0; i < steps.length; i++) {
            CpuStep step = steps[i];
            if (step.selected() && !someSelected) {
                continue;
            }
            int phases = step.phases(context);
            for (int phase = 0; phase < phases; phase++) {
                step.run(context, phase, thread);
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
                if (warmup != null) {
                    warmup.close();
                }
                activations.forEach(a -> a.use(new float[0]));
                allocator.give(arrayBytes);
                allocator.bindBytes(-boundBytes);
                buffers.forEach(DeviceBuffer::close);
                cache.close();
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
