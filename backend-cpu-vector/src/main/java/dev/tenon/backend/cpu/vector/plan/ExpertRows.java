package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.backend.cpu.vector.expert.CpuExpertDown;
import dev.tenon.backend.cpu.vector.expert.CpuExpertUp;
import dev.tenon.backend.cpu.vector.expert.CpuNormRouter;
import dev.tenon.backend.cpu.vector.expert.ExpertInput;
import dev.tenon.backend.cpu.vector.expert.ExpertMatrix;
import dev.tenon.backend.cpu.vector.expert.SharedDown;
import dev.tenon.backend.cpu.vector.expert.SharedUp;
import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.op.RouterRows;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import java.util.ArrayList;
import java.util.List;

/// Ops of experts. All layers share the memory that they need.
final class ExpertRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(ExpertOp.Router.class, ExpertRows::router),
            new OpRow<>(
                    ExpertOp.ExpertLinear.class, (op, judge) -> judge.matrix(op.weight()), ExpertRows::expertLinear),
            OpRow.fast(ExpertOp.WeightedSum.class, ExpertRows::weightedSum),
            OpRow.fused(FusedExpertOp.NormRouter.class, false, ExpertRows::normRouter),
            OpRow.fused(FusedExpertOp.ExpertGateUp.class, false, ExpertRows::gateUp),
            OpRow.fused(FusedExpertOp.ExpertDown.class, false, ExpertRows::down));

    private ExpertRows() {}

    private static void router(ExpertOp.Router r, Lowering to) {
        RouterRows rows = rows(r, to.pool.get(r.logits()), to);
        to.add(r, r.chosen().name(), Lowering.JAVA, new CpuRows(rows.chosen(), rows));
    }

    private static void expertLinear(ExpertOp.ExpertLinear e, Lowering to) {
        Activations x = to.pool.get(e.x());
        ExpertMatrix matrix = bind(e, to);
        ExpertInput input = new ExpertInput(x, to.pool.get(e.chosen()), to.experts, matrix);
        Activations out = to.pool.define(e.out(), x.selected);
        to.add(e, new CpuExpertUp(input, matrix, null, to.experts, null, out, null), matrix.any());
    }

    private static void weightedSum(ExpertOp.WeightedSum s, Lowering to) {
        Activations x = to.pool.get(s.x());
        Activations shares = to.pool.get(s.shares());
        Activations out = to.pool.define(s.out(), x.selected);
        CpuRows.Function row = (c, r, scratch) -> sum(x, shares, r, out);
        to.add(s, s.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void normRouter(FusedExpertOp.NormRouter f, Lowering to) {
        Activations x = to.pool.get(f.norm().x());
        RowNorm norm = to.norm(f.norm());
        BoundLinear linear = to.bind(f.logits());
        Activations normed = to.normedOutput(f.norm(), x);
        Activations logits = to.pool.temporary(linear.rows(), x.selected);
        RouterRows rows = rows(f.router(), logits, to);
        to.add(f, new CpuNormRouter(x, norm, normed, linear, rows, Packing.before(linear)), linear);
        to.pool.release(logits);
    }

    /// The first half of experts.
    private static void gateUp(FusedExpertOp.ExpertGateUp f, Lowering to) {
        Activations x = to.pool.get(f.up().x());
        boolean gated = f.gate().isPresent();
        ExpertMatrix gate = bind(f.gate().orElse(f.up()), to);
        ExpertMatrix up = gated ? bind(f.up(), to) : null;
        ExpertMatrix[] matrices = gated ? new ExpertMatrix[] {gate, up} : new ExpertMatrix[] {gate};
        ExpertInput input = new ExpertInput(x, to.pool.get(f.up().chosen()), to.experts, matrices);
        GateMath math = to.gateMath(f.activate(), gated);
        List<BoundLinear> linears = new ArrayList<>();
        for (ExpertMatrix matrix : matrices) {
            linears.add(matrix.any());
        }
        Activations out = to.pool.define(f.hidden(), x.selected);
        SharedUp shared = f.shared().map(s -> shared(s, linears, to)).orElse(null);
        to.experts.needUp(out.width, 0);
        to.add(f, new CpuExpertUp(input, gate, up, to.experts, math, out, shared), linears.toArray(BoundLinear[]::new));
    }

    private static SharedUp shared(FusedOp.GateUp f, List<BoundLinear> linears, Lowering to) {
        Activations x = to.pool.get(f.up().x());
        boolean gated = f.gate().isPresent();
        BoundLinear gate = to.bind(f.gate().orElse(f.up()));
        BoundLinear up = gated ? to.bind(f.up()) : null;
        linears.add(gate);
        if (gated) {
            linears.add(up);
        }
        Activations out = to.pool.define(f.outputs().getFirst(), x.selected);
        to.experts.needUp(0, out.width);
        GateMath math = to.gateMath(f.activate(), gated);
        Packing packing = gated ? Packing.before(gate, up) : Packing.before(gate);
        return new SharedUp(x, gate, up, to.experts, math, out, packing);
    }

    /// The second half of experts.
    private static void down(FusedExpertOp.ExpertDown f, Lowering to) {
        Activations x = to.pool.get(f.down().x());
        ExpertMatrix down = bind(f.down(), to);
        ExpertInput input = new ExpertInput(x, to.pool.get(f.down().chosen()), to.experts, down);
        List<BoundLinear> linears = new ArrayList<>(List.of(down.any()));
        SharedDown shared = null;
        if (f.sharedDown().isPresent()) {
            CoreOp.Linear l = f.sharedDown().get();
            BoundLinear linear = to.bind(l);
            linears.add(linear);
            Activations weights =
                    f.sharedSum().map(s -> to.pool.get(s.shares())).orElse(null);
            shared = new SharedDown(to.pool.get(l.x()), linear, weights, Packing.before(linear));
        }
        Activations residual = f.residual().map(to.pool::get).orElse(null);
        Activations out = to.pool.define(f.outputs().getFirst(), x.selected);
        to.add(
                f,
                new CpuExpertDown(input, down, to.pool.get(f.sum().shares()), residual, out, shared, to.ownMath()),
                linears.toArray(BoundLinear[]::new));
    }

    private static RouterRows rows(ExpertOp.Router r, Activations logits, Lowering to) {
        float[] bias = r.params().bias().map(to.binder::vector).orElse(Lowering.NONE);
        Activations chosen = to.pool.define(r.chosen(), logits.selected);
        Activations shares = to.pool.define(r.shares(), logits.selected);
        RouterRows rows = new RouterRows(r.params(), bias, logits, chosen, shares);
        to.needs(new ThreadNeeds(rows.scratchFloats(), 0, 0, 0));
        return rows;
    }

    private static ExpertMatrix bind(ExpertOp.ExpertLinear e, Lowering to) {
        BoundLinear[] experts = to.binder.experts(e.weight(), e.bias().orElse(null));
        to.needs(experts[0], (long) e.used());
        return ExpertMatrix.of(experts, e.used(), to.experts);
    }

    private static void sum(Activations x, Activations shares, int row, Activations out) {
        int width = out.width;
        for (int k = 0; k < shares.width; k++) {
            float share = shares.data[row * shares.width + k];
            if (k == 0) {
                set(out.data, row * width, share, x.data, row * x.width, width);
            } else {
                add(out.data, row * width, share, x.data, row * x.width + k * width, width);
            }
        }
    }

    private static void set(float[] out, int at, float share, float[] x, int from, int n) {
        for (int i = 0; i < n; i++) {
            out[at + i] = share * x[from + i];
        }
    }

    private static void add(float[] out, int at, float share, float[] x, int from, int n) {
        for (int i = 0; i < n; i++) {
            out[at + i] += share * x[from + i];
        }
    }
}
