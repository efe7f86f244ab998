package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The composite ops that [Fusion] makes of a layer of experts. Each keeps the ops it stands for and expands
/// into them.
public final class FusedExpertOp {
    private FusedExpertOp() {}

    /// Norm, the router's logits, and its choice. Outputs: the normed row, the chosen experts, their shares.
    ///
    /// @param norm norm of the layer's input ([CoreOp.RmsNorm] or [CoreOp.LayerNorm])
    /// @param logits projection of the normed row, which only the router reads
    /// @param router the choice
    public record NormRouter(CoreOp.Unary norm, CoreOp.Linear logits, ExpertOp.Router router) implements CustomOp {
        @Override
        public String kind() {
            return "norm_router";
        }

        @Override
        public List<Value> inputs() {
            return norm.inputs();
        }

        @Override
        public List<Value> outputs() {
            return List.of(norm.out(), router.chosen(), router.shares());
        }

        @Override
        public List<Weight> weights() {
            return FusedOp.weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            return List.of(norm, logits, router);
        }
    }

    /// The first half of the chosen experts, `act(gate(x)) * up(x)` or `act(up(x))`, and that of a shared expert
    /// that reads the same row. Outputs: the experts' rows, then the shared one's.
    ///
    /// @param gate gate matrices, or empty
    /// @param up up matrices
    /// @param activate the activation: a [CoreOp.Activate], or with gates a [CoreOp.SwigluOai]
    /// @param multiply product of the activated gates and the up projections; only with gates and a
    ///     [CoreOp.Activate]
    /// @param shared the shared expert's, without a norm, or empty
    public record ExpertGateUp(
            Optional<ExpertOp.ExpertLinear> gate,
            ExpertOp.ExpertLinear up,
            CoreOp activate,
            Optional<CoreOp.Multiply> multiply,
            Optional<FusedOp.GateUp> shared)
            implements CustomOp {
        @Override
        public String kind() {
            return "expert_gate_up";
        }

        /// {@return the experts' rows}
        public Value hidden() {
            return multiply.map(CoreOp.Multiply::out).orElse(activate.out());
        }

        @Override
        public List<Value> inputs() {
            return FusedOp.inputsOf(expand());
        }

        @Override
        public List<Value> outputs() {
            List<Value> outputs = new ArrayList<>(List.of(hidden()));
            shared.ifPresent(s -> outputs.addAll(s.outputs()));
            return outputs;
        }

        @Override
        public List<Weight> weights() {
            return FusedOp.weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>();
            gate.ifPresent(ops::add);
            ops.add(up);
            ops.add(activate);
            multiply.ifPresent(ops::add);
            shared.ifPresent(s -> ops.addAll(s.expand()));
            return ops;
        }
    }

    /// The second half of the chosen experts, their weighted sum, that of a shared expert, and the sum with a
    /// residual.
    ///
    /// @param down down matrices
    /// @param sum weighs the experts
    /// @param sharedDown down matrix of a shared expert, or empty
    /// @param sharedSum weighs the shared expert with a single weight, or empty
    /// @param adds sums of the results and at most one more value, in their order
    public record ExpertDown(
            ExpertOp.ExpertLinear down,
            ExpertOp.WeightedSum sum,
            Optional<CoreOp.Linear> sharedDown,
            Optional<ExpertOp.WeightedSum> sharedSum,
            List<CoreOp.Add> adds)
            implements CustomOp {
        /// Takes a copy of the list.
        public ExpertDown {
            adds = List.copyOf(adds);
        }

        @Override
        public String kind() {
            return "expert_down";
        }

        /// {@return what is added to the experts' results, or empty}
        public Optional<Value> residual() {
            List<Op> inside = expand();
            return adds.stream()
                    .flatMap(add -> add.inputs().stream())
                    .filter(in -> inside.stream().noneMatch(op -> op.outputs().contains(in)))
                    .findFirst();
        }

        @Override
        public List<Value> inputs() {
            return FusedOp.inputsOf(expand());
        }

        @Override
        public List<Value> outputs() {
            return adds.isEmpty() ? sum.outputs() : adds.getLast().outputs();
        }

        @Override
        public List<Weight> weights() {
            return FusedOp.weightsOf(expand());
        }

        @Override
        public List<Op> expand() {
            List<Op> ops = new ArrayList<>(List.of(down, sum));
            sharedDown.ifPresent(ops::add);
            sharedSum.ifPresent(ops::add);
            ops.addAll(adds);
            return ops;
        }
    }
}
