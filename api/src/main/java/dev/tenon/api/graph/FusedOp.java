package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The composite ops that [Fusion] makes of a decoder layer. Each keeps the core ops it stands for
/// and expands into them.
public final class FusedOp {
    private FusedOp() {}

    private static List<Weight> weightsOf(List<Op> ops) {
        return ops.stream().flatMap(op -> op.weights().stream()).toList();
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
}
