package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.DeviceFormats;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Tells whether fused ops can run as they are: whether the formats and shapes of their weights go together, and what
/// reads their results.
///
/// @param graph the graph
/// @param readers what reads its values
/// @param weights formats of its weights
/// @param formats how formats lie on the device
record FusedOpFilter(Graph graph, Readers readers, Weights weights, DeviceFormats formats) {
    /// {@return the graph with every fused op that does not fit replaced by ops that it stands for}
    ///
    /// @param graph the graph
    /// @param weights formats of its weights
    /// @param formats how formats lie on the device
    static Graph expandUnfit(Graph graph, Weights weights, DeviceFormats formats) {
        FusedOpFilter filter = new FusedOpFilter(graph, new Readers(graph), weights, formats);
        List<Op> ops = new ArrayList<>();
        graph.ops().forEach(op -> ops.addAll(NvidiaOps.row(op).fitted().apply(op, filter)));
        return graph.withOps(ops);
    }

    /// {@return whether queries and keys are normed as whole rows, not head by head}
    ///
    /// @param f projections that are kept
    static boolean wholeNorms(FusedOp.Qkv f) {
        return f.qNorm().isPresent()
                && f.kNorm().isPresent()
                && isWhole(f.qNorm().get())
                && isWhole(f.kNorm().get())
                && f.qNorm().get().eps() == f.kNorm().get().eps();
    }

    private static boolean isWhole(CoreOp.RmsNorm n) {
        return n.weight().cols() == n.x().width();
    }

    /// {@return whether attention can do what is left to do with the results of projections}
    ///
    /// @param f the projections
    /// @param values what the values are in the end
    boolean fits(FusedOp.Qkv f, Value values) {
        return isReadByAttentionOnly(f, values)
                && same(f.q().weight(), f.k().weight())
                && noFragment(f.q().weight())
                && noFragment(f.v().weight());
    }

    boolean fits(FusedOp.GateUp f) {
        return f.gate().isEmpty() || hasOneFormat(f.gate().get(), f.up());
    }

    private boolean hasOneFormat(CoreOp.Linear gate, CoreOp.Linear up) {
        return gate.bias().isEmpty() && up.bias().isEmpty() && same(gate.weight(), up.weight());
    }

    /// {@return whether every reader of the norm can do the norm itself}
    boolean fits(FusedExpertOp.NormRouter f) {
        return f.norm() instanceof CoreOp.RmsNorm norm
                && norm.weight().cols() == norm.x().width()
                && readers.all(norm.out(), op -> NvidiaOps.row(op).reading().normsWithRouter(op));
    }

    boolean fits(FusedExpertOp.ExpertGateUp f) {
        return f.gate().isEmpty() || !f.up().ownInputs() && same(f.gate().get().weight(), f.up().weight());
    }

    /// {@return the op, without the shared expert if that has no kernel of its own; or the ops that it stands for}
    List<Op> fitted(FusedExpertOp.ExpertGateUp f) {
        List<Op> ops = new ArrayList<>();
        FusedExpertOp.ExpertGateUp own = f;
        if (f.shared().isPresent() && !isUsual(f.shared().get())) {
            ops.addAll(f.shared().get().expand());
            own = new FusedExpertOp.ExpertGateUp(f.gate(), f.up(), f.activate(), f.multiply(), Optional.empty());
        }
        ops.addAll(fits(own) ? List.of(own) : own.expand());
        return ops;
    }

    private boolean same(Weight a, Weight b) {
        return formats.of(weights.format(a.name())).equals(formats.of(weights.format(b.name())));
    }

    private boolean noFragment(Weight a) {
        return formats.of(weights.format(a.name())).fragment().isEmpty();
    }

    /// Whether the first half of a shared expert has a kernel of its own.
    private boolean isUsual(FusedOp.GateUp half) {
        return half.gate().isPresent()
                && half.activate() instanceof CoreOp.Activate
                && hasOneFormat(half.gate().get(), half.up());
    }

    /// Whether one attention op reads the three results, which can norm and rotate them and is the first of its
    /// layer, and nothing else does but ops that read that layer's cache.
    private boolean isReadByAttentionOnly(FusedOp.Qkv f, Value values) {
        Value query = f.queries();
        if (readers.only(query).orElse(null) instanceof PositionScale s) {
            query = s.out();
        }
        return readers.only(query).orElse(null) instanceof CoreOp.Attention a
                && a.q().equals(query)
                && a.k().equals(f.keys())
                && a.v().equals(values)
                && graph.cacheLayers().contains(a)
                && readers.all(f.keys(), op -> isOfLayer(op, a))
                && readers.all(values, op -> isOfLayer(op, a))
                && (wholeNorms(f) || byHead(f, a.keyLength()))
                && f.qRope().map(CoreOp.Rope::params).equals(f.kRope().map(CoreOp.Rope::params))
                && f.qRope().filter(r -> !isWhole(r.params(), a.keyLength())).isEmpty();
    }

    /// Whether a rotation is of heads, and pairs elements of all that it rotates.
    private static boolean isWhole(RopeParams rope, int length) {
        return rope.headDim() == length && rope.span() == rope.ropeDim();
    }

    private static boolean isOfLayer(Op op, CoreOp.Attention first) {
        return op instanceof CoreOp.Attention attention && attention.sharesLayerWith(first);
    }

    private static boolean byHead(FusedOp.Qkv f, int length) {
        List<CoreOp.RmsNorm> norms =
                Stream.of(f.qNorm(), f.kNorm()).flatMap(Optional::stream).toList();
        return norms.stream()
                .allMatch(n -> n.weight().cols() == length
                        && n.eps() == norms.getFirst().eps());
    }
}
