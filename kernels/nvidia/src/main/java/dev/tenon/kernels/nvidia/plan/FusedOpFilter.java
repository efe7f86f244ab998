package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.kernels.nvidia.DeviceFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Which fused ops the kernels can run as they are: those whose weights' formats and shapes go together.
final class FusedOpFilter {
    private FusedOpFilter() {}

    /// {@return the graph with every other fused op replaced by the core ops that it stands for}
    ///
    /// @param graph the graph
    /// @param weights formats of its weights
    /// @param fragments block decoders of other bundles, by format
    static Graph expandUnfit(Graph graph, Weights weights, Map<String, CudaFragment> fragments) {
        List<Op> ops = new ArrayList<>();
        for (Op op : graph.ops()) {
            if (op instanceof FusedExpertOp.ExpertGateUp f
                    && f.shared().isPresent()
                    && !isUsual(f.shared().get(), weights, fragments)) {
                ops.addAll(f.shared().get().expand());
                op = new FusedExpertOp.ExpertGateUp(f.gate(), f.up(), f.activate(), f.multiply(), Optional.empty());
            }
            boolean keep = switch (op) {
                case FusedOp.NormQkvRope f -> fits(graph, asQkv(f), f.v().out(), weights, fragments);
                case FusedOp.Qkv f -> fits(graph, f, f.v().out(), weights, fragments);
                case FusedOp.Projections f ->
                    fits(graph, asQkv(f).orElseThrow(), f.parts().getLast().out(), weights, fragments);
                case FusedOp.NormGateUp f -> fits(asGateUp(f), weights, fragments);
                case FusedOp.GateUp f -> fits(f, weights, fragments);
                case FusedExpertOp.NormRouter f ->
                    f.norm() instanceof CoreOp.RmsNorm norm
                            && norm.weight().cols() == norm.x().width()
                            && isReadByProductsOnly(graph, f);
                case FusedExpertOp.ExpertGateUp f ->
                    f.gate().isEmpty()
                            || !f.up().ownInputs()
                                    && same(f.gate().get().weight(), f.up().weight(), weights, fragments);
                default -> true;
            };
            if (keep) {
                ops.add(op);
            } else {
                ops.addAll(((CustomOp) op).expand());
            }
        }
        return graph.withOps(ops);
    }

    /// {@return whether there are kernels for a fused op, if its weights fit}
    ///
    /// @param op any op
    static boolean isKnown(Op op) {
        return switch (op) {
            case FusedOp.NormQkvRope _,
                    FusedOp.NormGateUp _,
                    FusedOp.LinearAdd _,
                    FusedOp.Qkv _,
                    FusedExpertOp.NormRouter _,
                    FusedExpertOp.ExpertGateUp _,
                    FusedExpertOp.ExpertDown _ -> true;
            case FusedOp.Projections f -> asQkv(f).isPresent();
            case FusedOp.GateUp f -> f.activate() instanceof CoreOp.Activate;
            case FusedOp.LinearThen f ->
                f.then().getFirst() instanceof CoreOp.Scale
                        && (f.then().size() == 1
                                || f.then().size() == 2 && f.then().getLast() instanceof CoreOp.Add);
            default -> false;
        };
    }

    /// {@return the same op, in its general form}
    ///
    /// @param f the op
    static FusedOp.Qkv asQkv(FusedOp.NormQkvRope f) {
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
    static Optional<FusedOp.Qkv> asQkv(FusedOp.Projections f) {
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

    /// {@return the same op, in its general form}
    ///
    /// @param f the op
    static FusedOp.GateUp asGateUp(FusedOp.NormGateUp f) {
        return new FusedOp.GateUp(
                Optional.of(f.norm()), Optional.of(f.gate()), f.up(), f.activate(), Optional.of(f.multiply()));
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

    private static boolean fits(
            Graph graph, FusedOp.Qkv f, Value values, Weights weights, Map<String, CudaFragment> fragments) {
        return isReadByAttentionOnly(graph, f, values)
                && same(f.q().weight(), f.k().weight(), weights, fragments)
                && noFragment(f.q().weight(), weights, fragments)
                && noFragment(f.v().weight(), weights, fragments);
    }

    private static boolean fits(FusedOp.GateUp f, Weights weights, Map<String, CudaFragment> fragments) {
        return f.gate().isEmpty()
                || f.gate().get().bias().isEmpty()
                        && f.up().bias().isEmpty()
                        && same(f.gate().get().weight(), f.up().weight(), weights, fragments);
    }

    private static boolean same(Weight a, Weight b, Weights weights, Map<String, CudaFragment> fragments) {
        return DeviceFormat.of(weights.format(a.name()), fragments)
                .equals(DeviceFormat.of(weights.format(b.name()), fragments));
    }

    private static boolean noFragment(Weight a, Weights weights, Map<String, CudaFragment> fragments) {
        return DeviceFormat.of(weights.format(a.name()), fragments).fragment().isEmpty();
    }

    /// Whether the first half of a shared expert has a kernel of its own.
    private static boolean isUsual(FusedOp.GateUp half, Weights weights, Map<String, CudaFragment> fragments) {
        return half.gate().isPresent()
                && half.gate().get().bias().isEmpty()
                && half.up().bias().isEmpty()
                && half.activate() instanceof CoreOp.Activate
                && same(half.gate().get().weight(), half.up().weight(), weights, fragments);
    }

    /// Whether every reader of a norm can do the norm itself.
    private static boolean isReadByProductsOnly(Graph graph, FusedExpertOp.NormRouter f) {
        Value normed = f.norm().out();
        return new Readers(graph).all(normed, op -> switch (op) {
            case CoreOp.Linear _ -> true;
            case ExpertOp.ExpertLinear l -> !l.ownInputs();
            case FusedExpertOp.ExpertGateUp g -> !g.up().ownInputs();
            default -> false;
        });
    }

    /// Whether one attention op reads the three results, which can norm and rotate them and is the first of its
    /// layer, and nothing else does but ops that read that layer's cache.
    private static boolean isReadByAttentionOnly(Graph graph, FusedOp.Qkv f, Value values) {
        Readers readers = new Readers(graph);
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
                && f.qRope().filter(r -> r.params().headDim() != a.keyLength()).isEmpty();
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
