package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Pure rewriting passes that a backend may use before it compiles a graph. They never change results beyond
/// rounding: [Graph#expanded()] gives the original ops back.
public final class Fusion {
    private final Graph graph;
    private final Predicate<CustomOp> wanted;
    private final Map<Integer, Op> producer = new HashMap<>();
    private final Map<Integer, Integer> readers = new HashMap<>();
    /// The last op that reads a value; the only one where [#readers] says 1.
    private final Map<Integer, Op> reader = new HashMap<>();
    private final Set<Op> taken = new HashSet<>();
    private final Map<Op, CustomOp> fusedAt = new HashMap<>();

    private Fusion(Graph graph, Predicate<CustomOp> wanted) {
        this.graph = graph;
        this.wanted = wanted;
    }

    /// Rewrites the usual decoder layer into five ops: [FusedOp.NormQkvRope], attention,
    /// [FusedOp.LinearAdd], [FusedOp.NormGateUp], [FusedOp.LinearAdd]. What does not match stays as
    /// it is.
    ///
    /// @param graph any graph
    /// @return an equivalent graph
    public static Graph fuse(Graph graph) {
        return fuse(
                graph,
                op -> op instanceof FusedOp.NormQkvRope
                        || op instanceof FusedOp.NormGateUp
                        || op instanceof FusedOp.LinearAdd);
    }

    /// Rewrites the usual layers into those fused ops that a backend has kernels for. With all of
    /// them a dense layer is five ops: [FusedOp.NormQkvRope], [FusedOp.Qkv], [FusedOp.ScaledQkv] or
    /// [FusedOp.Projections], attention, [FusedOp.LinearAdd] or [FusedOp.LinearThen],
    /// [FusedOp.NormGateUp] or [FusedOp.GateUp], and one of the linears again; with experts it is
    /// six: [FusedExpertOp.NormRouter], [FusedExpertOp.ExpertGateUp] and [FusedExpertOp.ExpertDown]
    /// follow the first three. What does not match stays as it is.
    ///
    /// @param graph any graph
    /// @param wanted tells whether a fused op is made; the more special one is asked for first
    /// @return an equivalent graph
    public static Graph fuse(Graph graph, Predicate<CustomOp> wanted) {
        return new Fusion(graph, wanted).run();
    }

    private void read(Value value) {
        readers.merge(value.id(), 1, Integer::sum);
    }

    private Graph run() {
        Set<Integer> layers = new HashSet<>();
        for (Op op : graph.ops()) {
            for (Value value : op.outputs()) {
                producer.put(value.id(), op);
            }
            boolean shares = op instanceof CoreOp.Attention attention && !layers.add(attention.layer());
            // What the first op of a layer left in the cache is read there.
            for (Value value : shares ? op.inputs().subList(0, 1) : op.inputs()) {
                read(value);
                reader.put(value.id(), op);
            }
        }
        read(graph.output());
        graph.outputs().values().forEach(this::read);
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Attention attention) {
                matchQkv(attention);
                matchProjections(attention);
            }
        }
        for (Op op : graph.ops()) {
            switch (op) {
                case ExpertOp.Router router -> matchRouter(router);
                case ExpertOp.WeightedSum sum -> matchExperts(sum);
                default -> {}
            }
        }
        for (Op op : graph.ops()) {
            switch (op) {
                case CoreOp.Multiply multiply -> matchGateUp(multiply);
                case CoreOp.SwigluOai swiglu -> matchGateUp(swiglu);
                case CoreOp.Activate activate -> matchUp(activate);
                default -> {}
            }
        }
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Add add) {
                matchLinearAdd(add);
            }
        }
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Linear linear && !taken.contains(linear)) {
                matchThen(linear);
            }
        }
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Unary unary) {
                matchNormed(unary.out());
            }
        }
        List<Op> ops = ordered(rewritten());
        return ops.isEmpty() ? graph : graph.withOps(ops);
    }

    /// The ops with fused ones where the last op that each replaces stood.
    private List<Op> rewritten() {
        Map<CustomOp, Op> lastOf = new HashMap<>();
        for (Op op : graph.ops()) {
            CustomOp fused = fusedAt.get(op);
            if (fused != null) {
                lastOf.put(fused, op);
            }
        }
        List<Op> ops = new ArrayList<>();
        for (Op op : graph.ops()) {
            CustomOp fused = fusedAt.get(op);
            if (fused != null && lastOf.get(fused) == op) {
                ops.add(fused);
            } else if (fused == null) {
                ops.add(op);
            }
        }
        return ops;
    }

    /// Moves ops that read a result of a fused op to after it: such a result was there before the last of the ops
    /// that the fused one replaces. Empty if a fused op needs what is made of its own results.
    private static List<Op> ordered(List<Op> ops) {
        Set<Integer> late = new HashSet<>();
        ops.forEach(op -> op.outputs().forEach(out -> late.add(out.id())));
        List<Op> ordered = new ArrayList<>();
        List<Op> waiting = new ArrayList<>();
        for (Op op : ops) {
            waiting.add(op);
            for (int i = 0; i < waiting.size(); ) {
                Op next = waiting.get(i);
                if (next.inputs().stream().anyMatch(in -> late.contains(in.id()))) {
                    i++;
                    continue;
                }
                waiting.remove(i);
                ordered.add(next);
                next.outputs().forEach(out -> late.remove(out.id()));
                i = 0;
            }
        }
        return waiting.isEmpty() ? ordered : List.of();
    }

    private void matchQkv(CoreOp.Attention attention) {
        Value queryRow = withoutNorm(attention.q());
        Value keyRow = withoutNorm(attention.k());
        Optional<PositionScale> scale = before(queryRow, PositionScale.class);
        Value query = scale.map(PositionScale::x).orElse(queryRow);
        Optional<CoreOp.Rope> qRope = before(query, CoreOp.Rope.class);
        Optional<CoreOp.Rope> kRope = before(keyRow, CoreOp.Rope.class);
        Value qTurned = qRope.map(CoreOp.Rope::x).orElse(query);
        Value kTurned = kRope.map(CoreOp.Rope::x).orElse(keyRow);
        Optional<CoreOp.RmsNorm> qNorm = before(qTurned, CoreOp.RmsNorm.class);
        Optional<CoreOp.RmsNorm> kNorm = before(kTurned, CoreOp.RmsNorm.class);
        Value qValue = qNorm.map(CoreOp.RmsNorm::x).orElse(qTurned);
        Value kValue = kNorm.map(CoreOp.RmsNorm::x).orElse(kTurned);
        if (!(single(qValue) instanceof CoreOp.Linear q)
                || !(single(kValue) instanceof CoreOp.Linear k)
                || !(single(attention.v()) instanceof CoreOp.Linear v)
                || !q.x().equals(k.x())
                || !q.x().equals(v.x())) {
            return;
        }
        Optional<CoreOp.Unary> norm = normOf(q.x());
        int normReaders = readers.get(q.x().id());
        FusedOp.Qkv qkv =
                new FusedOp.Qkv(norm, norm.isPresent() && normReaders > 3, q, k, v, qNorm, kNorm, qRope, kRope);
        if (scale.isPresent() && take(new FusedOp.ScaledQkv(qkv, scale.get()))) {
            return;
        }
        if (norm.isPresent()
                && norm.get() instanceof CoreOp.RmsNorm rms
                && normReaders == 3
                && qRope.isPresent()
                && kRope.isPresent()
                && qRope.get().params().equals(kRope.get().params())
                && take(new FusedOp.NormQkvRope(rms, q, k, v, qNorm, kNorm, qRope.get(), kRope.get()))) {
            return;
        }
        take(qkv);
    }

    /// {@return what a norm of heads after a rotation reads, otherwise the value}
    private Value withoutNorm(Value value) {
        return headNorm(value)
                .map(norm -> norm.inputs().getFirst())
                .filter(x -> before(x, CoreOp.Rope.class).isPresent())
                .orElse(value);
    }

    private Optional<Op> headNorm(Value value) {
        return before(value, Op.class).filter(op -> op instanceof CoreOp.RmsNorm || op instanceof PartOp.PlainRmsNorm);
    }

    /// Queries, and those of keys and values that are projections of the same row, where they are not fused yet.
    private void matchProjections(CoreOp.Attention attention) {
        Optional<FusedOp.Projections.Part> queries = projection(attention.q());
        if (queries.isEmpty()) {
            return;
        }
        Value x = queries.get().linear().x();
        List<FusedOp.Projections.Part> parts = Stream.of(attention.q(), attention.k(), attention.v())
                .flatMap(value -> projection(value).stream())
                .filter(part -> part.linear().x().equals(x))
                .toList();
        Optional<CoreOp.Unary> norm = normOf(x);
        take(new FusedOp.Projections(norm, norm.isPresent() && readers.get(x.id()) > parts.size(), parts));
    }

    /// A norm of whole rows and the projections of its result that are left, as layers with a state have them. The one
    /// that makes the logits stays apart.
    private void matchNormed(Value value) {
        Optional<CoreOp.Unary> norm = normOf(value);
        if (norm.isEmpty()) {
            return;
        }
        List<FusedOp.Projections.Part> parts = graph.ops().stream()
                .filter(op -> op instanceof CoreOp.Linear linear
                        && linear.x().equals(value)
                        && free(op) != null
                        && !linear.out().equals(graph.output()))
                .map(op -> new FusedOp.Projections.Part((CoreOp.Linear) op, Optional.empty(), Optional.empty()))
                .toList();
        if (!parts.isEmpty()) {
            take(new FusedOp.Projections(norm, readers.get(value.id()) > parts.size(), parts));
        }
    }

    /// The projection that a value is, with what happened to its heads.
    private Optional<FusedOp.Projections.Part> projection(Value value) {
        Optional<CoreOp.Rope> rope = before(value, CoreOp.Rope.class);
        Value turned = rope.map(CoreOp.Rope::x).orElse(value);
        Optional<Op> norm = headNorm(turned);
        Value normed = norm.map(op -> op.inputs().getFirst()).orElse(turned);
        return before(normed, CoreOp.Linear.class).map(linear -> new FusedOp.Projections.Part(linear, norm, rope));
    }

    private void matchRouter(ExpertOp.Router router) {
        if (single(router.logits()) instanceof CoreOp.Linear logits) {
            normOf(logits.x()).ifPresent(norm -> take(new FusedExpertOp.NormRouter(norm, logits, router)));
        }
    }

    private void matchExperts(ExpertOp.WeightedSum sum) {
        if (!(single(sum.x()) instanceof ExpertOp.ExpertLinear down)) {
            return;
        }
        List<CoreOp.Add> adds = new ArrayList<>();
        CoreOp.@Nullable Linear sharedDown = null;
        ExpertOp.@Nullable WeightedSum sharedSum = null;
        boolean residual = false;
        Value result = sum.out();
        while (onlyReader(result) instanceof CoreOp.Add add) {
            Value other = add.a().equals(result) ? add.b() : add.a();
            ExpertOp.WeightedSum weighed = single(other) instanceof ExpertOp.WeightedSum w
                            && w.shares().width() == 1
                            && single(w.x()) instanceof CoreOp.Linear
                    ? w
                    : null;
            Op last = weighed != null ? single(weighed.x()) : single(other);
            if (sharedDown == null
                    && last instanceof CoreOp.Linear linear
                    && halfOf(linear.x()).isPresent()) {
                sharedDown = linear;
                sharedSum = weighed;
            } else if (!residual) {
                residual = true;
            } else {
                break;
            }
            adds.add(add);
            result = add.out();
        }
        Optional<FusedOp.GateUp> shared = Optional.ofNullable(sharedDown).flatMap(linear -> halfOf(linear.x()));
        expertHalfOf(down, shared).ifPresent(this::take);
        take(new FusedExpertOp.ExpertDown(
                down, sum, Optional.ofNullable(sharedDown), Optional.ofNullable(sharedSum), adds));
    }

    /// The first half of experts that ends in what their second half reads, with that of a shared expert if it
    /// reads the same row.
    private Optional<FusedExpertOp.ExpertGateUp> expertHalfOf(
            ExpertOp.ExpertLinear down, Optional<FusedOp.GateUp> shared) {
        Optional<Half<ExpertOp.ExpertLinear>> half = half(down.x(), ExpertOp.ExpertLinear.class);
        if (half.isEmpty() || !half.get().up().chosen().equals(down.chosen())) {
            return Optional.empty();
        }
        Half<ExpertOp.ExpertLinear> h = half.get();
        Value x = h.up().x();
        if (h.gate().isPresent()
                && (!h.gate().get().x().equals(x) || !h.gate().get().chosen().equals(down.chosen()))) {
            return Optional.empty();
        }
        return Optional.of(new FusedExpertOp.ExpertGateUp(
                h.gate(),
                h.up(),
                h.activate(),
                h.multiply(),
                shared.filter(s -> s.up().x().equals(x))));
    }

    private void matchGateUp(CoreOp last) {
        halfOf(last.out()).filter(half -> half.gate().isPresent()).ifPresent(half -> {
            Optional<CoreOp.Unary> norm =
                    normOf(half.up().x()).filter(n -> readers.get(n.out().id()) == 2);
            if (norm.isPresent()
                    && norm.get() instanceof CoreOp.RmsNorm rms
                    && half.multiply().isPresent()
                    && half.multiply().get().b().equals(half.up().out())
                    && half.activate() instanceof CoreOp.Activate activate
                    && take(new FusedOp.NormGateUp(
                            rms,
                            half.gate().get(),
                            half.up(),
                            activate,
                            half.multiply().get()))) {
                return;
            }
            take(new FusedOp.GateUp(norm, half.gate(), half.up(), half.activate(), half.multiply()));
        });
    }

    /// An activation of a projection without a gate, with the norm before it.
    private void matchUp(CoreOp.Activate activate) {
        if (single(activate.x()) instanceof CoreOp.Linear up) {
            Optional<CoreOp.Unary> norm =
                    normOf(up.x()).filter(n -> readers.get(n.out().id()) == 1);
            if (norm.isPresent()) {
                take(new FusedOp.GateUp(norm, Optional.empty(), up, activate, Optional.empty()));
            }
        }
    }

    /// The first half of a feed-forward layer that ends in a value, if its projections read the same row.
    private Optional<FusedOp.GateUp> halfOf(Value hidden) {
        return half(hidden, CoreOp.Linear.class)
                .filter(h -> h.gate().isEmpty() || h.gate().get().x().equals(h.up().x()))
                .map(h -> new FusedOp.GateUp(Optional.empty(), h.gate(), h.up(), h.activate(), h.multiply()));
    }

    /// What [#half] found.
    private record Half<L extends Op>(Optional<L> gate, L up, CoreOp activate, Optional<CoreOp.Multiply> multiply) {}

    private <L extends Op> Optional<Half<L>> half(Value hidden, Class<L> linear) {
        return switch (free(producer.get(hidden.id()))) {
            case CoreOp.Multiply m -> {
                Optional<CoreOp.Activate> activate = before(m.a(), CoreOp.Activate.class);
                Optional<L> up = before(m.b(), linear);
                if (activate.isEmpty() || up.isEmpty()) {
                    activate = before(m.b(), CoreOp.Activate.class);
                    up = before(m.a(), linear);
                }
                Optional<L> gate = activate.flatMap(a -> before(a.x(), linear));
                yield gate.isPresent() && up.isPresent()
                        ? Optional.of(new Half<>(gate, up.get(), activate.get(), Optional.of(m)))
                        : Optional.empty();
            }
            case CoreOp.SwigluOai s -> {
                Optional<L> gate = before(s.gate(), linear);
                yield gate.isEmpty()
                        ? Optional.empty()
                        : before(s.up(), linear).map(up -> new Half<>(gate, up, s, Optional.empty()));
            }
            case CoreOp.Activate a ->
                before(a.x(), linear).map(up -> new Half<L>(Optional.empty(), up, a, Optional.empty()));
            case null, default -> Optional.empty();
        };
    }

    private void matchLinearAdd(CoreOp.Add add) {
        if (taken.contains(add)) {
            return;
        }
        if (single(add.b()) instanceof CoreOp.Linear linear) {
            linearAdd(linear, add.a(), add);
        } else if (single(add.a()) instanceof CoreOp.Linear linear) {
            linearAdd(linear, add.b(), add);
        }
    }

    private void linearAdd(CoreOp.Linear linear, Value residual, CoreOp.Add add) {
        List<CoreOp> then = chain(linear.out());
        if (then.size() == 1 || !take(new FusedOp.LinearThen(linear, then))) {
            take(new FusedOp.LinearAdd(linear, residual, add));
        }
    }

    private void matchThen(CoreOp.Linear linear) {
        List<CoreOp> then = chain(linear.out());
        if (!then.isEmpty()) {
            take(new FusedOp.LinearThen(linear, then));
        }
    }

    /// The ops on rows that follow a value, each the only reader of what is before it.
    private List<CoreOp> chain(Value from) {
        List<CoreOp> then = new ArrayList<>();
        Value value = from;
        while (true) {
            CoreOp next = switch (onlyReader(value)) {
                case CoreOp.Add add -> add;
                case CoreOp.Multiply multiply -> multiply;
                case CoreOp.Scale scale -> scale;
                case CoreOp.SoftCap cap -> cap;
                case CoreOp.Activate activate -> activate;
                case CoreOp.RmsNorm norm -> norm;
                case CoreOp.LayerNorm norm -> norm;
                case null, default -> null;
            };
            if (next == null) {
                return then;
            }
            then.add(next);
            value = next.out();
        }
    }

    private boolean take(CustomOp fused) {
        List<Op> ops = fused.expand();
        if (ops.stream().anyMatch(taken::contains) || !wanted.test(fused)) {
            return false;
        }
        for (Op op : ops) {
            taken.add(op);
            fusedAt.put(op, fused);
        }
        return true;
    }

    /// The norm of whole rows that defines a value, if it is free.
    private Optional<CoreOp.Unary> normOf(Value value) {
        Optional<CoreOp.Unary> norm = switch (free(producer.get(value.id()))) {
            case CoreOp.RmsNorm rms -> Optional.of(rms);
            case CoreOp.LayerNorm layer -> Optional.of(layer);
            case null, default -> Optional.empty();
        };
        return norm.filter(op -> op.weights().getFirst().cols() == op.out().width());
    }

    private <O extends Op> Optional<O> before(Value value, Class<O> type) {
        return Optional.ofNullable(single(value)).filter(type::isInstance).map(type::cast);
    }

    private @Nullable Op free(@Nullable Op op) {
        return taken.contains(op) ? null : op;
    }

    /// The op that defines a value, if it is free and nothing else reads the value; else null.
    private @Nullable Op single(Value value) {
        return readers.getOrDefault(value.id(), 0) == 1 ? free(producer.get(value.id())) : null;
    }

    /// The only op that reads a value, if it is free; else null. A value that is an output has a reader more.
    private @Nullable Op onlyReader(Value value) {
        return readers.getOrDefault(value.id(), 0) == 1 ? free(reader.get(value.id())) : null;
    }
}
