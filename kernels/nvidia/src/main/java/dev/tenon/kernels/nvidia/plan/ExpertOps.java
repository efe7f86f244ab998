package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.BufferList;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches.Choices;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches.Gate;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches.Matrices;
import dev.tenon.kernels.nvidia.launch.GatedWeights;
import dev.tenon.kernels.nvidia.launch.KernelCodes;
import dev.tenon.kernels.nvidia.launch.LinearLaunches;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Norm;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Product;
import dev.tenon.kernels.nvidia.launch.PlannedOp;
import dev.tenon.kernels.nvidia.launch.Slot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/// Plans the ops of experts.
///
/// The rows of a token's experts, after the gate, are float16 in the order of the choices in steps of many rows, if
/// only an [FusedExpertOp.ExpertDown] reads them.
final class ExpertOps {
    private final ValuePool<Slot> pool;
    private final WeightList weights;
    private final BufferList buffers;
    private final LinearLaunches linears;
    private final ExpertLaunches launches;
    private final Function<Value, Norm> norms;
    private final Readers readers;
    private final BufferSpec results;
    private final Map<Slot, Choices> choices = new HashMap<>();

    /// @param pool memory of values
    /// @param weights memory of weights
    /// @param buffers all memory
    /// @param linears launches of dense products
    /// @param launches launches of experts
    /// @param norms the norm that is left to the readers of a value, or null
    /// @param readers what reads a value
    ExpertOps(
            ValuePool<Slot> pool,
            WeightList weights,
            BufferList buffers,
            LinearLaunches linears,
            ExpertLaunches launches,
            Function<Value, Norm> norms,
            Readers readers) {
        this.pool = pool;
        this.weights = weights;
        this.buffers = buffers;
        this.linears = linears;
        this.launches = launches;
        this.norms = norms;
        this.readers = readers;
        this.results = buffers.add(BufferSpec.Kind.ACTIVATION, "results of experts", 0);
    }

    private Matrices matrices(ExpertOp.ExpertLinear l) {
        return new Matrices(weights.matrix(l.weight()), address(l.bias()));
    }

    private Argument.Address address(Optional<Weight> vector) {
        return vector.map(v -> weights.floats(v).at(0)).orElse(Argument.Address.NULL);
    }

    /// Bytes that a token reads.
    private static long bytes(Matrices matrices, int used) {
        return matrices.weight().bytes() / matrices.weight().weight().slices() * used;
    }

    private Choices choices(Value chosen, int experts) {
        return choices.computeIfAbsent(
                pool.get(chosen),
                slot -> new Choices(
                        slot,
                        experts,
                        buffers.add(BufferSpec.Kind.ACTIVATION, "choices by expert", 0),
                        buffers.add(BufferSpec.Kind.ACTIVATION, "tiles of choices", 0),
                        results));
    }

    PlannedOp router(Op op, ExpertOp.Router r, Slot logits, Optional<Product> product) {
        Argument.Address bias = address(r.params().bias());
        pool.define(r.chosen(), logits.selected);
        Slot shares = pool.define(r.shares(), logits.selected);
        Choices made = choices(r.chosen(), r.logits().width());
        boolean grouped = readers.any(
                r.chosen(),
                reader -> NvidiaOps.row(reader).reading().experts(reader).stream()
                        .anyMatch(weight -> launches.matmul(weights.matrix(weight))));
        Norm norm = product.isEmpty()
                ? null
                : norms.apply(((FusedExpertOp.NormRouter) op).norm().out());
        Slot x = product.isEmpty()
                ? null
                : pool.get(((FusedExpertOp.NormRouter) op).norm().x());
        long bytes = product.map(p -> p.weight().bytes()).orElse(0L);
        String kernel = product.map(p -> "linear_" + p.weight().format().id() + ", router")
                .orElse("router");
        String name = product.map(p -> p.weight().tensor()).orElse(r.chosen().name());
        Support.Level level = product.map(p -> p.weight().level()).orElse(Support.Level.FAST);
        return new PlannedOp(op.kind(), name, kernel, level, logits.selected, bytes, to -> {
            product.ifPresent(p -> linears.products(to, x, norm, List.of(p)));
            launches.router(to, r.params(), logits, bias, made, shares, grouped);
        });
    }

    /// Whether every reader of a value fits, and the value is not the graph's output.
    private boolean isReadOnlyBy(Value value, Predicate<FusedExpertOp.ExpertDown> fits) {
        return readers.all(value, op -> op instanceof FusedExpertOp.ExpertDown d && fits.test(d));
    }

    PlannedOp normRouter(FusedExpertOp.NormRouter f) {
        Slot x = pool.get(f.norm().x());
        Slot logits = pool.temporary(f.router().logits().width(), x.selected);
        Product product = new Product(
                weights.matrix(f.logits().weight()), address(f.logits().bias()), null, logits);
        PlannedOp planned = router(f, f.router(), logits, Optional.of(product));
        pool.release(logits);
        return planned;
    }

    PlannedOp linear(ExpertOp.ExpertLinear l) {
        Slot x = pool.get(l.x());
        Norm norm = norms.apply(l.x());
        Matrices matrices = matrices(l);
        Choices made = choices(l.chosen(), l.weight().slices());
        Slot out = pool.define(l.out(), x.selected);
        DeviceWeight w = matrices.weight();
        return new PlannedOp(
                l.kind(),
                w.tensor(),
                "expert_linear_" + w.format().id(),
                w.level(),
                x.selected,
                bytes(matrices, l.used()),
                to -> launches.linear(to, x, norm, made, matrices, Gate.NONE.activation(), to.out(out)));
    }

    PlannedOp weightedSum(ExpertOp.WeightedSum s) {
        Slot x = pool.get(s.x());
        Slot shares = pool.get(s.shares());
        Slot out = pool.define(s.out(), x.selected);
        return new PlannedOp(
                s.kind(),
                s.out().name(),
                "weighted_sum",
                Support.Level.FAST,
                x.selected,
                0,
                to -> launches.weightedSum(to, to.at(x), shares, Argument.Address.NULL, out));
    }

    PlannedOp gateUp(FusedExpertOp.ExpertGateUp f) {
        Slot x = pool.get(f.up().x());
        Norm norm = norms.apply(f.up().x());
        Matrices up = matrices(f.up());
        Optional<Matrices> gate = f.gate().map(this::matrices);
        Choices made = choices(f.up().chosen(), f.up().weight().slices());
        boolean ordered = isReadOnlyBy(
                f.hidden(),
                d -> d.down().chosen().equals(f.up().chosen())
                        && launches.matmul(weights.matrix(d.down().weight())));
        Slot out = pool.define(f.hidden(), x.selected);
        Gate glu = switch (f.activate()) {
            case CoreOp.SwigluOai s -> new Gate(Gate.SWIGLU_OAI, s.alpha(), s.limit());
            case CoreOp.Activate a -> new Gate(KernelCodes.of(a.activation()), 0, 0);
            default -> throw new IllegalStateException("op " + f.activate().kind() + " is no activation");
        };
        Optional<ExpertLaunches.GateUp> pair = gate.map(g -> new ExpertLaunches.GateUp(g, up, glu));
        Optional<Shared> shared = f.shared().map(this::shared);
        int used = f.up().used();
        long bytes = bytes(up, used)
                + gate.map(g -> bytes(g, used)).orElse(0L)
                + shared.map(s -> s.pair.gate().bytes() + s.pair.up().bytes()).orElse(0L);
        DeviceWeight w = up.weight();
        return new PlannedOp(
                f.kind(),
                gate.map(g -> g.weight().tensor() + ", ").orElse("") + w.tensor(),
                (gate.isPresent() ? "expert_gate_up_" : "expert_linear_")
                        + w.format().id(),
                w.level(),
                x.selected,
                bytes,
                to -> {
                    if (pair.isPresent()) {
                        launches.gateUp(to, x, norm, made, pair.get(), out, ordered);
                    } else {
                        launches.linear(to, x, norm, made, up, glu.activation(), to.out(out));
                    }
                    shared.ifPresent(s -> linears.gateUp(to, x, norm, s.pair, s.out, s.takenAsF16));
                });
    }

    /// The first half of a shared expert.
    private record Shared(GatedWeights pair, Slot out, boolean takenAsF16) {}

    private Shared shared(FusedOp.GateUp half) {
        Value hidden = half.outputs().getFirst();
        boolean f16 = isReadOnlyBy(
                hidden,
                d -> d.sharedDown()
                        .filter(l -> linears.matmul(weights.matrix(l.weight())))
                        .isPresent());
        boolean selected = pool.get(half.up().x()).selected;
        return new Shared(
                new GatedWeights(
                        weights.matrix(half.gate().orElseThrow().weight()),
                        weights.matrix(half.up().weight()),
                        KernelCodes.of(((CoreOp.Activate) half.activate()).activation())),
                pool.define(hidden, selected),
                f16);
    }

    PlannedOp down(FusedExpertOp.ExpertDown f) {
        Slot x = pool.get(f.down().x());
        Matrices matrices = matrices(f.down());
        Choices made = choices(f.down().chosen(), f.down().weight().slices());
        Slot shares = pool.get(f.sum().shares());
        Slot residual = f.residual().map(pool::get).orElse(null);
        Slot out = pool.define(f.outputs().getFirst(), x.selected);
        Optional<SharedDown> shared = f.sharedDown().map(l -> sharedDown(f, l, residual, out));
        long bytes = bytes(matrices, f.down().used())
                + shared.map(s -> s.product.weight().bytes()).orElse(0L);
        DeviceWeight w = matrices.weight();
        return new PlannedOp(
                f.kind(), w.tensor(), "expert_down_" + w.format().id(), w.level(), x.selected, bytes, to -> {
                    shared.ifPresent(s -> s.emit(to, linears, launches, residual, out));
                    launches.down(to, x, made, matrices, shares, shared.isPresent() ? out : residual, out);
                });
    }

    /// The second half of a shared expert: its share of the sum, and the residual, are in `out` before the experts add
    /// theirs.
    ///
    /// @param product the projection
    /// @param x its input
    /// @param share its only weight, or null
    private record SharedDown(Product product, Slot x, Slot share) {
        void emit(Emission to, LinearLaunches linears, ExpertLaunches launches, Slot residual, Slot out) {
            linears.products(to, x, null, List.of(product));
            if (share != null) {
                Argument.Address before = residual == null ? Argument.Address.NULL : to.at(residual);
                launches.weightedSum(to, to.at(product.out()), share, before, out);
            }
        }
    }

    private SharedDown sharedDown(FusedExpertOp.ExpertDown f, CoreOp.Linear l, Slot residual, Slot out) {
        Slot x = pool.get(l.x());
        DeviceWeight weight = weights.matrix(l.weight());
        if (f.sharedSum().isEmpty()) {
            return new SharedDown(new Product(weight, address(l.bias()), residual, out), x, null);
        }
        Slot unweighted = pool.temporary(out.width, out.selected);
        pool.release(unweighted);
        return new SharedDown(
                new Product(weight, address(l.bias()), null, unweighted),
                x,
                pool.get(f.sharedSum().get().shares()));
    }
}
