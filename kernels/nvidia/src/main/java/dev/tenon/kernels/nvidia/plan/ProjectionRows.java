package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.GatedWeights;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Norm;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Product;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Projections before attention, whose heads attention norms, rotates and appends, and the first half of
/// feed-forward layers.
final class ProjectionRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fused(
                    FusedOp.NormQkvRope.class,
                    _ -> true,
                    (f, filter) -> filter.fits(general(f), f.v().out()),
                    (f, plan) -> qkv(f, general(f), f.v().out(), plan)),
            OpRow.fused(
                    FusedOp.Qkv.class,
                    _ -> true,
                    (f, filter) -> filter.fits(f, f.v().out()),
                    (f, plan) -> qkv(f, f, f.v().out(), plan)),
            OpRow.fused(
                    FusedOp.Projections.class,
                    f -> usual(f).isPresent(),
                    (f, filter) -> filter.fits(
                            usual(f).orElseThrow(), f.parts().getLast().out()),
                    ProjectionRows::projections),
            OpRow.fused(
                    FusedOp.NormGateUp.class,
                    _ -> true,
                    (f, filter) -> filter.fits(general(f)),
                    (f, plan) -> gateUp(f, general(f), plan)),
            OpRow.fused(
                    FusedOp.GateUp.class,
                    f -> f.activate() instanceof CoreOp.Activate,
                    (f, filter) -> filter.fits(f),
                    (f, plan) -> gateUp(f, f, plan)));

    private ProjectionRows() {}

    private static FusedOp.Qkv general(FusedOp.NormQkvRope f) {
        return new FusedOp.Qkv(
                Optional.of(f.norm()),
                false,
                f.q(),
                f.k(),
                f.v(),
                f.qNorm(),
                f.kNorm(),
                Optional.of(f.qRope()),
                Optional.of(f.kRope()));
    }

    /// {@return the same op without the norm of its values, if that is what keeps it from being such}
    ///
    /// @param f the op
    private static Optional<FusedOp.Qkv> usual(FusedOp.Projections f) {
        if (f.parts().size() != 3) {
            return Optional.empty();
        }
        FusedOp.Projections.Part q = f.parts().get(0);
        FusedOp.Projections.Part k = f.parts().get(1);
        FusedOp.Projections.Part v = f.parts().get(2);
        boolean plain = v.norm().filter(PartOp.PlainRmsNorm.class::isInstance).isPresent()
                && v.rope().isEmpty();
        return plain && hasWeight(q.norm()) && hasWeight(k.norm())
                ? Optional.of(new FusedOp.Qkv(
                        f.norm(),
                        f.normRead(),
                        q.linear(),
                        k.linear(),
                        v.linear(),
                        q.norm().map(CoreOp.RmsNorm.class::cast),
                        k.norm().map(CoreOp.RmsNorm.class::cast),
                        q.rope(),
                        k.rope()))
                : Optional.empty();
    }

    private static boolean hasWeight(Optional<Op> norm) {
        return norm.filter(op -> !(op instanceof CoreOp.RmsNorm)).isEmpty();
    }

    private static FusedOp.GateUp general(FusedOp.NormGateUp f) {
        return new FusedOp.GateUp(
                Optional.of(f.norm()), Optional.of(f.gate()), f.up(), f.activate(), Optional.of(f.multiply()));
    }

    /// What projections read: the input and a norm that they do, or the result of a norm that has its own kernel.
    private record Normed(Slot x, Norm norm, Optional<Slot> temporary) {
        long bytes() {
            return norm == null ? 0 : 4L * x.width;
        }
    }

    private static Normed normed(Optional<CoreOp.Unary> norm, boolean read, Value projected, GraphPlanner plan) {
        if (norm.isEmpty()) {
            return new Normed(plan.pool.get(projected), null, Optional.empty());
        }
        CoreOp.Unary n = norm.get();
        Slot x = plan.pool.get(n.x());
        if (read) {
            NormRows.defined(n, plan);
            return new Normed(plan.pool.get(n.out()), null, Optional.empty());
        }
        if (n instanceof CoreOp.RmsNorm rms && rms.weight().cols() == x.width) {
            return new Normed(x, plan.normOf(rms), Optional.empty());
        }
        Slot own = plan.pool.temporary(x.width, x.selected);
        NormRows.norm(n, own, plan);
        return new Normed(own, null, Optional.of(own));
    }

    /// @param values what the values are in the end
    private static void qkv(Op op, FusedOp.Qkv f, Value values, GraphPlanner plan) {
        Normed in = normed(f.norm(), f.normRead(), f.q().x(), plan);
        Slot x = in.x;
        Slot q = plan.pool.define(f.queries(), false);
        Slot k = plan.pool.define(f.keys(), false);
        Slot v = plan.pool.define(values, false);
        plan.attention.raw(f);
        Product pq = new Product(plan.weights.matrix(f.q().weight()), plan.bias(f.q()), null, q);
        Product pk = new Product(plan.weights.matrix(f.k().weight()), plan.bias(f.k()), null, k);
        Product pv = new Product(plan.weights.matrix(f.v().weight()), plan.bias(f.v()), null, v);
        boolean matmul = Stream.of(pq, pk, pv).allMatch(p -> plan.linears.matmul(p.weight()));
        long bytes = in.bytes() + plan.bytes(f.q()) + plan.bytes(f.k()) + plan.bytes(f.v());
        String names = pq.weight().tensor() + ", " + pk.weight().tensor() + ", "
                + pv.weight().tensor();
        String kernel =
                "qkv_" + pq.weight().format().id() + "_" + pv.weight().format().id();
        plan.add(op, names, kernel, GraphPlanner.level(pq.weight(), pk.weight(), pv.weight()), false, bytes, to -> {
            if (to.rows(x) > StepShape.FEW && matmul) {
                plan.linears.products(to, x, in.norm, List.of(pq, pk, pv));
            } else {
                plan.linears.qkv(to, x, in.norm, pq, pk, pv);
            }
        });
        if (FusedOpFilter.wholeNorms(f)) {
            NormRows.two(f.qNorm().orElseThrow(), q, f.kNorm().orElseThrow(), k, plan);
        }
        in.temporary.ifPresent(plan.pool::release);
    }

    private static void projections(FusedOp.Projections f, GraphPlanner plan) {
        FusedOp.Projections.Part v = f.parts().getLast();
        qkv(f, usual(f).orElseThrow(), v.out(), plan);
        NormRows.inPlace((PartOp.PlainRmsNorm) v.norm().orElseThrow(), plan);
    }

    private static void gateUp(Op op, FusedOp.GateUp f, GraphPlanner plan) {
        Normed in = normed(f.norm(), false, f.up().x(), plan);
        int activation = KernelCodes.of(((CoreOp.Activate) f.activate()).activation());
        if (f.gate().isEmpty()) {
            ProductRows.Epilogue then = new ProductRows.Epilogue(null, 1, activation);
            ProductRows.linear(op, f.up(), in.x, in.norm, then, f.activate().out(), plan);
        } else {
            DeviceWeight gate = plan.weights.matrix(f.gate().get().weight());
            DeviceWeight up = plan.weights.matrix(f.up().weight());
            GatedWeights pair = new GatedWeights(gate, up, activation);
            Value product = f.multiply().orElseThrow().out();
            boolean f16 = plan.takenAsF16(product);
            Slot out = plan.pool.define(product, in.x.selected);
            plan.add(
                    op,
                    gate.tensor() + ", " + up.tensor(),
                    "gate_up_" + gate.format().id(),
                    GraphPlanner.level(gate, up),
                    in.x.selected,
                    in.bytes() + plan.bytes(f.gate().get()) + plan.bytes(f.up()),
                    to -> plan.linears.gateUp(to, in.x, in.norm, pair, out, f16));
        }
        in.temporary.ifPresent(plan.pool::release);
    }
}
