package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.AttentionLaunches;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
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
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
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
    private final Readers readers;
    /// Norms that a linear or an addition does, by the id of their result.
    private final Map<Integer, CoreOp.RmsNorm> folded = new HashMap<>();
    /// Products that are planned, some of them before their turn.
    private final Set<CoreOp.Linear> planned = Collections.newSetFromMap(new IdentityHashMap<>());
    private final AttentionOps attention;
    private final OwnOps ownOps;
    private final RowOps rowOps;
    private final ExpertOps expertOps;
    private final StateOps stateOps;
    private final HeadOps headOps;
    private final AdapterOps adapterOps;
    private final Scratch scratch;
    private final BufferSpec step;
    private final ValuePool<Slot> pool;
    private final int tileRows;
    private final int maxLogitRows;

    private GraphPlanner(PlanRequest request) {
        this.graph = FusedOpFilter.expandUnfit(request.graph(), request.weights(), request.fragments());
        this.options = request.options();
        this.traits = request.traits();
        this.ownOps = new OwnOps(request.ownOps());
        this.weights = new WeightList(request.weights(), request.fragments(), buffers);
        this.linears = new LinearLaunches(
                request.schedule(),
                !"off".equals(options.settings().get(TENSOR_CORES)),
                Integer.parseInt(PlanSettings.MATRIX_SPLITS.in(options.settings())),
                request.libraries());
        this.scratch = Scratch.of(buffers);
        this.step = buffers.add(BufferSpec.Kind.STEP, "step input", 0);
        this.pool = new ValuePool<>(this.graph.ops(), List.of(this.graph.output()), this::slot);
        // Pooling needs the whole step's input, which only its first run has.
        this.maxLogitRows = this.graph.ops().stream().anyMatch(CoreOp.Pool.class::isInstance)
                ? Buckets.of(options.maxBatchTokens())
                : StepLimits.maxLogitRows(options);
        this.readers = new Readers(this.graph);
        this.rowOps = new RowOps(pool, weights, folded, this.graph.output());
        this.attention = new AttentionOps(options, traits, buffers, weights, pool, ops);
        ExpertLaunches experts = new ExpertLaunches(linears, request.schedule());
        this.headOps = new HeadOps(pool, weights, buffers, experts, Buckets.of(options.maxBatchTokens()));
        this.adapterOps = new AdapterOps(pool, weights, linears, experts, readers);
        this.expertOps = new ExpertOps(
                pool, weights, buffers, linears, experts, value -> normOf(folded.get(value.id())), readers);
        this.stateOps = new StateOps(pool, weights, buffers, readers, options.stateSlots());
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
        for (int i = 0; i < graph.ops().size(); i++) {
            lower(graph.ops().get(i));
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
                adapterOps.factors());
        LaunchPlan plan = new LaunchPlan(limits, traits, ops, output, scratch, step);
        for (StepShape shape : limits.largest()) {
            plan.launches(shape, buffers::grow);
            buffers.grow(step, limits.layout(shape).bytes());
        }
        return new PlannedGraph(
                plan, attention.pages(), buffers.list(), weights, attention.cache(), stateOps.states(), ownOps.texts());
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
            case CoreOp.Linear l -> linears(l);
            case CoreOp.Rope r -> attention.rope(r);
            case CoreOp.Attention a ->
                attention.attention(a, tileRows == AttentionLaunches.tileRows(a, traits) && takenAsF16(a.out()));
            case PositionScale s when isQueryOfAttention(s) -> attention.scaled(s);
            case FusedOp.NormQkvRope f -> qkv(f, FusedOpFilter.asQkv(f), f.v().out());
            case FusedOp.Qkv f -> qkv(f, f, f.v().out());
            case FusedOp.Projections f -> {
                FusedOp.Projections.Part v = f.parts().getLast();
                qkv(f, FusedOpFilter.asQkv(f).orElseThrow(), v.out());
                ops.add(rowOps.inPlace((PartOp.PlainRmsNorm) v.norm().orElseThrow()));
            }
            case FusedOp.NormGateUp f -> gateUp(f, FusedOpFilter.asGateUp(f));
            case FusedOp.GateUp f -> gateUp(f, f);
            case FusedOp.LinearAdd f ->
                linear(f, f.linear(), new Epilogue().plus(f.residual()), f.add().out());
            case FusedOp.LinearThen f -> linearThen(f);
            case FusedExpertOp.NormRouter f -> {
                fold((CoreOp.RmsNorm) f.norm());
                ops.add(expertOps.plan(f));
            }
            case PartOp.HeadLinear l -> ops.add(headOps.plan(l));
            case LowRankAdd l -> ops.add(adapterOps.plan(l));
            case StateOp s -> ops.add(stateOps.plan(s));
            case CoreOp.Activate a when stateOps.isDone(a) -> pool.share(a.out(), pool.get(a.x()));
            case ReferenceOp own -> ops.add(ownOps.plan(own, pool, weights));
            default -> ops.add(ExpertOps.plans(op) ? expertOps.plan(op) : rowOps.plan(op));
        }
    }

    private boolean isQueryOfAttention(PositionScale s) {
        return readers.only(s.out())
                .filter(op -> op instanceof CoreOp.Attention a && a.q().equals(s.out()))
                .isPresent();
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
        boolean whole = n.weight().cols() == n.x().width();
        if (whole
                && readers.only(n.out()).filter(op -> takesNormed(op, n.out())).isPresent()) {
            fold(n);
            return;
        }
        ops.add(rowOps.plan(n));
    }

    /// Whether an op that reads a norm's result norms by itself.
    private boolean takesNormed(Op op, Value normed) {
        return switch (op) {
            case CoreOp.Linear _ -> true;
            case FusedOp.LinearAdd f -> !f.residual().equals(normed);
            case CoreOp.Add a -> {
                Value other = a.a().equals(normed) ? a.b() : a.a();
                yield !other.equals(normed) && !folded.containsKey(other.id());
            }
            default -> false;
        };
    }

    /// Leaves a norm to its readers, which read x itself, so that x must live until then.
    private void fold(CoreOp.RmsNorm n) {
        folded.put(n.out().id(), n);
        pool.share(n.out(), pool.get(n.x()));
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

    /// What happens to the sums of a linear: `activation(factor * (sum + bias)) + residual`.
    private record Epilogue(Value residual, float factor, int activation) {
        Epilogue() {
            this(null, 1, Product.NO_ACTIVATION);
        }

        Epilogue plus(Value value) {
            return new Epilogue(value, factor, activation);
        }
    }

    /// A product, and those after it that read the same input and have the same format: they share their launches.
    private void linears(CoreOp.Linear l) {
        if (!planned.add(l)) {
            return;
        }
        List<CoreOp.Linear> group = new ArrayList<>(List.of(l));
        for (Op reader : options.fuse() ? readers.of(l.x()) : List.<Op>of()) {
            if (reader instanceof CoreOp.Linear other
                    && weights.matrix(other.weight())
                            .format()
                            .equals(weights.matrix(l.weight()).format())
                    && planned.add(other)) {
                group.add(other);
            }
        }
        if (group.size() == 1) {
            linear(l, l, new Epilogue(), l.out());
            return;
        }
        Slot x = pool.get(l.x());
        Norm norm = normOf(folded.get(l.x().id()));
        List<Product> products = new ArrayList<>();
        for (CoreOp.Linear each : group) {
            Slot out = pool.define(each.out(), x.selected);
            products.add(new Product(weights.matrix(each.weight()), bias(each), null, out));
        }
        add(
                l,
                group.stream().map(each -> each.weight().name()).collect(Collectors.joining(", ")),
                "linear_" + products.getFirst().weight().format().id(),
                level(products.getFirst().weight()),
                x.selected,
                group.stream().mapToLong(this::bytes).sum() + (norm == null ? 0 : 4L * x.width),
                to -> linears.products(to, x, norm, products));
    }

    private void linear(Op op, CoreOp.Linear l, Epilogue then, Value outValue) {
        CoreOp.RmsNorm n = folded.get(l.x().id());
        linear(op, l, pool.get(l.x()), normOf(n), then, outValue);
    }

    private void linear(Op op, CoreOp.Linear l, Slot x, Norm norm, Epilogue then, Value outValue) {
        Slot residual = then.residual == null ? null : pool.get(then.residual);
        DeviceWeight weight = weights.matrix(l.weight());
        Slot out = pool.define(outValue, x.selected);
        Product product = new Product(weight, bias(l), residual, out, then.factor, then.activation);
        long normBytes = norm == null ? 0 : 4L * x.width;
        add(
                op,
                l.weight().name(),
                "linear_" + weight.format().id(),
                level(weight),
                x.selected,
                bytes(l) + normBytes,
                to -> linears.products(to, x, norm, List.of(product)));
    }

    /// A linear with a factor, and a residual if there is one.
    private void linearThen(FusedOp.LinearThen f) {
        CoreOp.Scale scale = (CoreOp.Scale) f.then().getFirst();
        Value residual = null;
        if (f.then().getLast() instanceof CoreOp.Add add) {
            residual = add.a().equals(scale.out()) ? add.b() : add.a();
        }
        Epilogue then = new Epilogue(residual, scale.factor(), Product.NO_ACTIVATION);
        linear(f, f.linear(), then, f.then().getLast().out());
    }

    /// Whether everything that reads a value takes it in float16 in steps of many rows.
    private boolean takenAsF16(Value value) {
        return readers.all(value, op -> switch (op) {
            case CoreOp.Linear l -> linears.matmul(weights.matrix(l.weight()));
            case FusedOp.LinearAdd f ->
                !f.residual().equals(value)
                        && linears.matmul(weights.matrix(f.linear().weight()));
            case FusedOp.LinearThen f ->
                f.then().stream().noneMatch(then -> then.inputs().contains(value))
                        && linears.matmul(weights.matrix(f.linear().weight()));
            default -> false;
        });
    }

    /// What projections read: the input and a norm that they do, or the result of a norm that has its own kernel.
    private record Normed(Slot x, Norm norm, Optional<Slot> temporary) {
        long bytes() {
            return norm == null ? 0 : 4L * x.width;
        }
    }

    private Normed normed(Optional<CoreOp.Unary> norm, boolean read, Value projected) {
        if (norm.isEmpty()) {
            return new Normed(pool.get(projected), null, Optional.empty());
        }
        CoreOp.Unary n = norm.get();
        Slot x = pool.get(n.x());
        if (read) {
            ops.add(rowOps.plan(n));
            return new Normed(pool.get(n.out()), null, Optional.empty());
        }
        if (n instanceof CoreOp.RmsNorm rms && rms.weight().cols() == x.width) {
            return new Normed(x, normOf(rms), Optional.empty());
        }
        Slot own = pool.temporary(x.width, x.selected);
        ops.add(rowOps.norm(n, own));
        return new Normed(own, null, Optional.of(own));
    }

    /// @param values what the values are in the end
    private void qkv(Op op, FusedOp.Qkv f, Value values) {
        Normed in = normed(f.norm(), f.normRead(), f.q().x());
        Slot x = in.x;
        Slot q = pool.define(f.queries(), false);
        Slot k = pool.define(f.keys(), false);
        Slot v = pool.define(values, false);
        attention.raw(f);
        Product pq = new Product(weights.matrix(f.q().weight()), bias(f.q()), null, q);
        Product pk = new Product(weights.matrix(f.k().weight()), bias(f.k()), null, k);
        Product pv = new Product(weights.matrix(f.v().weight()), bias(f.v()), null, v);
        boolean matmul = Stream.of(pq, pk, pv).allMatch(p -> linears.matmul(p.weight()));
        long bytes = in.bytes() + bytes(f.q()) + bytes(f.k()) + bytes(f.v());
        String names = pq.weight().tensor() + ", " + pk.weight().tensor() + ", "
                + pv.weight().tensor();
        String kernel =
                "qkv_" + pq.weight().format().id() + "_" + pv.weight().format().id();
        add(op, names, kernel, level(pq.weight(), pk.weight(), pv.weight()), false, bytes, to -> {
            if (to.rows(x) > StepShape.FEW && matmul) {
                linears.products(to, x, in.norm, List.of(pq, pk, pv));
            } else {
                linears.qkv(to, x, in.norm, pq, pk, pv);
            }
        });
        if (FusedOpFilter.wholeNorms(f)) {
            ops.add(rowOps.twoNorms(f.qNorm().orElseThrow(), q, f.kNorm().orElseThrow(), k));
        }
        in.temporary.ifPresent(pool::release);
    }

    private void gateUp(Op op, FusedOp.GateUp f) {
        Normed in = normed(f.norm(), false, f.up().x());
        int activation = KernelCodes.of(((CoreOp.Activate) f.activate()).activation());
        if (f.gate().isEmpty()) {
            linear(
                    op,
                    f.up(),
                    in.x,
                    in.norm,
                    new Epilogue(null, 1, activation),
                    f.activate().out());
        } else {
            DeviceWeight gate = weights.matrix(f.gate().get().weight());
            DeviceWeight up = weights.matrix(f.up().weight());
            Value product = f.multiply().orElseThrow().out();
            boolean f16 = takenAsF16(product);
            Slot out = pool.define(product, in.x.selected);
            add(
                    op,
                    gate.tensor() + ", " + up.tensor(),
                    "gate_up_" + gate.format().id(),
                    level(gate, up),
                    in.x.selected,
                    in.bytes() + bytes(f.gate().get()) + bytes(f.up()),
                    to -> linears.gateUp(to, in.x, in.norm, gate, up, activation, out, f16));
        }
        in.temporary.ifPresent(pool::release);
    }
}
