package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.WindowLayers;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.launch.AttentionLaunches;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import dev.tenon.kernels.nvidia.launch.LaunchPlan;
import dev.tenon.kernels.nvidia.launch.LinearLaunches;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Norm;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Scratch;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.GivenInput;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/// Plans a graph: gives every weight, activation and cache layer its memory, and every op the
/// kernels that run it.
///
/// What becomes of the ops: a `norm_qkv_rope` keeps its raw projections, because attention norms,
/// rotates and appends them; an `rms_norm` that only a `linear` reads is part of that `linear`;
/// everything else is one kernel, or several in steps of many rows.
public final class GraphPlanner {
    /// Setting: `off` runs steps of many rows with the kernels for few rows, again and again.
    public static final String TENSOR_CORES = "cuda.tensor-cores";

    final Graph graph;
    final PlanOptions options;
    final WeightList weights;
    final LinearLaunches linears;
    final Readers readers;
    /// Norms that a linear or an addition does, by the id of their result.
    final Map<Integer, CoreOp.RmsNorm> folded = new HashMap<>();
    /// Products that are planned, some of them before their turn.
    final Set<CoreOp.Linear> planned = Collections.newSetFromMap(new IdentityHashMap<>());
    /// The ops planned so far.
    final List<PlannedOp> ops = new ArrayList<>();
    final ValuePool<Slot> pool;
    final AttentionOps attention;
    final OwnOps ownOps;
    final ExpertOps expertOps;
    final StateOps stateOps;
    final HeadOps headOps;
    final AdapterOps adapterOps;

    private final BufferList buffers = new BufferList();
    private final DeviceTraits traits;
    private final Scratch scratch;
    private final BufferSpec step;
    private final boolean tensorCores;
    private final int tileRows;
    private final int maxLogitRows;
    /// What the graph reads of what comes with tokens.
    final GivenInput given;

    private GraphPlanner(PlanRequest request) {
        this.graph = FusedOpFilter.expandUnfit(request.graph(), request.weights(), request.formats());
        this.options = request.options().batchInvariant() ? wide(request.options()) : request.options();
        this.traits = request.traits();
        this.ownOps = new OwnOps(request.ownOps());
        this.weights = new WeightList(request.weights(), request.formats(), buffers);
        this.tensorCores = !"off".equals(options.settings().get(TENSOR_CORES));
        this.linears = new LinearLaunches(
                request.schedule(),
                tensorCores,
                Integer.parseInt(PlanSettings.MATRIX_SPLITS.in(options.settings())),
                options.batchInvariant() ? Map.of() : request.libraries());
        this.scratch = Scratch.of(buffers);
        this.step = buffers.add(BufferSpec.Kind.STEP, "step input", 0);
        List<Value> outputs = new ArrayList<>(this.graph.outputs().values());
        outputs.add(this.graph.output());
        this.pool = new ValuePool<>(this.graph.ops(), outputs, this::slot);
        this.given = GivenInput.of(this.graph);
        // Pooling needs the whole step's input, which only its first run has; encoders that join rows want many.
        this.maxLogitRows =
                this.graph.ops().stream().anyMatch(op -> op instanceof CoreOp.Pool || op instanceof JoinRows)
                        ? Buckets.of(options.maxBatchTokens())
                        : StepLimits.maxLogitRows(options);
        this.readers = new Readers(this.graph);
        this.attention = new AttentionOps(options, WindowLayers.of(this.graph), traits, buffers, weights, pool, ops);
        ExpertLaunches experts = new ExpertLaunches(linears, request.schedule());
        this.headOps = new HeadOps(pool, weights, buffers, experts, Buckets.of(options.maxBatchTokens()));
        this.adapterOps = new AdapterOps(pool, weights, linears, experts, readers);
        this.expertOps = new ExpertOps(pool, weights, buffers, linears, experts, this::normOf, readers);
        this.stateOps = new StateOps(pool, weights, buffers, readers, options.stateSlots());
        this.tileRows = this.graph.attentionLayers().stream()
                .mapToInt(a -> AttentionLaunches.tileRows(a, traits))
                .filter(r -> r > 0)
                .min()
                .orElse(0);
    }

    /// Options of steps that have at least as many rows as those whose bits do not depend on the batch are planned
    /// with.
    private static PlanOptions wide(PlanOptions options) {
        return options.toBuilder()
                .maxBatchTokens(Math.max(StepLimits.INVARIANT_ROWS, options.maxBatchTokens()))
                .build();
    }

    /// Plans a graph.
    ///
    /// @param request the graph, its weights, which are read for what the host computes, and the device
    /// @return the plan
    public static PlannedGraph plan(PlanRequest request) {
        return new GraphPlanner(request).run();
    }

    private PlannedGraph run() {
        for (int i = 0; i < graph.ops().size(); i++) {
            NvidiaOps.row(graph.ops().get(i)).lowering().accept(graph.ops().get(i), this);
            pool.releaseAfter(graph.ops().get(i), i);
        }
        Slot output = pool.get(graph.output());
        StepLimits limits = new StepLimits(
                options,
                attention.pageCount(),
                tableRows(CoreOp.Embedding.class),
                tableRows(CoreOp.PositionEmbedding.class),
                graph.attentionLayers().stream().allMatch(a -> a.params().causal()),
                tileRows,
                attention.deepFrom(),
                output.selected,
                maxLogitRows,
                stateOps.states().isEmpty() ? 0 : options.stateSlots(),
                attention.windowPageCount(),
                adapterOps.factors(),
                given);
        LaunchPlan plan = new LaunchPlan(limits, traits, ops, output, scratch, step);
        for (StepShape shape : limits.largest()) {
            plan.launches(shape, buffers::grow);
            buffers.grow(step, limits.layout(shape).bytes());
        }
        return new PlannedGraph(
                plan,
                attention.pages(),
                buffers.list(),
                weights,
                attention.cache(),
                attention.windowCache(),
                WindowLayers.of(graph),
                stateOps.states(),
                outputs(),
                ownOps.texts());
    }

    private Map<String, OutputRows> outputs() {
        Map<String, OutputRows> outputs = new HashMap<>();
        graph.outputs().forEach((name, value) -> {
            Slot rows = pool.get(value);
            KvBuffer memory = new KvBuffer(rows.buffer, (long) Float.BYTES * rows.width);
            outputs.put(name, new OutputRows(memory, rows.width, rows.selected));
        });
        return outputs;
    }

    /// The rows that all tables of a kind have.
    private int tableRows(Class<? extends Op> kind) {
        return graph.ops().stream()
                .filter(kind::isInstance)
                .mapToInt(op -> op.weights().getFirst().rows())
                .min()
                .orElse(Integer.MAX_VALUE);
    }

    private Slot slot(String purpose, int width, boolean selected) {
        long rows = selected ? maxLogitRows : Buckets.of(options.maxBatchTokens());
        long bytes = Math.multiplyExact(rows * Float.BYTES, (long) width);
        return new Slot(buffers.add(BufferSpec.Kind.ACTIVATION, purpose, bytes), width, selected);
    }

    /// {@return whether a layer's tiles are as small as those of any}
    private boolean hasSmallestTiles(CoreOp.Attention a) {
        return tileRows == AttentionLaunches.tileRows(a, traits);
    }

    /// Adds an op with a fast kernel.
    void add(Op op, String name, String kernel, boolean selected, long bytes, PlannedOp.Emitter emitter) {
        add(op, name, kernel, Support.Level.FAST, selected, bytes, emitter);
    }

    /// Adds an op.
    ///
    /// @param op the op, for reports
    /// @param name its weights or its result
    /// @param kernel its kernel
    /// @param level how fast that is
    /// @param selected whether its rows are those that want logits
    /// @param bytes weight bytes that a token reads
    /// @param emitter emits its launches
    void add(
            Op op,
            String name,
            String kernel,
            Support.Level level,
            boolean selected,
            long bytes,
            PlannedOp.Emitter emitter) {
        ops.add(new PlannedOp(op.kind(), name, kernel, level, selected, bytes, emitter));
    }

    static Support.Level level(DeviceWeight... weights) {
        return Stream.of(weights)
                .map(DeviceWeight::level)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /// Leaves a norm to its readers, which read x itself, so that x must live until then.
    void fold(CoreOp.RmsNorm n) {
        folded.put(n.out().id(), n);
        pool.share(n.out(), pool.get(n.x()));
    }

    /// {@return the norm that is left to the readers of a value, or null}
    Norm normOf(Value value) {
        CoreOp.RmsNorm n = folded.get(value.id());
        return n == null ? null : normOf(n);
    }

    Norm normOf(CoreOp.RmsNorm n) {
        return new Norm(weights.floats(n.weight()).at(0), n.eps());
    }

    Argument.Address bias(CoreOp.Linear l) {
        return l.bias().map(b -> weights.floats(b).at(0)).orElse(Argument.Address.NULL);
    }

    long bytes(CoreOp.Linear l) {
        return weights.matrix(l.weight()).bytes()
                + l.bias().map(b -> 4L * b.cols()).orElse(0L);
    }

    /// {@return whether everything that reads a value takes it in float16 in steps of many rows}
    boolean takenAsF16(Value value) {
        return readers.all(
                value,
                op -> NvidiaOps.row(op)
                        .reading()
                        .product(op, value)
                        .filter(l -> linears.matmul(weights.matrix(l.weight())))
                        .isPresent());
    }

    /// {@return whether a layer of attention takes many rows in tiles: where what reads it takes float16, or is a gate
    /// behind it; not for float32 weights, nor for what only selects rows, which would be rounded more}
    boolean tiled(CoreOp.Attention a) {
        return hasSmallestTiles(a)
                && (takenAsF16(a.out())
                        || tensorCores
                                && readers.all(
                                        a.out(),
                                        op -> !(op instanceof CoreOp.SelectRows)
                                                && NvidiaOps.row(op)
                                                        .reading()
                                                        .product(op, a.out())
                                                        .isEmpty()));
    }
}
