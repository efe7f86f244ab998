package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.launch.AttentionLaunches;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.CacheTypes;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.LaunchPlan;
import dev.tenon.kernels.nvidia.launch.LinearLaunches;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Norm;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Product;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Scratch;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.step.Buckets;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    private final Graph graph;
    private final PlanOptions options;
    private final BufferList buffers = new BufferList();
    private final WeightList weights;
    private final LinearLaunches linears;
    private final DeviceTraits traits;
    private final List<PlannedOp> ops = new ArrayList<>();
    private final List<KvBuffer> cache = new ArrayList<>();
    private final Map<Integer, Integer> readers = new HashMap<>();
    private final Map<Integer, List<Op>> readingOps = new HashMap<>();
    /// Norms that a linear does, by the id of their result.
    private final Map<Integer, CoreOp.RmsNorm> folded = new HashMap<>();
    /// What attention does with raw projections, by the id of its query value.
    private final Map<Integer, AttentionLaunches.Heads> heads = new HashMap<>();
    private final Map<RopeTables.Key, BufferSpec> ropes = new HashMap<>();
    private final OwnOps ownOps;
    private final RowOps rowOps;
    private final Scratch scratch;
    private final BufferSpec step;
    private final BufferSpec pages;
    private final int pageCount;
    private final ValuePool<Slot> pool;
    private final int tileRows;
    private final int maxLogitRows;
    private int deepFrom = Integer.MAX_VALUE;

    private GraphPlanner(PlanRequest request) {
        this.graph = FusedOpFilter.expandUnfit(request.graph(), request.weights(), request.fragments());
        this.options = request.options();
        this.traits = request.traits();
        this.ownOps = new OwnOps(request.ownOps());
        this.weights = new WeightList(request.weights(), request.fragments(), buffers);
        this.linears = new LinearLaunches(
                request.schedule(), !"off".equals(options.settings().get(TENSOR_CORES)), request.libraries());
        this.scratch = Scratch.of(buffers);
        this.step = buffers.add(BufferSpec.Kind.STEP, "step input", 0);
        this.pageCount = Math.toIntExact((options.kvTokens() + (long) KvBuffer.TOKENS - 1) / KvBuffer.TOKENS);
        this.pages = buffers.add(
                BufferSpec.Kind.PAGES, "page tables", Math.multiplyExact(4L * options.maxSequences(), pageCount));
        this.pool = new ValuePool<>(this.graph.ops(), List.of(this.graph.output()), this::slot);
        // Pooling needs the whole step's input, which only its first run has.
        this.maxLogitRows = this.graph.ops().stream().anyMatch(CoreOp.Pool.class::isInstance)
                ? Buckets.of(options.maxBatchTokens())
                : StepLimits.maxLogitRows(options);
        this.rowOps = new RowOps(pool, weights, this.graph.output());
        this.tileRows = this.graph.attentionLayers().stream()
                .mapToInt(a -> AttentionLaunches.tileRows(a, traits))
                .filter(r -> r > 0)
                .min()
                .orElse(0);
    }

    /// Plans a graph.
    ///
    /// @param request the graph, its weights, which are read for what the host computes, and the device
    /// @return the plan
    public static PlannedGraph plan(PlanRequest request) {
        return new GraphPlanner(request).run();
    }

    private PlannedGraph run() {
        for (Op op : graph.ops()) {
            op.inputs().forEach(v -> {
                readers.merge(v.id(), 1, Integer::sum);
                readingOps.computeIfAbsent(v.id(), id -> new ArrayList<>()).add(op);
            });
        }
        readers.merge(graph.output().id(), 1, Integer::sum);
        for (int i = 0; i < graph.ops().size(); i++) {
            lower(graph.ops().get(i));
            pool.releaseAfter(graph.ops().get(i), i);
        }
        Slot output = pool.get(graph.output());
        StepLimits limits = new StepLimits(
                options,
                pageCount,
                tableRows(CoreOp.Embedding.class),
                tableRows(CoreOp.PositionEmbedding.class),
                graph.attentionLayers().stream().allMatch(a -> a.params().causal()),
                tileRows,
                deepFrom,
                output.selected,
                maxLogitRows);
        LaunchPlan plan = new LaunchPlan(limits, traits, ops, output, scratch, step);
        for (StepShape shape : limits.largest()) {
            plan.launches(shape, buffers::grow);
            buffers.grow(step, limits.layout(shape).bytes());
        }
        return new PlannedGraph(plan, pages, buffers.list(), weights, cache, ownOps.texts());
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

    private void lower(Op op) {
        switch (op) {
            case CoreOp.RmsNorm n -> norm(n);
            case CoreOp.Linear l -> linear(l, l, null, l.out());
            case CoreOp.Rope r -> rope(r);
            case CoreOp.Attention a -> attention(a);
            case FusedOp.NormQkvRope f -> normQkvRope(f);
            case FusedOp.NormGateUp f -> normGateUp(f);
            case FusedOp.LinearAdd f ->
                linear(f, f.linear(), f.residual(), f.add().out());
            case ReferenceOp own -> ops.add(ownOps.plan(own, pool, weights));
            default -> ops.add(rowOps.plan(op));
        }
    }

    private void add(
            Op op,
            String name,
            String kernel,
            Support.Level level,
            boolean selected,
            long bytes,
            PlannedOp.Emitter emitter) {
        ops.add(new PlannedOp(op.kind(), name, kernel, level, selected, bytes, emitter));
    }

    private static Support.Level level(DeviceWeight... weights) {
        return Stream.of(weights)
                .map(DeviceWeight::level)
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    private void norm(CoreOp.RmsNorm n) {
        Slot x = pool.get(n.x());
        boolean whole = n.weight().cols() == n.x().width();
        List<Op> reading = readingOps.getOrDefault(n.out().id(), List.of());
        // The one reader may also be the graph's output, which is no op.
        boolean once = readers.getOrDefault(n.out().id(), 0) == 1 && !reading.isEmpty();
        if (whole && once && reading.getFirst() instanceof CoreOp.Linear) {
            // The linear reads x itself, so x must live until then.
            folded.put(n.out().id(), n);
            pool.share(n.out(), x);
            return;
        }
        BufferSpec weight = weights.floats(n.weight());
        Slot out = pool.define(n.out(), x.selected);
        int group = n.weight().cols();
        add(n, n.weight().name(), "rms_norm", Support.Level.FAST, x.selected, weight.bytes(), to -> {
            int groups = to.rows(x) * (x.width / group);
            to.launch(
                    Emission.SMALL,
                    "rms_norm",
                    groups,
                    1,
                    1,
                    group <= 128 ? 32 : 256,
                    0,
                    to.at(x),
                    weight.at(0),
                    n.eps(),
                    to.out(out),
                    group,
                    groups);
        });
    }

    private Norm normOf(CoreOp.RmsNorm n) {
        return n == null ? null : new Norm(weights.floats(n.weight()).at(0), n.eps());
    }

    private Argument.Address bias(CoreOp.Linear l) {
        return l.bias().map(b -> weights.floats(b).at(0)).orElse(Argument.Address.NULL);
    }

    private long bytes(CoreOp.Linear l) {
        return weights.matrix(l.weight()).bytes()
                + l.bias().map(b -> 4L * b.cols()).orElse(0L);
    }

    private void linear(Op op, CoreOp.Linear l, Value residualValue, Value outValue) {
        CoreOp.RmsNorm n = folded.get(l.x().id());
        Slot x = pool.get(l.x());
        Slot residual = residualValue == null ? null : pool.get(residualValue);
        DeviceWeight weight = weights.matrix(l.weight());
        Norm norm = normOf(n);
        Slot out = pool.define(outValue, x.selected);
        Product product = new Product(weight, bias(l), residual, out);
        long normBytes = n == null ? 0 : 4L * n.weight().cols();
        add(
                op,
                l.weight().name(),
                "linear_" + weight.format().id(),
                level(weight),
                x.selected,
                bytes(l) + normBytes,
                to -> linears.products(to, x, norm, List.of(product)));
    }

    /// Whether everything that reads a value takes it in float16 in steps of many rows.
    private boolean takenAsF16(Value value) {
        return readers.get(value.id())
                        .equals(readingOps.getOrDefault(value.id(), List.of()).size())
                && readingOps.getOrDefault(value.id(), List.of()).stream().allMatch(op -> switch (op) {
                    case CoreOp.Linear l -> linears.matmul(weights.matrix(l.weight()));
                    case FusedOp.LinearAdd f ->
                        !f.residual().equals(value)
                                && linears.matmul(weights.matrix(f.linear().weight()));
                    default -> false;
                });
    }

    private BufferSpec ropeTable(RopeParams params) {
        return ropes.computeIfAbsent(RopeTables.key(params), key -> {
            int pairs = params.ropeDim() / 2;
            double[] frequencies = RopeTables.frequencies(
                    params, params.freqFactors().map(weights::values).orElse(null));
            BufferSpec frequency = weights.constant("rope frequencies", frequencies);
            BufferSpec table = buffers.add(
                    BufferSpec.Kind.ACTIVATION, "rope table", 8L * pairs * Buckets.of(options.maxBatchTokens()));
            ops.add(new PlannedOp(
                    "rope",
                    "rope table",
                    "rope_table",
                    Support.Level.FAST,
                    false,
                    8L * pairs,
                    to -> to.launch(
                            Emission.SMALL,
                            "rope_table",
                            to.shape.rows(),
                            1,
                            1,
                            64,
                            0,
                            to.stepAt(to.layout.positions()),
                            frequency.at(0),
                            table.at(0),
                            pairs,
                            params.attentionFactor())));
            return table;
        });
    }

    private void rope(CoreOp.Rope r) {
        Slot x = pool.get(r.x());
        if (x.selected) {
            throw new IllegalStateException("rotation of selected rows; positions are known for all rows only");
        }
        BufferSpec table = ropeTable(r.params());
        Slot out = pool.define(r.out(), false);
        RopeParams p = r.params();
        add(
                r,
                r.out().name(),
                "rope",
                Support.Level.FAST,
                false,
                0,
                to -> to.launch(
                        Emission.SMALL,
                        "rope",
                        x.width / p.headDim(),
                        to.rows(x),
                        1,
                        64,
                        0,
                        to.at(x),
                        table.at(0),
                        to.out(out),
                        x.width / p.headDim(),
                        p.headDim(),
                        p.ropeDim(),
                        KernelCodes.of(p.pairing())));
    }

    private void attention(CoreOp.Attention a) {
        Slot q = pool.get(a.q());
        Slot k = pool.get(a.k());
        Slot v = pool.get(a.v());
        Slot out = pool.define(a.out(), false);
        long keyBytes = a.headCountKv() * KvBuffer.TOKENS * KvBuffer.rowBytes(options.keyType(), a.keyLength());
        long valueBytes = a.headCountKv() * KvBuffer.TOKENS * KvBuffer.rowBytes(options.valueType(), a.valueLength());
        KvBuffer keys = kv("keys of layer " + a.layer(), keyBytes);
        KvBuffer values = kv("values of layer " + a.layer(), valueBytes);
        CacheTypes types = new CacheTypes(options.keyType(), options.valueType());
        long context = (long) pageCount * KvBuffer.TOKENS;
        AttentionLaunches.Heads raw = heads.get(a.q().id());
        AttentionLaunches launches = new AttentionLaunches(
                a,
                q,
                k,
                v,
                out,
                raw,
                types,
                keys,
                values,
                a.params().sinks().map(s -> weights.floats(s).at(0)).orElse(Argument.Address.NULL),
                pages,
                pageCount,
                context,
                tileRows == AttentionLaunches.tileRows(a, traits) && takenAsF16(a.out()));
        deepFrom = Math.min(deepFrom, launches.deepFrom(traits));
        add(a, a.out().name(), "attention_" + types.entry(), Support.Level.FAST, false, 0, launches::emit);
    }

    private KvBuffer kv(String purpose, long pageBytes) {
        KvBuffer made = new KvBuffer(
                buffers.add(BufferSpec.Kind.KV, purpose, Math.multiplyExact(pageBytes, (long) pageCount)), pageBytes);
        cache.add(made);
        return made;
    }

    private void normQkvRope(FusedOp.NormQkvRope f) {
        Slot x = pool.get(f.norm().x());
        Norm norm = normOf(f.norm());
        BufferSpec table = ropeTable(f.qRope().params());
        Slot q = pool.define(f.qRope().out(), false);
        Slot k = pool.define(f.kRope().out(), false);
        Slot v = pool.define(f.v().out(), false);
        Optional<CoreOp.RmsNorm> any = f.qNorm().or(f::kNorm);
        heads.put(
                f.qRope().out().id(),
                new AttentionLaunches.Heads(
                        f.qNorm().map(n -> weights.floats(n.weight()).at(0)).orElse(Argument.Address.NULL),
                        f.kNorm().map(n -> weights.floats(n.weight()).at(0)).orElse(Argument.Address.NULL),
                        any.map(CoreOp.RmsNorm::eps).orElse(0f),
                        table,
                        f.qRope().params()));
        Product pq = new Product(weights.matrix(f.q().weight()), bias(f.q()), null, q);
        Product pk = new Product(weights.matrix(f.k().weight()), bias(f.k()), null, k);
        Product pv = new Product(weights.matrix(f.v().weight()), bias(f.v()), null, v);
        boolean matmul = List.of(pq, pk, pv).stream().allMatch(p -> linears.matmul(p.weight()));
        long bytes = 4L * f.norm().weight().cols() + bytes(f.q()) + bytes(f.k()) + bytes(f.v());
        String names = pq.weight().tensor() + ", " + pk.weight().tensor() + ", "
                + pv.weight().tensor();
        String kernel =
                "qkv_" + pq.weight().format().id() + "_" + pv.weight().format().id();
        add(f, names, kernel, level(pq.weight(), pk.weight(), pv.weight()), false, bytes, to -> {
            if (to.rows(x) > StepShape.FEW && matmul) {
                linears.products(to, x, norm, List.of(pq, pk, pv));
            } else {
                linears.qkv(to, x, norm, pq, pk, pv);
            }
        });
    }

    private void normGateUp(FusedOp.NormGateUp f) {
        Slot x = pool.get(f.norm().x());
        Norm norm = normOf(f.norm());
        DeviceWeight gate = weights.matrix(f.gate().weight());
        DeviceWeight up = weights.matrix(f.up().weight());
        boolean f16 = takenAsF16(f.multiply().out());
        Slot out = pool.define(f.multiply().out(), x.selected);
        int activation = KernelCodes.of(f.activate().activation());
        long bytes = 4L * f.norm().weight().cols() + bytes(f.gate()) + bytes(f.up());
        add(
                f,
                gate.tensor() + ", " + up.tensor(),
                "gate_up_" + gate.format().id(),
                level(gate, up),
                x.selected,
                bytes,
                to -> linears.gateUp(to, x, norm, gate, up, activation, out, f16));
    }
}
