package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.backend.cpu.vector.expert.CpuExpertDown;
import dev.tenon.backend.cpu.vector.expert.CpuExpertUp;
import dev.tenon.backend.cpu.vector.expert.CpuNormRouter;
import dev.tenon.backend.cpu.vector.expert.ExpertInput;
import dev.tenon.backend.cpu.vector.expert.ExpertMatrix;
import dev.tenon.backend.cpu.vector.expert.ExpertMemory;
import dev.tenon.backend.cpu.vector.expert.SharedDown;
import dev.tenon.backend.cpu.vector.expert.SharedUp;
import dev.tenon.backend.cpu.vector.math.GateMath;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.op.Packing;
import dev.tenon.backend.cpu.vector.op.RouterRows;
import java.util.ArrayList;
import java.util.List;

/// Turns ops of experts into kernels, as a part of [Lowering].
final class ExpertLowering {
    private static final String JAVA = "f32.java";
    private static final float[] NONE = new float[0];

    private final Lowering lowering;
    private final WeightBinder binder;
    private final ValuePool<Activations> pool;
    private final ExpertMemory memory = new ExpertMemory();

    /// Creates it.
    ///
    /// @param lowering binds dense weights, and takes the kernels
    /// @param binder binds weights of experts
    /// @param pool arrays of values
    ExpertLowering(Lowering lowering, WeightBinder binder, ValuePool<Activations> pool) {
        this.lowering = lowering;
        this.binder = binder;
        this.pool = pool;
    }

    /// {@return what all of the layers share, without memory}
    ExpertMemory memory() {
        return memory;
    }

    /// Lowers a core op.
    ///
    /// @param op the op
    void lower(ExpertOp op) {
        switch (op) {
            case ExpertOp.Router r -> {
                RouterRows rows = router(r, pool.get(r.logits()));
                lowering.add(r, r.chosen().name(), JAVA, new CpuRows(rows.chosen(), rows));
            }
            case ExpertOp.ExpertLinear e -> {
                Activations x = pool.get(e.x());
                ExpertMatrix matrix = bind(e);
                ExpertInput input = new ExpertInput(x, pool.get(e.chosen()), memory, matrix);
                Activations out = pool.define(e.out(), x.selected);
                lowering.add(e, new CpuExpertUp(input, matrix, null, memory, null, out, null), matrix.any());
            }
            case ExpertOp.WeightedSum s -> {
                Activations x = pool.get(s.x());
                Activations shares = pool.get(s.shares());
                Activations out = pool.define(s.out(), x.selected);
                lowering.add(s, s.out().name(), JAVA, new CpuRows(out, (c, row, scratch) -> sum(x, shares, row, out)));
            }
        }
    }

    /// Lowers norm, logits and router.
    ///
    /// @param f the op
    void lower(FusedExpertOp.NormRouter f) {
        Activations x = pool.get(f.norm().x());
        RowNorm norm = lowering.norm(f.norm());
        BoundLinear linear = lowering.bind(f.logits());
        Activations normed = lowering.normedOutput(f.norm(), x);
        Activations logits = pool.temporary(linear.rows(), x.selected);
        RouterRows rows = router(f.router(), logits);
        lowering.add(f, new CpuNormRouter(x, norm, normed, linear, rows, Packing.before(linear)), linear);
        pool.release(logits);
    }

    /// Lowers the first half of experts.
    ///
    /// @param f the op
    void lower(FusedExpertOp.ExpertGateUp f) {
        Activations x = pool.get(f.up().x());
        boolean gated = f.gate().isPresent();
        ExpertMatrix gate = bind(f.gate().orElse(f.up()));
        ExpertMatrix up = gated ? bind(f.up()) : null;
        ExpertMatrix[] matrices = gated ? new ExpertMatrix[] {gate, up} : new ExpertMatrix[] {gate};
        ExpertInput input = new ExpertInput(x, pool.get(f.up().chosen()), memory, matrices);
        GateMath math = lowering.gateMath(f.activate(), gated);
        List<BoundLinear> linears = new ArrayList<>();
        for (ExpertMatrix matrix : matrices) {
            linears.add(matrix.any());
        }
        Activations out = pool.define(f.hidden(), x.selected);
        SharedUp shared = f.shared().map(s -> shared(s, linears)).orElse(null);
        memory.needUp(out.width, 0);
        lowering.add(
                f, new CpuExpertUp(input, gate, up, memory, math, out, shared), linears.toArray(BoundLinear[]::new));
    }

    private SharedUp shared(FusedOp.GateUp f, List<BoundLinear> linears) {
        Activations x = pool.get(f.up().x());
        boolean gated = f.gate().isPresent();
        BoundLinear gate = lowering.bind(f.gate().orElse(f.up()));
        BoundLinear up = gated ? lowering.bind(f.up()) : null;
        linears.add(gate);
        if (gated) {
            linears.add(up);
        }
        Activations out = pool.define(f.outputs().getFirst(), x.selected);
        memory.needUp(0, out.width);
        GateMath math = lowering.gateMath(f.activate(), gated);
        Packing packing = gated ? Packing.before(gate, up) : Packing.before(gate);
        return new SharedUp(x, gate, up, memory, math, out, packing);
    }

    /// Lowers the second half of experts.
    ///
    /// @param f the op
    void lower(FusedExpertOp.ExpertDown f) {
        Activations x = pool.get(f.down().x());
        ExpertMatrix down = bind(f.down());
        ExpertInput input = new ExpertInput(x, pool.get(f.down().chosen()), memory, down);
        List<BoundLinear> linears = new ArrayList<>(List.of(down.any()));
        SharedDown shared = null;
        if (f.sharedDown().isPresent()) {
            CoreOp.Linear l = f.sharedDown().get();
            BoundLinear linear = lowering.bind(l);
            linears.add(linear);
            Activations weights = f.sharedSum().map(s -> pool.get(s.shares())).orElse(null);
            shared = new SharedDown(pool.get(l.x()), linear, weights, Packing.before(linear));
        }
        Activations residual = f.residual().map(pool::get).orElse(null);
        Activations out = pool.define(f.outputs().getFirst(), x.selected);
        lowering.add(
                f,
                new CpuExpertDown(input, down, pool.get(f.sum().shares()), residual, out, shared, lowering.ownMath()),
                linears.toArray(BoundLinear[]::new));
    }

    private RouterRows router(ExpertOp.Router r, Activations logits) {
        float[] bias = r.params().bias().map(binder::vector).orElse(NONE);
        Activations chosen = pool.define(r.chosen(), logits.selected);
        Activations shares = pool.define(r.shares(), logits.selected);
        RouterRows rows = new RouterRows(r.params(), bias, logits, chosen, shares);
        lowering.needScratch(rows.scratchFloats());
        return rows;
    }

    private ExpertMatrix bind(ExpertOp.ExpertLinear e) {
        BoundLinear[] experts = binder.experts(e.weight(), e.bias().orElse(null));
        lowering.needs(experts[0], (long) e.used());
        return ExpertMatrix.of(experts, e.used(), memory);
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
