package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The composite ops that [Fusion] makes of a dense decoder or encoder layer. Each keeps the core ops it
/// stands for and expands into them. Those of experts are in [FusedExpertOp].
public final class FusedOp {
    private FusedOp() {}

    static List<Weight> weightsOf(List<Op> ops) {
        return ops.stream().flatMap(op -> op.weights().stream()).toList();
    }

    /// {@return what some ops read that none of them defines, each value once}
    static List<Value> inputsOf(List<Op> ops) {
        Set<Integer> inside = new HashSet<>();
        ops.forEach(op -> op.outputs().forEach(out -> inside.add(out.id())));
        return ops.stream()
                .flatMap(op -> op.inputs().stream())
                .filter(in -> !inside.contains(in.id()))
                .distinct()
                .toList();
    }

    /// Norm, query, key and value projections, optional QK-norm, and rotation: everything in front of
    /// attention.
    ///
    /// @param norm norm of the layer's input
    /// @param q query projection
    /// @param k key projection
    /// @param v value projection
    /// @param qNorm norm of query heads, or empty
    /// @param kNorm norm of key heads, or empty
    /// @param qRope rotation of queries
    /// @param kRope rotation of keys
    public record NormQkvRope(
            CoreOp.RmsNorm norm,
            CoreOp.Linear q,
            CoreOp.Linear k,
            CoreOp.Linear v,
            Optional<CoreOp.RmsNorm> qNorm,
            Optional<CoreOp.RmsNorm> kNorm,
            CoreOp.Rope qRope,
            CoreOp.Rope kRope)
            implements CustomOp {
        @Override
        public String kind() {
            return "norm_qkv_rope";
        }

        @Override
        public List<Value> inputs() {
            return norm.inputs();
        }

        @Override
        public List<Value> outputs() {
            return List.of(qRope.out(), kRope.out(), v.out());
        }

        @Override
        public List<Weight> weights() {
            return weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>(List.of(norm, q, k, v));
            qNorm.ifPresent(ops::add);
            kNorm.ifPresent(ops::add);
            ops.add(qRope);
            ops.add(kRope);
            return ops;
        }
    }

    /// Norm, gate and up projections, and the gated activation: `act(gate(norm(x))) * up(norm(x))`.
    ///
    /// @param norm norm of the input
    /// @param gate gate projection
    /// @param up up projection
    /// @param activate activation of the gate
    /// @param multiply their product
    public record NormGateUp(
            CoreOp.RmsNorm norm,
            CoreOp.Linear gate,
            CoreOp.Linear up,
            CoreOp.Activate activate,
            CoreOp.Multiply multiply)
            implements CustomOp {
        @Override
        public String kind() {
            return "norm_gate_up";
        }

        @Override
        public List<Value> inputs() {
            return norm.inputs();
        }

        @Override
        public List<Value> outputs() {
            return multiply.outputs();
        }

        @Override
        public List<Weight> weights() {
            return weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            return List.of(norm, gate, up, activate, multiply);
        }
    }

    /// A projection and the residual it is added to.
    ///
    /// @param linear the projection
    /// @param residual the other summand
    /// @param add the sum
    public record LinearAdd(CoreOp.Linear linear, Value residual, CoreOp.Add add) implements CustomOp {
        @Override
        public String kind() {
            return "linear_add";
        }

        @Override
        public List<Value> inputs() {
            return List.of(linear.x(), residual);
        }

        @Override
        public List<Value> outputs() {
            return add.outputs();
        }

        @Override
        public List<Weight> weights() {
            return linear.weights();
        }

        @Override
        public List<Op> expand() {
            return List.of(linear, add);
        }
    }

    /// Query, key and value projections with what is around them, where that is not [NormQkvRope]: another norm
    /// or none in front, a norm that other ops read too, queries and keys that are not rotated.
    ///
    /// @param norm norm of the input ([CoreOp.RmsNorm] or [CoreOp.LayerNorm]), or empty
    /// @param normRead whether other ops read the norm's result; then it is the first output
    /// @param q query projection
    /// @param k key projection
    /// @param v value projection
    /// @param qNorm norm of queries, or empty
    /// @param kNorm norm of keys, or empty
    /// @param qRope rotation of queries, or empty
    /// @param kRope rotation of keys, or empty
    public record Qkv(
            Optional<CoreOp.Unary> norm,
            boolean normRead,
            CoreOp.Linear q,
            CoreOp.Linear k,
            CoreOp.Linear v,
            Optional<CoreOp.RmsNorm> qNorm,
            Optional<CoreOp.RmsNorm> kNorm,
            Optional<CoreOp.Rope> qRope,
            Optional<CoreOp.Rope> kRope)
            implements CustomOp {
        @Override
        public String kind() {
            return "qkv";
        }

        /// {@return the queries}
        public Value queries() {
            return last(q, qNorm, qRope);
        }

        /// {@return the keys}
        public Value keys() {
            return last(k, kNorm, kRope);
        }

        private static Value last(CoreOp.Linear linear, Optional<CoreOp.RmsNorm> norm, Optional<CoreOp.Rope> rope) {
            return rope.map(CoreOp.Rope::out)
                    .orElse(norm.map(CoreOp.RmsNorm::out).orElse(linear.out()));
        }

        @Override
        public List<Value> inputs() {
            return inputsOf(expand());
        }

        @Override
        public List<Value> outputs() {
            List<Value> outputs = new ArrayList<>();
            if (normRead) {
                outputs.add(norm.orElseThrow().out());
            }
            outputs.addAll(List.of(queries(), keys(), v.out()));
            return outputs;
        }

        @Override
        public List<Weight> weights() {
            return weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>();
            norm.ifPresent(ops::add);
            ops.addAll(List.of(q, k, v));
            qNorm.ifPresent(ops::add);
            kNorm.ifPresent(ops::add);
            qRope.ifPresent(ops::add);
            kRope.ifPresent(ops::add);
            return ops;
        }
    }

    /// Projections before attention, and the scale of the queries by their position.
    ///
    /// @param qkv the projections
    /// @param scale scales their queries
    public record ScaledQkv(Qkv qkv, PositionScale scale) implements CustomOp {
        @Override
        public String kind() {
            return "scaled_qkv";
        }

        @Override
        public List<Value> inputs() {
            return qkv.inputs();
        }

        @Override
        public List<Value> outputs() {
            List<Value> outputs = new ArrayList<>(qkv.outputs());
            outputs.replaceAll(value -> value.equals(qkv.queries()) ? scale.out() : value);
            return outputs;
        }

        @Override
        public List<Weight> weights() {
            return qkv.weights();
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>(qkv.expand());
            ops.add(scale);
            return ops;
        }
    }

    /// Projections of one row, where they are not [Qkv]: before attention fewer than three, as of layers that share
    /// keys and values, or with values that are normed; with a norm those of layers with a state.
    ///
    /// @param norm norm of the input ([CoreOp.RmsNorm] or [CoreOp.LayerNorm]), or empty
    /// @param normRead whether other ops read the norm's result; then it is the first output
    /// @param parts the projections, at least one
    public record Projections(Optional<CoreOp.Unary> norm, boolean normRead, List<Part> parts) implements CustomOp {
        /// A projection and what happens to its heads.
        ///
        /// @param linear the projection
        /// @param norm norm of heads ([CoreOp.RmsNorm] or [PartOp.PlainRmsNorm]), or empty
        /// @param rope rotation, or empty
        public record Part(CoreOp.Linear linear, Optional<Op> norm, Optional<CoreOp.Rope> rope) {
            /// {@return the result}
            public Value out() {
                return rope.map(CoreOp.Rope::out)
                        .orElse(norm.map(n -> n.outputs().getFirst()).orElse(linear.out()));
            }
        }

        /// Takes a copy of the list.
        public Projections {
            parts = List.copyOf(parts);
        }

        @Override
        public String kind() {
            return "projections";
        }

        @Override
        public List<Value> inputs() {
            return inputsOf(expand());
        }

        @Override
        public List<Value> outputs() {
            List<Value> outputs = new ArrayList<>();
            if (normRead) {
                outputs.add(norm.orElseThrow().out());
            }
            parts.forEach(part -> outputs.add(part.out()));
            return outputs;
        }

        @Override
        public List<Weight> weights() {
            return weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>();
            norm.ifPresent(ops::add);
            for (Part part : parts) {
                ops.add(part.linear);
                part.norm.ifPresent(ops::add);
                part.rope.ifPresent(ops::add);
            }
            return ops;
        }
    }

    /// The first half of a feed-forward layer, where that is not [NormGateUp]: `act(gate(x)) * up(x)`, or
    /// `act(up(x))` without a gate, with another norm or none in front.
    ///
    /// @param norm norm of the input ([CoreOp.RmsNorm] or [CoreOp.LayerNorm]), or empty
    /// @param gate gate projection, or empty
    /// @param up up projection
    /// @param activate the activation: a [CoreOp.Activate], or with a gate a [CoreOp.SwigluOai]
    /// @param multiply product of the activated gate and the up projection; only with a gate and a
    ///     [CoreOp.Activate]
    public record GateUp(
            Optional<CoreOp.Unary> norm,
            Optional<CoreOp.Linear> gate,
            CoreOp.Linear up,
            CoreOp activate,
            Optional<CoreOp.Multiply> multiply)
            implements CustomOp {
        @Override
        public String kind() {
            return "gate_up";
        }

        @Override
        public List<Value> inputs() {
            return inputsOf(expand());
        }

        @Override
        public List<Value> outputs() {
            return multiply.map(CoreOp.Multiply::outputs).orElse(activate.outputs());
        }

        @Override
        public List<Weight> weights() {
            return weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>();
            norm.ifPresent(ops::add);
            gate.ifPresent(ops::add);
            ops.add(up);
            ops.add(activate);
            multiply.ifPresent(ops::add);
            return ops;
        }
    }

    /// A projection and the ops on its rows that follow, where that is not [LinearAdd]: norms, sums, products,
    /// factors and activations, each of which reads the result of the one before it and nothing else does.
    ///
    /// @param linear the projection
    /// @param then what follows, at least one op: [CoreOp.Add], [CoreOp.Multiply], [CoreOp.Scale],
    ///     [CoreOp.SoftCap], [CoreOp.Activate], [CoreOp.RmsNorm] or [CoreOp.LayerNorm]
    public record LinearThen(CoreOp.Linear linear, List<CoreOp> then) implements CustomOp {
        /// Takes a copy of the list.
        public LinearThen {
            then = List.copyOf(then);
        }

        @Override
        public String kind() {
            return "linear_then";
        }

        @Override
        public List<Value> inputs() {
            return inputsOf(expand());
        }

        @Override
        public List<Value> outputs() {
            return then.getLast().outputs();
        }

        @Override
        public List<Weight> weights() {
            return weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>();
            ops.add(linear);
            ops.addAll(then);
            return ops;
        }
    }
}
