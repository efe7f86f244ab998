package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.FusedOp.Projections.Part;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.math.ElementDispatch;
import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.math.LayerNormMath;
import dev.tenon.backend.cpu.vector.math.RmsNormMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuElementwise;
import dev.tenon.backend.cpu.vector.op.CpuEmbedding;
import dev.tenon.backend.cpu.vector.op.CpuHeadLinear;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuLinear;
import dev.tenon.backend.cpu.vector.op.CpuLinearThen;
import dev.tenon.backend.cpu.vector.op.CpuNorm;
import dev.tenon.backend.cpu.vector.op.CpuNormGateUp;
import dev.tenon.backend.cpu.vector.op.CpuProjections;
import dev.tenon.backend.cpu.vector.op.CpuRope;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.op.CpuSelectRows;
import dev.tenon.backend.cpu.vector.op.LowRankChange;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.sequence.CpuAttention;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Turns the ops of a graph into kernels with their arrays: one pass over a fused graph.
final class Lowering {
    private final WeightBinder binder;
    private final CpuKv cache;
    private final StateKernels states;
    private final KernelSet kernels;
    private final PlanMemory memory;
    private final int maxTokens;
    private final ValuePool<Activations> pool;
    private final Graph graph;
    private final AdapterLowering adapters;
    private final ElementDispatch elements;
    private final ExpertLowering experts;
    private final List<LoweredGraph.Entry> entries = new ArrayList<>();
    private final RopeTables tables;
    private final Map<CoreOp.Attention, AttentionKernel> attentionKernels = new LinkedHashMap<>();
    private ThreadNeeds needs = new ThreadNeeds(1, 0, 1, 0);
    private boolean ownElements;
    private int vocabularySize = Integer.MAX_VALUE;
    private int positions = Integer.MAX_VALUE;
    /// Weight bytes that a decoded token reads, of the op that is being lowered.
    private long weightBytes;

    /// Prepares the pass.
    ///
    /// @param graph fused graph whose ops `OpSupport` accepted
    /// @param adapters what adapters change of projections, by the value that they compute
    /// @param binder binds weights
    /// @param cache the plan's KV cache
    /// @param states makes the kernels of ops with a state
    /// @param kernels selects kernels
    /// @param memory gives memory to tables
    /// @param maxTokens most tokens of a step
    Lowering(
            Graph graph,
            Map<Value, LowRankAdd> adapters,
            WeightBinder binder,
            CpuKv cache,
            StateKernels states,
            KernelSet kernels,
            PlanMemory memory,
            int maxTokens) {
        this.graph = graph;
        this.binder = binder;
        this.cache = cache;
        this.states = states;
        this.kernels = kernels;
        this.elements = kernels.elements();
        this.ownElements = elements.kernel() == null;
        this.memory = memory;
        this.maxTokens = maxTokens;
        this.tables = new RopeTables(binder, memory, maxTokens);
        List<Value> outputs = new ArrayList<>(graph.outputs().values());
        outputs.add(graph.output());
        this.pool =
                new ValuePool<>(graph.ops(), outputs, (purpose, width, selected) -> new Activations(width, selected));
        this.experts = new ExpertLowering(this, binder, pool);
        this.adapters = new AdapterLowering(this, adapters, binder, kernels, memory, pool);
    }

    /// {@return the graph as kernels}
    LoweredGraph run() {
        List<Op> ops = graph.ops();
        for (int i = 0; i < ops.size(); i++) {
            lower(ops.get(i));
            pool.releaseAfter(ops.get(i), i);
        }
        Map<String, Activations> outputs = new LinkedHashMap<>();
        graph.outputs().forEach((name, value) -> outputs.put(name, pool.get(value)));
        return new LoweredGraph(
                entries,
                pool.get(graph.output()),
                outputs,
                positions,
                pool.all(),
                tables.all(),
                needs,
                attentionKernels,
                elements,
                ownElements,
                experts.memory(),
                vocabularySize);
    }

    private void lower(Op op) {
        switch (op) {
            case CoreOp.Embedding e -> embedding(e);
            case CoreOp.RmsNorm n -> {
                Activations x = pool.get(n.x());
                String kernel = elements.kernel() != null ? elements.kernel().name() : kernels.elementsName();
                add(n, n.weight().name(), kernel, new CpuNorm(x, norm(n), pool.define(n.out(), x.selected)));
            }
            case CoreOp.LayerNorm n -> {
                Activations x = pool.get(n.x());
                RowNorm math = norm(n);
                add(n, n.weight().name(), "f32.java", new CpuNorm(x, math, pool.define(n.out(), x.selected)));
            }
            case CoreOp.Linear l -> linear(l, l, null, l.out());
            case CoreOp.Rope r -> {
                Activations x = pool.get(r.x());
                add(
                        r,
                        r.out().name(),
                        "f32.java",
                        new CpuRope(
                                x, null, tables.of(r.params()), r.params(), null, pool.define(r.out(), x.selected)));
            }
            case CoreOp.Attention a -> attention(a);
            case CoreOp.Add a -> binary(a, a.a(), a.b(), a.out(), CpuElementwise.add());
            case CoreOp.Multiply m -> binary(m, m.a(), m.b(), m.out(), CpuElementwise.multiply());
            case CoreOp.Activate a -> {
                Activations x = pool.get(a.x());
                CpuElementwise.Function function = CpuElementwise.activate(a.activation(), elements.math());
                ownElements = true;
                Activations out = pool.define(a.out(), x.selected);
                add(a, a.out().name(), kernels.elementsName(), new CpuElementwise(function, x, x, out));
            }
            case CoreOp.Scale s -> binary(s, s.x(), s.x(), s.out(), CpuElementwise.scale(s.factor()));
            case CoreOp.SwigluOai s ->
                binary(s, s.gate(), s.up(), s.out(), CpuElementwise.swigluOai(s.alpha(), s.limit()));
            case CoreOp.SoftCap s -> binary(s, s.x(), s.x(), s.out(), CpuElementwise.softCap(s.cap()));
            case PositionScale s -> {
                Activations x = pool.get(s.x());
                add(s, s.out().name(), "f32.java", CpuRows.positionScale(s, x, pool.define(s.out(), x.selected)));
            }
            case CoreOp.SelectRows s -> {
                Activations x = pool.get(s.x());
                add(s, s.out().name(), "f32.java", new CpuSelectRows(x, pool.define(s.out(), true)));
            }
            case PartOp.Slice s -> add(s, s.out().name(), "f32.java", PartKernels.slice(s, pool));
            case PartOp.GroupedRmsNorm n ->
                add(n, n.weight().name(), "f32.java", PartKernels.groupedRmsNorm(n, pool, binder, elements.math()));
            case PartOp.GroupedLayerNorm n ->
                add(n, n.weight().name(), "f32.java", PartKernels.groupedLayerNorm(n, pool, binder));
            case PartOp.PlainRmsNorm n ->
                add(n, n.out().name(), "f32.java", PartKernels.plainRmsNorm(n, pool, elements.math()));
            case PartOp.Join j -> add(j, j.out().name(), "f32.java", PartKernels.join(j, pool));
            case PartOp.HeadLinear l -> headLinear(l);
            case LowRankAdd l -> adapters.lower(l);
            case StateOp s -> add(s, s.out().name(), states.name(s), states.of(s, pool, binder));
            case FusedOp.NormQkvRope f -> projections(UsualProjections.of(f), null, f);
            case FusedOp.Qkv f -> projections(UsualProjections.of(f), null, f);
            case FusedOp.ScaledQkv f -> projections(UsualProjections.of(f.qkv()), f.scale(), f);
            case FusedOp.Projections f -> projections(f, null, f);
            case FusedOp.NormGateUp f ->
                gateUp(
                        new FusedOp.GateUp(
                                Optional.of(f.norm()),
                                Optional.of(f.gate()),
                                f.up(),
                                f.activate(),
                                Optional.of(f.multiply())),
                        f);
            case FusedOp.GateUp f -> gateUp(f, f);
            case FusedOp.LinearAdd f ->
                linear(f, f.linear(), f.residual(), f.add().out());
            case FusedOp.LinearThen f -> linearThen(f);
            case ExpertOp e -> experts.lower(e);
            case FusedExpertOp.NormRouter f -> experts.lower(f);
            case FusedExpertOp.ExpertGateUp f -> experts.lower(f);
            case FusedExpertOp.ExpertDown f -> experts.lower(f);
            case ReferenceOp o -> own(OwnOp.of(o, pool, binder, memory));
            default -> plain(PlainOp.of(op, pool, binder));
        }
    }

    private void plain(PlainOp plain) {
        weightBytes += plain.weightBytes();
        needScratch(plain.scratchFloats());
        positions = Math.min(positions, plain.positions());
        add(
                plain.kernel(),
                new PlanReport.Kernel(plain.op().kind(), plain.name(), "plain.generic", Support.Level.GENERIC));
    }

    private void own(OwnOp own) {
        weightBytes += own.weightBytes();
        needScratch(own.scratchFloats());
        add(own.kernel(), own.report());
    }

    private void embedding(CoreOp.Embedding e) {
        long rowBytes = binder.rowBytes(e.table());
        weightBytes += rowBytes;
        vocabularySize = Math.min(vocabularySize, e.table().rows());
        String kernel = binder.format(e.table()).id().toLowerCase(Locale.ROOT) + ".decode";
        add(
                e,
                e.table().name(),
                kernel,
                new CpuEmbedding(
                        binder.format(e.table()), binder.data(e.table()), rowBytes, pool.define(e.out(), false)));
    }

    /// A projection with what is added to it, or null.
    private void linear(Op op, CoreOp.Linear l, Value residual, Value out) {
        Activations x = pool.get(l.x());
        Activations sum = residual == null ? null : pool.get(residual);
        BoundLinear bound = bind(l, x.selected);
        Activations result = pool.define(out, x.selected);
        add(op, new CpuLinear(x, bound, sum, result, Packing.before(bound), elements), bound);
    }

    /// The matrices of all heads are one matrix: the rows of the first head's, then those of the next.
    private void headLinear(PartOp.HeadLinear l) {
        Weight w = l.weight();
        Activations x = pool.get(l.x());
        BoundLinear all =
                binder.linear(new Weight(w.name(), w.cols(), Math.multiplyExact(w.slices(), w.tensorRows())), null);
        boolean packs = all.packed() != null;
        weightBytes += all.rowBytes() * w.rows() * w.slices();
        needs = needs.and(new ThreadNeeds(
                packs ? 0 : w.cols(), 0, packs ? all.packed().kernel.scratchBytes(w.cols(), 1) : 0, 0));
        CpuHeadLinear kernel = new CpuHeadLinear(l, x, all, binder.format(w), pool.define(l.out(), x.selected));
        String name = packs ? all.kernelName() : "plain.generic";
        Support.Level level = packs ? Support.Level.FAST : Support.Level.GENERIC;
        add(kernel, new PlanReport.Kernel(l.kind(), w.name(), name, level));
    }

    private void attention(CoreOp.Attention a) {
        Activations q = pool.get(a.q());
        Activations k = pool.get(a.k());
        Activations v = pool.get(a.v());
        Activations out = pool.define(a.out(), false);
        AttentionKernel kernel = kernels.attention(a, cache.keyType(), cache.valueType());
        if (kernel != null) {
            attentionKernels.put(a, kernel);
            needs = needs.and(new ThreadNeeds(0, 0, kernel.scratchBytes(a.keyLength(), a.valueLength()), 0));
        }
        String name = kernel != null ? kernel.name() : kernels.attentionName();
        float[] sinks = a.params().sinks().map(binder::vector).orElse(new float[0]);
        float[] bias = a.params()
                .scoreBias()
                .flatMap(ScoreBias::table)
                .map(binder::vector)
                .orElse(new float[0]);
        boolean appends = graph.cacheLayers().contains(a);
        add(
                a,
                a.out().name(),
                name,
                new CpuAttention(a, appends, q, k, v, cache, kernel, kernels.attention(), sinks, bias, out));
    }

    private void binary(Op op, Value a, Value b, Value out, CpuElementwise.Function function) {
        Activations left = pool.get(a);
        Activations right = pool.get(b);
        add(op, out.name(), "f32.java", new CpuElementwise(function, left, right, pool.define(out, left.selected)));
    }

    /// Projections before attention.
    ///
    /// @param f what they are
    /// @param scale of the first one's result, or null
    /// @param op the op that says so, for reports
    private void projections(FusedOp.Projections f, PositionScale scale, Op op) {
        Activations x = pool.get(f.parts().getFirst().linear().x());
        RowNorm norm = null;
        Activations normed = x;
        if (f.norm().isPresent()) {
            x = pool.get(f.norm().get().x());
            norm = norm(f.norm().get());
            normed = f.normRead() ? normedOutput(f.norm().get(), x) : normed(x);
        }
        boolean selected = x.selected;
        BoundLinear[] linears =
                f.parts().stream().map(part -> bind(part.linear(), selected)).toArray(BoundLinear[]::new);
        CpuRope[] heads = new CpuRope[linears.length];
        for (int i = 0; i < heads.length; i++) {
            heads[i] = heads(f.parts().get(i), i == 0 ? scale : null, x.selected);
        }
        Packing packing = Packing.before(linears);
        add(op, new CpuProjections(x, norm, normed, f.normRead(), linears, heads, packing), linears);
        if (norm != null && !f.normRead()) {
            pool.release(normed);
        }
    }

    private CpuRope heads(Part part, PositionScale scale, boolean selected) {
        Activations heads = pool.define(scale == null ? part.out() : scale.out(), selected);
        RowNorm math = part.norm().map(this::headNorm).orElse(null);
        RopeParams params = part.rope().map(CoreOp.Rope::params).orElse(null);
        return new CpuRope(heads, math, params == null ? null : tables.of(params), params, scale, heads);
    }

    private RowNorm headNorm(Op norm) {
        return norm instanceof PartOp.PlainRmsNorm plain
                ? RmsNormMath.plain(plain.length(), plain.eps(), elements)
                : norm((CoreOp.RmsNorm) norm);
    }

    /// The first half of a feed-forward layer.
    ///
    /// @param f what it is
    /// @param op the op that says so, for reports
    private void gateUp(FusedOp.GateUp f, Op op) {
        Activations x = pool.get(f.up().x());
        RowNorm norm = null;
        Activations normed = x;
        if (f.norm().isPresent()) {
            x = pool.get(f.norm().get().x());
            norm = norm(f.norm().get());
            normed = normed(x);
        }
        GateMath math = gateMath(f.activate(), f.gate().isPresent());
        BoundLinear gate = bind(f.gate().orElse(f.up()), x.selected);
        BoundLinear up = f.gate().isPresent() ? bind(f.up(), x.selected) : null;
        Activations upOut = up == null ? null : pool.temporary(up.rows(), x.selected);
        Activations out = pool.define(f.outputs().getFirst(), x.selected);
        BoundLinear[] linears = up == null ? new BoundLinear[] {gate} : new BoundLinear[] {gate, up};
        add(op, new CpuNormGateUp(x, norm, normed, gate, up, upOut, math, out, Packing.before(linears)), linears);
        if (norm != null) {
            pool.release(normed);
        }
        if (up != null) {
            pool.release(upOut);
        }
    }

    /// {@return this backend's own arithmetic, for an op that uses it}
    ElementMath ownMath() {
        ownElements = true;
        return elements.math();
    }

    GateMath gateMath(CoreOp activate, boolean gated) {
        GateMath math = new GateMath(elements, activate, gated);
        ownElements |= !math.byKernel();
        return math;
    }

    private void linearThen(FusedOp.LinearThen f) {
        Activations x = pool.get(f.linear().x());
        BoundLinear linear = bind(f.linear(), x.selected);
        FollowingParts parts = FollowingParts.of(f, this, pool);
        Activations out = pool.define(f.outputs().getFirst(), x.selected);
        Packing packing = Packing.before(linear);
        add(f, new CpuLinearThen(x, linear, parts.onColumns(), parts.onRows(), out, packing), linear);
    }

    /// {@return memory for a norm's result that other ops read}
    Activations normedOutput(CoreOp.Unary norm, Activations x) {
        needs = needs.and(new ThreadNeeds(0, 0, 0, x.width));
        return pool.define(norm.out(), x.selected);
    }

    /// {@return a temporary array for the norm before matrices}
    private Activations normed(Activations x) {
        needs = needs.and(new ThreadNeeds(0, 0, 0, x.width));
        return pool.temporary(x.width, x.selected);
    }

    /// A norm with its weights, which are counted.
    RowNorm norm(CoreOp.Unary norm) {
        Weight weight = norm.weights().getFirst();
        weightBytes += binder.format(weight).bytesFor(weight.cols());
        return switch (norm) {
            case CoreOp.RmsNorm n -> new RmsNormMath(new HostFloats(binder.vector(weight)), n.eps(), elements);
            case CoreOp.LayerNorm n ->
                new LayerNormMath(
                        binder.vector(weight), n.bias().map(binder::vector).orElse(new float[0]), n.eps());
            default -> throw new IllegalStateException("op " + norm.kind() + " is no norm");
        };
    }

    /// Binds a projection, and what adapters change of it.
    private BoundLinear bind(CoreOp.Linear l, boolean selected) {
        return bind(l, adapters.changes(l, selected));
    }

    /// Binds a projection.
    BoundLinear bind(CoreOp.Linear l, LowRankChange... changes) {
        BoundLinear bound = binder.linear(l.weight(), l.bias().orElse(null), changes);
        needs(bound, 1);
        return bound;
    }

    /// Notes what a matrix needs, and how many such matrices a decoded token reads.
    void needs(BoundLinear bound, long count) {
        weightBytes += bound.bytes() * count;
        int cols = bound.cols();
        if (bound.packed() != null) {
            for (int tokens : new int[] {1, maxTokens}) {
                needs = needs.and(new ThreadNeeds(0, 0, bound.packed().kernel.scratchBytes(cols, tokens), 0));
            }
        } else {
            needs = needs.and(new ThreadNeeds(
                    bound.kernel().scratchFloats(cols), bound.kernel().scratchBytes(cols), 0, 0));
        }
    }

    /// Notes that a kernel needs floats on each thread.
    void needScratch(int floats) {
        needs = needs.and(new ThreadNeeds(floats, 0, 0, 0));
    }

    /// Ends an op with matrices.
    void add(Op op, CpuKernel kernel, BoundLinear... linears) {
        Set<String> names = new LinkedHashSet<>();
        Set<String> tensors = new LinkedHashSet<>();
        Support.Level level = Support.Level.FAST;
        for (BoundLinear linear : linears) {
            names.add(linear.kernelName());
            tensors.add(linear.name());
            if (linear.changes().length > 0) {
                names.add(kernels.lowRankName());
                adapters.release(linear.changes());
            }
            if (linear.level() != Support.Level.FAST) {
                level = linear.level();
            }
        }
        add(kernel, new PlanReport.Kernel(op.kind(), String.join(", ", tensors), String.join(", ", names), level));
    }

    /// Ends an op without matrices.
    void add(Op op, String name, String kernelName, CpuKernel kernel) {
        add(kernel, new PlanReport.Kernel(op.kind(), name, kernelName, Support.Level.FAST));
    }

    /// Notes weight bytes that a decoded token reads.
    void reads(long bytes) {
        weightBytes += bytes;
    }

    /// Ends an op: what was counted of weights since the op before is this kernel's.
    private void add(CpuKernel kernel, PlanReport.Kernel report) {
        entries.add(new LoweredGraph.Entry(kernel, report, weightBytes));
        weightBytes = 0;
    }
}
