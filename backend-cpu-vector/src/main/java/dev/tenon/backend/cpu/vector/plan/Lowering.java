package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.backend.cpu.vector.op.PlainOp;

import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.op.AttentionStep;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuStep;
import dev.tenon.backend.cpu.vector.op.Elements;
import dev.tenon.backend.cpu.vector.op.ElementwiseStep;
import dev.tenon.backend.cpu.vector.op.EmbeddingStep;
import dev.tenon.backend.cpu.vector.op.LinearAddStep;
import dev.tenon.backend.cpu.vector.op.LinearStep;
import dev.tenon.backend.cpu.vector.op.NormGateUpStep;
import dev.tenon.backend.cpu.vector.op.NormQkvRopeStep;
import dev.tenon.backend.cpu.vector.op.NormStep;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.op.RmsNormMath;
import dev.tenon.backend.cpu.vector.op.RopeStep;
import dev.tenon.backend.cpu.vector.op.RopeTable;
import dev.tenon.backend.cpu.vector.op.SelectStep;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import java.util.ArrayList;
import java.util.HashMap;
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
    private final KernelSet kernels;
    private final CpuAllocator allocator;
    private final int maxTokens;
    private final ActivationPool pool;
    private final Graph graph;
    /// The kernels in order.
    final List<CpuStep> steps = new ArrayList<>();
    /// What the report says of each kernel.
    final List<PlanReport.Step> report = new ArrayList<>();
    /// Tables of all ways to rotate.
    final Map<RopeKey, RopeTable> tables = new HashMap<>();
    /// Kernels of other bundles for attention; the other layers use this backend's.
    final Map<CoreOp.Attention, AttentionKernel> attentionKernels = new LinkedHashMap<>();
    /// Activations, norms and sums.
    final Elements elements;
    /// Whether this backend's own arithmetic computes some of them.
    boolean ownElements;
    /// Weight bytes that a decoded token reads.
    long weightBytes;
    /// The share of each kernel in them.
    final List<Long> stepWeightBytes = new ArrayList<>();
    /// Bytes of the tables.
    long tableBytes;
    /// Floats that linear kernels need on each thread.
    int scratchFloats = 1;
    /// Bytes that linear kernels need on each thread.
    int scratchBytes;
    /// Off-heap bytes that packed kernels need on each thread.
    long scratchMemory = 1;
    /// Elements of the longest row that is normed in front of matrices.
    int normedWidth;
    /// Outputs beside the logits.
    final Map<String, Activations> outputs = new LinkedHashMap<>();
    /// Number of positions that the model has vectors for.
    int positions = Integer.MAX_VALUE;
    /// Number of token ids that all embeddings know.
    int vocabulary = Integer.MAX_VALUE;

    /// What two rotations share if their tables are the same.
    record RopeKey(
            int ropeDim,
            float freqBase,
            float freqScale,
            Optional<Weight> freqFactors,
            Optional<RopeParams.Yarn> yarn,
            float attentionFactor) {}

    /// Prepares the pass.
    ///
    /// @param graph fused graph whose ops `OpSupport` accepted
    /// @param binder binds weights
    /// @param cache the plan's KV cache
    /// @param kernels chooses kernels
    /// @param allocator gives memory
    /// @param maxTokens most tokens in a step
    Lowering(Graph graph, WeightBinder binder, CpuKv cache, KernelSet kernels, CpuAllocator allocator, int maxTokens) {
        this.graph = graph;
        this.binder = binder;
        this.cache = cache;
        this.kernels = kernels;
        this.elements = kernels.elements(binder.offered());
        this.ownElements = elements.kernel() == null;
        this.allocator = allocator;
        this.maxTokens = maxTokens;
        List<Value> outputs = new ArrayList<>(graph.outputs().values());
        outputs.add(graph.output());
        this.pool = new ActivationPool(graph.ops(), outputs);
    }

    /// Does the pass; the results are in the fields.
    ///
    /// @return the logits
    Activations run() {
        List<Op> ops = graph.ops();
        for (int i = 0; i < ops.size(); i++) {
            long before = weightBytes;
            lower(ops.get(i));
            stepWeightBytes.add(weightBytes - before);
            pool.releaseAfter(ops.get(i), i);
        }
        graph.outputs().forEach((name, value) -> outputs.put(name, pool.get(value)));
        return pool.get(graph.output());
    }

    private void plain(PlainOp plain) {
        weightBytes += plain.weightBytes();
        scratchFloats = Math.max(scratchFloats, plain.scratchFloats());
        positions = Math.min(positions, plain.positions());
        steps.add(plain.step());
        report.add(new PlanReport.Step(plain.op().kind(), plain.name(), "f32.java", Support.Level.GENERIC));
    }

    /// {@return all arrays of activations}
    List<Activations> activations() {
        return pool.all();
    }

    private void lower(Op op) {
        switch (op) {
            case CoreOp.Embedding e -> embedding(e);
            case CoreOp.RmsNorm n -> {
                Activations x = pool.get(n.x());
                norm(n);
                add(
                        n,
                        n.weight().name(),
                        elements.kernel() != null ? elements.kernel().name() : kernels.elementsName(),
                        new NormStep(x, rms(n), pool.define(n.out(), x.selected)));
            }
            case CoreOp.Linear l -> {
                Activations x = pool.get(l.x());
                BoundLinear bound = bind(l);
                add(l, new LinearStep(x, bound, pool.define(l.out(), x.selected), Packing.before(bound)), bound);
            }
            case CoreOp.Rope r -> {
                Activations x = pool.get(r.x());
                add(r, r.out().name(), "f32.java", rope(r, null, x, pool.define(r.out(), x.selected)));
            }
            case CoreOp.Attention a -> attention(a);
            case CoreOp.Add a -> binary(a, a.a(), a.b(), a.out(), ElementwiseStep.add());
            case CoreOp.Multiply m -> binary(m, m.a(), m.b(), m.out(), ElementwiseStep.multiply());
            case CoreOp.Activate a -> {
                Activations x = pool.get(a.x());
                ElementwiseStep.Function function = ElementwiseStep.activate(a.activation(), elements.math());
                ownElements = true;
                Activations out = pool.define(a.out(), x.selected);
                add(a, a.out().name(), kernels.elementsName(), new ElementwiseStep(function, x, x, out));
            }
            case CoreOp.Scale s -> binary(s, s.x(), s.x(), s.out(), ElementwiseStep.scale(s.factor()));
            case CoreOp.SoftCap s -> binary(s, s.x(), s.x(), s.out(), ElementwiseStep.softCap(s.cap()));
            case CoreOp.SelectRows s -> {
                Activations x = pool.get(s.x());
                add(s, s.out().name(), "f32.java", new SelectStep(x, pool.define(s.out(), true)));
            }
            case FusedOp.NormQkvRope f -> normQkvRope(f);
            case FusedOp.NormGateUp f -> normGateUp(f);
            case FusedOp.LinearAdd f -> {
                Activations x = pool.get(f.linear().x());
                Activations residual = pool.get(f.residual());
                BoundLinear bound = bind(f.linear());
                Activations out = pool.define(f.add().out(), x.selected);
                add(f, new LinearAddStep(x, bound, residual, out, Packing.before(bound), elements), bound);
            }
            default -> plain(PlainOp.of(op, pool, binder));
        }
    }

    private void embedding(CoreOp.Embedding e) {
        long rowBytes = binder.rowBytes(e.table());
        weightBytes += rowBytes;
        vocabulary = Math.min(vocabulary, e.table().rows());
        String kernel = binder.format(e.table()).id().toLowerCase(Locale.ROOT) + ".decode";
        add(
                e,
                e.table().name(),
                kernel,
                new EmbeddingStep(
                        binder.format(e.table()), binder.data(e.table()), rowBytes, pool.define(e.out(), false)));
    }

    private void attention(CoreOp.Attention a) {
        Activations q = pool.get(a.q());
        Activations k = pool.get(a.k());
        Activations v = pool.get(a.v());
        Activations out = pool.define(a.out(), false);
        AttentionKernel kernel = KernelSet.attention(a, cache.keyType(), cache.valueType(), binder.offered());
        if (kernel != null) {
            attentionKernels.put(a, kernel);
            scratchMemory = Math.max(scratchMemory, kernel.scratchBytes(a.keyLength(), a.valueLength()));
        }
        String name = kernel != null ? kernel.name() : kernels.attentionName();
        float[] sinks = a.sinks().map(binder::vector).orElse(new float[0]);
        add(a, a.out().name(), name, new AttentionStep(a, q, k, v, cache, kernel, kernels.attention(), sinks, out));
    }

    private void binary(Op op, Value a, Value b, Value out, ElementwiseStep.Function function) {
        Activations left = pool.get(a);
        Activations right = pool.get(b);
        add(op, out.name(), "f32.java", new ElementwiseStep(function, left, right, pool.define(out, left.selected)));
    }

    private void normQkvRope(FusedOp.NormQkvRope f) {
        Activations x = pool.get(f.norm().x());
        norm(f.norm());
        f.qNorm().ifPresent(this::norm);
        f.kNorm().ifPresent(this::norm);
        BoundLinear q = bind(f.q());
        BoundLinear k = bind(f.k());
        BoundLinear v = bind(f.v());
        Activations normed = pool.temporary(x.width, x.selected);
        normedWidth = Math.max(normedWidth, x.width);
        Activations qOut = pool.define(f.qRope().out(), x.selected);
        Activations kOut = pool.define(f.kRope().out(), x.selected);
        Activations vOut = pool.define(f.v().out(), x.selected);
        RopeStep qHeads = rope(f.qRope(), f.qNorm().map(this::rms).orElse(null), qOut, qOut);
        RopeStep kHeads = rope(f.kRope(), f.kNorm().map(this::rms).orElse(null), kOut, kOut);
        add(
                f,
                new NormQkvRopeStep(x, rms(f.norm()), normed, q, k, v, qHeads, kHeads, vOut, Packing.before(q, k, v)),
                q,
                k,
                v);
        pool.release(normed);
    }

    private void normGateUp(FusedOp.NormGateUp f) {
        Activations x = pool.get(f.norm().x());
        norm(f.norm());
        ownElements |= !elements.kernelGates(f.activate().activation());
        BoundLinear gate = bind(f.gate());
        BoundLinear up = bind(f.up());
        Activations normed = pool.temporary(x.width, x.selected);
        normedWidth = Math.max(normedWidth, x.width);
        Activations upOut = pool.temporary(up.rows(), x.selected);
        Activations out = pool.define(f.multiply().out(), x.selected);
        add(
                f,
                new NormGateUpStep(
                        x,
                        rms(f.norm()),
                        normed,
                        gate,
                        up,
                        upOut,
                        f.activate().activation(),
                        elements,
                        out,
                        Packing.before(gate, up)),
                gate,
                up);
        pool.release(normed);
        pool.release(upOut);
    }

    private RopeStep rope(CoreOp.Rope r, RmsNormMath norm, Activations x, Activations out) {
        return new RopeStep(x, norm, table(r.params()), r.params(), out);
    }

    private RopeTable table(RopeParams p) {
        RopeKey key =
                new RopeKey(p.ropeDim(), p.freqBase(), p.freqScale(), p.freqFactors(), p.yarn(), p.attentionFactor());
        RopeTable table = tables.get(key);
        if (table == null) {
            float[] factors = p.freqFactors().map(binder::vector).orElse(new float[0]);
            long length = (long) maxTokens * (p.ropeDim() / 2);
            float[] cos = allocator.floats(length, "rope table");
            tableBytes += length * Float.BYTES;
            float[] sin = allocator.floats(length, "rope table");
            tableBytes += length * Float.BYTES;
            table = new RopeTable(p, factors, cos, sin);
            tables.put(key, table);
        }
        return table;
    }

    private RmsNormMath rms(CoreOp.RmsNorm n) {
        return new RmsNormMath(new HostFloats(binder.vector(n.weight())), n.eps(), elements);
    }

    private void norm(CoreOp.RmsNorm n) {
        weightBytes += binder.format(n.weight()).bytesFor(n.weight().cols());
    }

    private BoundLinear bind(CoreOp.Linear l) {
        BoundLinear bound = binder.linear(l.weight(), l.bias().orElse(null));
        weightBytes += bound.bytes();
        if (bound.packed() != null) {
            for (int tokens : new int[] {1, maxTokens}) {
                scratchMemory = Math.max(scratchMemory, bound.packed().kernel.scratchBytes(bound.cols(), tokens));
            }
        } else {
            scratchFloats = Math.max(scratchFloats, bound.kernel().scratchFloats(bound.cols()));
            scratchBytes = Math.max(scratchBytes, bound.kernel().scratchBytes(bound.cols()));
        }
        return bound;
    }

    private void add(Op op, String name, String kernel, CpuStep step) {
        steps.add(step);
        report.add(new PlanReport.Step(op.kind(), name, kernel, Support.Level.FAST));
    }

    private void add(Op op, CpuStep step, BoundLinear... linears) {
        Set<String> names = new LinkedHashSet<>();
        Set<String> tensors = new LinkedHashSet<>();
        Support.Level level = Support.Level.FAST;
        for (BoundLinear linear : linears) {
            names.add(linear.kernelName());
            tensors.add(linear.name());
            if (linear.level() != Support.Level.FAST) {
                level = linear.level();
            }
        }
        steps.add(step);
        report.add(new PlanReport.Step(op.kind(), String.join(", ", tensors), String.join(", ", names), level));
    }
}
