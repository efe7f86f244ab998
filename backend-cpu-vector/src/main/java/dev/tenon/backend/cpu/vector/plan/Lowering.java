package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.backend.cpu.vector.expert.ExpertMemory;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.math.ElementDispatch;
import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.LowRankChange;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Turns the ops of a graph into kernels with their arrays: one pass over a fused graph, which asks the row of each
/// op. Rows find here what kernels are made of, and note what these need.
final class Lowering {
    /// What reports call kernels in Java without vectors.
    static final String JAVA = "f32.java";
    /// What reports call kernels that are not made for speed.
    static final String PLAIN = "plain.generic";
    /// A vector that an op is without.
    static final float[] NONE = new float[0];

    final Graph graph;
    final WeightBinder binder;
    /// The plan's KV cache.
    final CpuKv cache;
    /// Memory of states; null if no op has one.
    final CpuStates states;
    final KernelSet kernels;
    final PlanMemory memory;
    final ValuePool<Activations> pool;
    final AdapterLowering adapters;
    final ElementDispatch elements;
    /// What all layers of experts share, without memory.
    final ExpertMemory experts = new ExpertMemory();
    final RopeTables tables;
    /// Kernels of other bundles for attention.
    final Map<CoreOp.Attention, AttentionKernel> attentionKernels = new LinkedHashMap<>();

    private final CpuOps ops;
    private final int maxTokens;
    private final List<LoweredGraph.Entry> entries = new ArrayList<>();
    private ThreadNeeds needs = new ThreadNeeds(1, 0, 1, 0);
    private boolean ownElements;
    private int vocabularySize = Integer.MAX_VALUE;
    private int positions = Integer.MAX_VALUE;
    /// Weight bytes that a decoded token reads, of the op that is being lowered.
    private long weightBytes;

    /// Prepares the pass.
    ///
    /// @param ops rows of ops
    /// @param graph fused graph whose ops `OpSupport` accepted
    /// @param adapters what adapters change of projections, by the value that they compute
    /// @param binder binds weights
    /// @param stores gives memory to tables, and is what kernels write to
    /// @param kernels selects kernels
    /// @param maxTokens most tokens of a step
    Lowering(
            CpuOps ops,
            Graph graph,
            Map<Value, LowRankAdd> adapters,
            WeightBinder binder,
            PlanStores stores,
            KernelSet kernels,
            int maxTokens) {
        this.ops = ops;
        this.graph = graph;
        this.binder = binder;
        this.cache = stores.cache();
        this.states = stores.states();
        this.kernels = kernels;
        this.elements = kernels.elements();
        this.ownElements = elements.kernel() == null;
        this.memory = stores.memory();
        this.maxTokens = maxTokens;
        this.tables = new RopeTables(binder, memory, maxTokens);
        List<Value> outputs = new ArrayList<>(graph.outputs().values());
        outputs.add(graph.output());
        this.pool =
                new ValuePool<>(graph.ops(), outputs, (purpose, width, selected) -> new Activations(width, selected));
        this.adapters = new AdapterLowering(this, adapters, binder, kernels, memory, pool);
    }

    /// {@return the graph as kernels}
    LoweredGraph run() {
        List<Op> ops = graph.ops();
        for (int i = 0; i < ops.size(); i++) {
            row(ops.get(i)).lowering().accept(ops.get(i), this);
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
                experts,
                vocabularySize);
    }

    /// {@return the row of an op}
    OpRow<Op> row(Op op) {
        return ops.row(op)
                .orElseThrow(
                        () -> new IllegalStateException("op " + op.kind() + " passed the check but has no kernel"));
    }

    /// {@return a norm with its weights, which are counted}
    RowNorm norm(Op op) {
        OpRow<Op> row = row(op);
        if (row.norm() == null) {
            throw new IllegalStateException("op " + op.kind() + " is no norm");
        }
        return row.norm().apply(op, this);
    }

    /// {@return the number of an op's state}
    int stateOf(Op op) {
        return graph.opsWithState().indexOf(op);
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

    /// {@return memory for a norm's result that other ops read}
    Activations normedOutput(CoreOp.Unary norm, Activations x) {
        needs(new ThreadNeeds(0, 0, 0, x.width));
        return pool.define(norm.out(), x.selected);
    }

    /// {@return a temporary array for the norm before matrices}
    Activations normed(Activations x) {
        needs(new ThreadNeeds(0, 0, 0, x.width));
        return pool.temporary(x.width, x.selected);
    }

    /// Binds a projection, and what adapters change of it.
    BoundLinear bind(CoreOp.Linear l, boolean selected) {
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
        reads(bound.bytes() * count);
        int cols = bound.cols();
        if (bound.packed() != null) {
            for (int tokens : new int[] {1, maxTokens}) {
                needs(new ThreadNeeds(0, 0, bound.packed().kernel.scratchBytes(cols, tokens), 0));
            }
        } else {
            needs(new ThreadNeeds(
                    bound.kernel().scratchFloats(cols), bound.kernel().scratchBytes(cols), 0, 0));
        }
    }

    /// Notes what a kernel needs on each thread.
    void needs(ThreadNeeds more) {
        needs = needs.and(more);
    }

    /// Notes weight bytes that a decoded token reads.
    void reads(long bytes) {
        weightBytes += bytes;
    }

    /// Notes how many positions a table has rows for.
    void limitPositions(int rows) {
        positions = Math.min(positions, rows);
    }

    /// Notes how many tokens a table has rows for.
    void limitVocabulary(int rows) {
        vocabularySize = Math.min(vocabularySize, rows);
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

    /// Ends an op in plain Java.
    void addPlain(Op op, String name, CpuKernel kernel) {
        add(kernel, new PlanReport.Kernel(op.kind(), name, PLAIN, Support.Level.GENERIC));
    }

    /// Ends an op: what was counted of weights since the op before is this kernel's.
    void add(CpuKernel kernel, PlanReport.Kernel report) {
        entries.add(new LoweredGraph.Entry(kernel, report, weightBytes));
        weightBytes = 0;
    }
}
