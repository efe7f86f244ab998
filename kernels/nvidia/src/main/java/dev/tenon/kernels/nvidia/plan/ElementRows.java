package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.Slot;
import java.util.List;

/// Ops on single elements of rows.
final class ElementRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(CoreOp.Add.class, ElementRows::add).reads(new OpRow.Reading<>() {
                @Override
                public boolean norms(CoreOp.Add a, Value normed, GraphPlanner plan) {
                    Value other = a.a().equals(normed) ? a.b() : a.a();
                    return !other.equals(normed) && !plan.folded.containsKey(other.id());
                }
            }),
            OpRow.fast(CoreOp.Multiply.class, (m, plan) -> binary(m, "multiply", m.a(), m.b(), m.out(), plan)),
            OpRow.fast(CoreOp.Activate.class, ElementRows::activate),
            new OpRow<>(
                    CoreOp.SwigluOai.class,
                    (s, judge) ->
                            s.offset() == 1 ? OpSupport.float32(s, judge) : OpSupport.notYet("op swiglu_oai without 1"),
                    ElementRows::swigluOai),
            OpRow.fast(CoreOp.Scale.class, (s, plan) -> unary(s, "scale", s.x(), s.factor(), s.out(), plan)),
            OpRow.fast(CoreOp.SoftCap.class, (s, plan) -> unary(s, "soft_cap", s.x(), s.cap(), s.out(), plan)),
            OpRow.fast(PositionScale.class, ElementRows::positionScale),
            OpRow.fast(PartOp.Slice.class, ElementRows::slice),
            OpRow.fast(PartOp.Join.class, ElementRows::join));

    private ElementRows() {}

    private static void add(CoreOp.Add a, GraphPlanner plan) {
        if (plan.folded.containsKey(a.b().id())) {
            NormRows.normAdd(a, a.a(), a.b(), plan);
        } else if (plan.folded.containsKey(a.a().id())) {
            NormRows.normAdd(a, a.b(), a.a(), plan);
        } else {
            binary(a, "add", a.a(), a.b(), a.out(), plan);
        }
    }

    private static void activate(CoreOp.Activate a, GraphPlanner plan) {
        if (plan.stateOps.isDone(a)) {
            plan.pool.share(a.out(), plan.pool.get(a.x()));
        } else {
            unary(a, "activate", a.x(), KernelCodes.of(a.activation()), a.out(), plan);
        }
    }

    private static void binary(Op op, String entry, Value a, Value b, Value outValue, GraphPlanner plan) {
        Slot left = plan.pool.get(a);
        Slot right = plan.pool.get(b);
        Slot out = plan.pool.define(outValue, left.selected);
        plan.add(op, outValue.name(), entry, left.selected, 0, to -> {
            to.elementwise(entry, (long) to.rows(out) * out.width, to.at(left), to.at(right), to.out(out));
        });
    }

    private static void unary(Op op, String entry, Value x, Object parameter, Value outValue, GraphPlanner plan) {
        Slot in = plan.pool.get(x);
        Slot out = plan.pool.define(outValue, in.selected);
        plan.add(op, outValue.name(), entry, in.selected, 0, to -> {
            to.elementwise(entry, (long) to.rows(out) * out.width, to.at(in), parameter, to.out(out));
        });
    }

    private static void swigluOai(CoreOp.SwigluOai s, GraphPlanner plan) {
        Slot gate = plan.pool.get(s.gate());
        Slot up = plan.pool.get(s.up());
        Slot out = plan.pool.define(s.out(), gate.selected);
        plan.add(s, s.out().name(), "swiglu_oai", gate.selected, 0, to -> {
            to.elementwise(
                    "swiglu_oai",
                    (long) to.rows(out) * out.width,
                    to.at(gate),
                    to.at(up),
                    s.alpha(),
                    s.limit(),
                    to.out(out));
        });
    }

    private static void positionScale(PositionScale s, GraphPlanner plan) {
        boolean ofQueries = plan.readers
                .only(s.out())
                .filter(op -> op instanceof CoreOp.Attention a && a.q().equals(s.out()))
                .isPresent();
        if (ofQueries) {
            plan.attention.scaled(s);
            return;
        }
        Slot x = plan.pool.get(s.x());
        if (x.selected) {
            throw new IllegalStateException("scale of selected rows; positions are known for all rows only");
        }
        Slot out = plan.pool.define(s.out(), false);
        plan.add(s, s.out().name(), "position_scale", false, 0, to -> {
            to.elementwise(
                    "position_scale",
                    (long) to.rows(out) * out.width,
                    to.at(x),
                    to.stepAt(to.layout.positions()),
                    s.gain(),
                    s.offset(),
                    s.period(),
                    to.out(out),
                    out.width);
        });
    }

    private static void slice(PartOp.Slice s, GraphPlanner plan) {
        Slot x = plan.pool.get(s.x());
        Slot out = plan.pool.define(s.out(), x.selected);
        plan.add(s, s.out().name(), "slice", x.selected, 0, to -> {
            to.elementwise(
                    "slice",
                    (long) to.rows(out) * out.width,
                    to.at(x),
                    x.width / s.groups(),
                    s.from(),
                    s.length(),
                    to.out(out));
        });
    }

    private static void join(PartOp.Join j, GraphPlanner plan) {
        Slot a = plan.pool.get(j.a());
        Slot b = plan.pool.get(j.b());
        Slot out = plan.pool.define(j.out(), a.selected);
        plan.add(j, j.out().name(), "join", a.selected, 0, to -> {
            to.elementwise(
                    "join",
                    (long) to.rows(out) * out.width,
                    to.at(a),
                    to.at(b),
                    a.width / j.groups(),
                    b.width / j.groups(),
                    to.out(out));
        });
    }
}
