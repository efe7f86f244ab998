package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Pure rewriting passes that a backend may use before it compiles a graph. They never change results beyond
/// rounding: [Graph#expanded()] gives the original ops back.
public final class Fusion {
    private final Map<Integer, Op> producer = new HashMap<>();
    private final Map<Integer, Integer> readers = new HashMap<>();
    private final Set<Op> taken = new HashSet<>();
    private final Map<Op, CustomOp> fusedAt = new HashMap<>();

    private Fusion() {}

    /// Rewrites the usual decoder layer into five ops: [FusedOp.NormQkvRope], attention,
    /// [FusedOp.LinearAdd], [FusedOp.NormGateUp], [FusedOp.LinearAdd]. What does not match stays as
    /// it is.
    ///
    /// @param graph any graph
    /// @return an equivalent graph
    public static Graph fuse(Graph graph) {
        return new Fusion().run(graph);
    }

    private void read(Value value) {
        readers.merge(value.id(), 1, Integer::sum);
    }

    private Graph run(Graph graph) {
        for (Op op : graph.ops()) {
            for (Value value : op.outputs()) {
                producer.put(value.id(), op);
            }
            op.inputs().forEach(this::read);
        }
        read(graph.output());
        graph.outputs().values().forEach(this::read);
        for (Op op : graph.ops()) {
            switch (op) {
                case CoreOp.Attention attention -> matchQkv(attention);
                case CoreOp.Multiply multiply -> matchGateUp(multiply);
                case CoreOp.Add add -> matchLinearAdd(add);
                default -> {}
            }
        }
        // A fused op stands where the last op that it replaces stood: by then all of its inputs are
        // defined.
        Map<Op, CustomOp> last = new HashMap<>();
        Map<CustomOp, Op> lastOf = new HashMap<>();
        for (Op op : graph.ops()) {
            CustomOp fused = fusedAt.get(op);
            if (fused != null) {
                lastOf.put(fused, op);
            }
        }
        for (Map.Entry<CustomOp, Op> entry : lastOf.entrySet()) {
            last.put(entry.getValue(), entry.getKey());
        }
        List<Op> ops = new ArrayList<>();
        for (Op op : graph.ops()) {
            if (last.containsKey(op)) {
                ops.add(last.get(op));
            } else if (!taken.contains(op)) {
                ops.add(op);
            }
        }
        return graph.withOps(ops);
    }

    private void matchQkv(CoreOp.Attention attention) {
        Op query = single(attention.q());
        if (query instanceof PositionScale scale) {
            query = single(scale.x());
        }
        if (!(query instanceof CoreOp.Rope qRope)
                || !(single(attention.k()) instanceof CoreOp.Rope kRope)
                || !(single(attention.v()) instanceof CoreOp.Linear v)
                || !qRope.params().equals(kRope.params())) {
            return;
        }
        Optional<CoreOp.RmsNorm> qNorm = normBefore(qRope.x());
        Optional<CoreOp.RmsNorm> kNorm = normBefore(kRope.x());
        Value qValue = qNorm.map(CoreOp.RmsNorm::x).orElse(qRope.x());
        Value kValue = kNorm.map(CoreOp.RmsNorm::x).orElse(kRope.x());
        if (single(qValue) instanceof CoreOp.Linear q
                && single(kValue) instanceof CoreOp.Linear k
                && q.x().equals(k.x())
                && q.x().equals(v.x())
                && producer.get(q.x().id()) instanceof CoreOp.RmsNorm norm
                && readers.get(norm.out().id()) == 3) {
            take(new FusedOp.NormQkvRope(norm, q, k, v, qNorm, kNorm, qRope, kRope));
        }
    }

    private Optional<CoreOp.RmsNorm> normBefore(Value value) {
        return single(value) instanceof CoreOp.RmsNorm norm ? Optional.of(norm) : Optional.empty();
    }

    private void matchGateUp(CoreOp.Multiply multiply) {
        if (single(multiply.a()) instanceof CoreOp.Activate activate
                && single(activate.x()) instanceof CoreOp.Linear gate
                && single(multiply.b()) instanceof CoreOp.Linear up
                && gate.x().equals(up.x())
                && producer.get(gate.x().id()) instanceof CoreOp.RmsNorm norm
                && readers.get(norm.out().id()) == 2) {
            take(new FusedOp.NormGateUp(norm, gate, up, activate, multiply));
        }
    }

    private void matchLinearAdd(CoreOp.Add add) {
        if (single(add.b()) instanceof CoreOp.Linear linear && !taken.contains(linear)) {
            take(new FusedOp.LinearAdd(linear, add.a(), add));
        } else if (single(add.a()) instanceof CoreOp.Linear linear && !taken.contains(linear)) {
            take(new FusedOp.LinearAdd(linear, add.b(), add));
        }
    }

    private void take(CustomOp fused) {
        for (Op op : fused.expand()) {
            taken.add(op);
            fusedAt.put(op, fused);
        }
    }

    /// The op that defines a value, if nothing else reads the value; else null.
    private Op single(Value value) {
        return readers.getOrDefault(value.id(), 0) == 1 ? producer.get(value.id()) : null;
    }
}
