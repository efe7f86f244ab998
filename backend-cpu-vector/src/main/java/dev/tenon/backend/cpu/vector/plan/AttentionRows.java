package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.FusedOp.Projections;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.Value;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuProjections;
import dev.tenon.backend.cpu.vector.op.CpuRope;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import dev.tenon.backend.cpu.vector.sequence.CpuAttention;
import dev.tenon.backend.cpu.vector.sequence.CpuSelectPositions;
import java.util.List;
import java.util.Optional;

/// Attention, rotation, and the projections before attention.
final class AttentionRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(CoreOp.Rope.class, AttentionRows::rope),
            OpRow.fast(CoreOp.Attention.class, (a, to) -> attention(a, a, null, to)),
            OpRow.plain(SelectedAttention.class, (s, to) -> attention(s, s.attention(), s.positions(), to)),
            OpRow.plain(SelectPositions.class, AttentionRows::select),
            OpRow.plain(RunAttention.class, AttentionRows::runs),
            OpRow.fused(FusedOp.Projections.class, true, (f, to) -> projections(f, null, f, to)),
            OpRow.fused(FusedOp.Qkv.class, true, (f, to) -> projections(general(f), null, f, to)),
            OpRow.fused(FusedOp.ScaledQkv.class, true, (f, to) -> projections(general(f.qkv()), f.scale(), f, to)),
            OpRow.fused(FusedOp.NormQkvRope.class, true, (f, to) -> projections(general(f), null, f, to)));

    private AttentionRows() {}

    private static void rope(CoreOp.Rope r, Lowering to) {
        Activations x = to.pool.get(r.x());
        RopeParams params = r.params();
        CpuRope kernel = new CpuRope(x, null, to.tables.of(params), params, null, to.pool.define(r.out(), x.selected));
        to.add(r, r.out().name(), Lowering.JAVA, kernel);
    }

    private static void select(SelectPositions s, Lowering to) {
        to.needs(new ThreadNeeds(CpuSelectPositions.floats(s), 0, 0, 0));
        CpuSelectPositions kernel = new CpuSelectPositions(
                s,
                to.pool.get(s.q()),
                to.pool.get(s.shares()),
                new CpuKv.Appended(s.cache(), to.pool.get(s.k()), to.pool.get(s.k())),
                to.stores.cache(s.layer()),
                to.kernels.attention(),
                to.pool.define(s.out(), false));
        to.add(s, s.out().name(), Lowering.JAVA, kernel);
    }

    /// @param op the op that says so, for reports
    /// @param positions those that are attended to; null for all that are seen
    private static void attention(Op op, CoreOp.Attention a, Value positions, Lowering to) {
        add(op, a, to, kernel(a, positions, 1, null, to.pool.define(a.out(), false), to));
    }

    private static void runs(RunAttention r, Lowering to) {
        Activations out = to.pool.define(r.near().out(), false);
        CpuAttention far = kernel(r.far(), r.positions().orElse(null), r.run(), null, out, to);
        add(r, r.near(), to, kernel(r.near(), null, 1, far, out, to));
    }

    private static void add(Op op, CoreOp.Attention a, Lowering to, CpuAttention kernel) {
        AttentionKernel pages = kernel.kernel();
        to.add(op, a.out().name(), pages != null ? pages.name() : to.kernels.attentionName(), kernel);
    }

    private static CpuAttention kernel(
            CoreOp.Attention a, Value positions, int run, CpuAttention far, Activations out, Lowering to) {
        Activations q = to.pool.get(a.q());
        CpuKv.Appended appended = to.graph.cacheLayers().contains(a)
                ? new CpuKv.Appended(a, to.pool.get(a.k()), to.pool.get(a.v()))
                : null;
        CpuKv cache = to.stores.cache(a.layer());
        AttentionKernel kernel =
                positions == null && run == 1 ? to.kernels.attention(a, cache.keyType(), cache.valueType()) : null;
        if (kernel != null) {
            to.attentionKernels.put(a, kernel);
            to.needs(new ThreadNeeds(0, 0, kernel.scratchBytes(a.keyLength(), a.valueLength()), 0));
        }
        float[] sinks = a.params().sinks().map(to.binder::vector).orElse(Lowering.NONE);
        float[] bias = a.params()
                .scoreBias()
                .flatMap(ScoreBias::table)
                .map(to.binder::vector)
                .orElse(Lowering.NONE);
        Activations chosen = positions == null ? null : to.pool.get(positions);
        return new CpuAttention(
                a, appended, q, chosen, run, far, cache, kernel, to.kernels.attention(), sinks, bias, out);
    }

    /// Projections before attention.
    ///
    /// @param f what they are
    /// @param scale of the first one's result, or null
    /// @param op the op that says so, for reports
    private static void projections(Projections f, PositionScale scale, Op op, Lowering to) {
        Activations x = to.pool.get(f.parts().getFirst().linear().x());
        RowNorm norm = null;
        Activations normed = x;
        if (f.norm().isPresent()) {
            x = to.pool.get(f.norm().get().x());
            norm = to.norm(f.norm().get());
            normed = f.normRead() ? to.normedOutput(f.norm().get(), x) : to.normed(x);
        }
        boolean selected = x.selected;
        BoundLinear[] linears =
                f.parts().stream().map(part -> to.bind(part.linear(), selected)).toArray(BoundLinear[]::new);
        CpuRope[] heads = new CpuRope[linears.length];
        for (int i = 0; i < heads.length; i++) {
            heads[i] = heads(f.parts().get(i), i == 0 ? scale : null, x.selected, to);
        }
        Packing packing = Packing.before(linears);
        to.add(op, new CpuProjections(x, norm, normed, f.normRead(), linears, heads, packing), linears);
        if (norm != null && !f.normRead()) {
            to.pool.release(normed);
        }
    }

    private static CpuRope heads(Projections.Part part, PositionScale scale, boolean selected, Lowering to) {
        Activations heads = to.pool.define(scale == null ? part.out() : scale.out(), selected);
        RowNorm math = part.norm().map(to::norm).orElse(null);
        RopeParams params = part.rope().map(CoreOp.Rope::params).orElse(null);
        return new CpuRope(heads, math, params == null ? null : to.tables.of(params), params, scale, heads);
    }

    private static Projections general(FusedOp.NormQkvRope f) {
        return new Projections(
                Optional.of(f.norm()),
                false,
                List.of(
                        part(f.q(), f.qNorm(), Optional.of(f.qRope())),
                        part(f.k(), f.kNorm(), Optional.of(f.kRope())),
                        part(f.v(), Optional.empty(), Optional.empty())));
    }

    private static Projections general(FusedOp.Qkv f) {
        return new Projections(
                f.norm(),
                f.normRead(),
                List.of(
                        part(f.q(), f.qNorm(), f.qRope()),
                        part(f.k(), f.kNorm(), f.kRope()),
                        part(f.v(), Optional.empty(), Optional.empty())));
    }

    private static Projections.Part part(
            CoreOp.Linear linear, Optional<CoreOp.RmsNorm> norm, Optional<CoreOp.Rope> rope) {
        return new Projections.Part(linear, norm.map(n -> n), rope);
    }
}
