package dev.tenon.api.graph;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// One operation of a graph. Immutable.
///
/// The set is open: [CoreOp] holds the ops of usual decoders and encoders, [ExpertOp] those of
/// mixtures of experts, [StateOp] and [RecurrentOp] those with a state, [PartOp] those on parts of rows,
/// [PositionScale], [LowRankAdd], [CentredConvolution], [GivenRows], [ReplaceRows], [JoinRows], [SelectPositions],
/// [SelectedAttention] and [RunAttention] stand alone, [CustomOp] is for everything that these express. A backend that
/// meets an op it does not know asks whether it is a [CustomOp] and expands it, or refuses it with a reason.
@ConsumerType
public interface Op {
    /// {@return the kind, such as `linear`; stable, used in reports and kernel look-up}
    String kind();

    /// {@return the values it reads; empty for ops that look rows up}
    default List<Value> inputs() {
        return List.of();
    }

    /// {@return the values it defines}
    List<Value> outputs();

    /// {@return the weights it reads, in a fixed order; empty for most ops}
    default List<Weight> weights() {
        return List.of();
    }
}
