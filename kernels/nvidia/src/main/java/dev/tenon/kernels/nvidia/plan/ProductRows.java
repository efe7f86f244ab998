package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Norm;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Product;
import dev.tenon.kernels.nvidia.launch.Slot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// Products with matrices, and what happens to their sums.
final class ProductRows {
    static final List<OpRow<?>> ROWS = List.of(
            new OpRow<>(CoreOp.Linear.class, ProductRows::support, ProductRows::linears).reads(new OpRow.Reading<>() {
                @Override
                public boolean norms(CoreOp.Linear l, Value value, GraphPlanner plan) {
                    return true;
                }

                @Override
                public boolean normsWithRouter(CoreOp.Linear l) {
                    return true;
                }

                @Override
                public Optional<CoreOp.Linear> product(CoreOp.Linear l, Value value) {
                    return Optional.of(l);
                }
            }),
            OpRow.fused(FusedOp.LinearAdd.class, _ -> true, (_, _) -> true, ProductRows::linearAdd)
                    .reads(new OpRow.Reading<>() {
                        @Override
                        public boolean norms(FusedOp.LinearAdd f, Value value, GraphPlanner plan) {
                            return !f.residual().equals(value);
                        }

                        @Override
                        public Optional<CoreOp.Linear> product(FusedOp.LinearAdd f, Value value) {
                            return Optional.of(f.linear())
                                    .filter(_ -> !f.residual().equals(value));
                        }
                    }),
            OpRow.fused(FusedOp.LinearThen.class, ProductRows::known, (_, _) -> true, ProductRows::linearThen)
                    .reads(new OpRow.Reading<>() {
                        @Override
                        public Optional<CoreOp.Linear> product(FusedOp.LinearThen f, Value value) {
                            return Optional.of(f.linear())
                                    .filter(_ -> f.then().stream()
                                            .noneMatch(then -> then.inputs().contains(value)));
                        }
                    }),
            new OpRow<>(
                    PartOp.HeadLinear.class,
                    (l, judge) -> l.heads() > ExpertLaunches.MOST_EXPERTS
                            ? OpSupport.notYet("op head_linear of more than " + ExpertLaunches.MOST_EXPERTS + " heads")
                            : judge.matrix(l.kind(), l.weight()),
                    (l, plan) -> plan.ops.add(plan.headOps.plan(l))),
            new OpRow<>(
                    LowRankAdd.class,
                    (l, judge) -> l.weights().stream()
                            .map(weight -> judge.matrix("linear", weight))
                            .max(Comparator.comparing(Support::level))
                            .orElseThrow(),
                    (l, plan) -> plan.ops.add(plan.adapterOps.plan(l))));

    private ProductRows() {}

    private static Support support(CoreOp.Linear l, OpSupport judge) {
        Support support = judge.matrix(l.kind(), l.weight());
        return l.bias().isPresent()
                ? support
                : new Support(support.level(), support.reason() + judge.library(l.weight()));
    }

    private static boolean known(FusedOp.LinearThen f) {
        return f.then().getFirst() instanceof CoreOp.Scale
                && (f.then().size() == 1 || f.then().size() == 2 && f.then().getLast() instanceof CoreOp.Add);
    }

    /// What happens to the sums of a linear: `activation(factor * (sum + bias)) + residual`.
    ///
    /// @param residual what is added, or null
    /// @param factor times the sums
    /// @param activation its code
    record Epilogue(Value residual, float factor, int activation) {}

    /// A product, and those after it that read the same input and have the same format: they share their launches.
    private static void linears(CoreOp.Linear l, GraphPlanner plan) {
        if (!plan.planned.add(l)) {
            return;
        }
        List<CoreOp.Linear> group = new ArrayList<>(List.of(l));
        for (Op reader : plan.options.fuse() ? plan.readers.of(l.x()) : List.<Op>of()) {
            if (reader instanceof CoreOp.Linear other
                    && plan.weights
                            .matrix(other.weight())
                            .format()
                            .equals(plan.weights.matrix(l.weight()).format())
                    && plan.planned.add(other)) {
                group.add(other);
            }
        }
        if (group.size() == 1) {
            linear(l, l, new Epilogue(null, 1, Product.NO_ACTIVATION), l.out(), plan);
            return;
        }
        Slot x = plan.pool.get(l.x());
        Norm norm = plan.normOf(l.x());
        List<Product> products = new ArrayList<>();
        for (CoreOp.Linear each : group) {
            Slot out = plan.pool.define(each.out(), x.selected);
            products.add(new Product(plan.weights.matrix(each.weight()), plan.bias(each), null, out));
        }
        plan.add(
                l,
                group.stream().map(each -> each.weight().name()).collect(Collectors.joining(", ")),
                "linear_" + products.getFirst().weight().format().id(),
                GraphPlanner.level(products.getFirst().weight()),
                x.selected,
                group.stream().mapToLong(plan::bytes).sum() + (norm == null ? 0 : 4L * x.width),
                to -> plan.linears.products(to, x, norm, products));
    }

    private static void linear(Op op, CoreOp.Linear l, Epilogue then, Value outValue, GraphPlanner plan) {
        linear(op, l, plan.pool.get(l.x()), plan.normOf(l.x()), then, outValue, plan);
    }

    /// A product with what happens to its sums.
    ///
    /// @param op the op that says so, for reports
    /// @param l the product
    /// @param x its input
    /// @param norm a norm of the input that it does, or null
    static void linear(Op op, CoreOp.Linear l, Slot x, Norm norm, Epilogue then, Value outValue, GraphPlanner plan) {
        Slot residual = then.residual == null ? null : plan.pool.get(then.residual);
        DeviceWeight weight = plan.weights.matrix(l.weight());
        Slot out = plan.pool.define(outValue, x.selected);
        Product product = new Product(weight, plan.bias(l), residual, out, then.factor, then.activation);
        long normBytes = norm == null ? 0 : 4L * x.width;
        plan.add(
                op,
                l.weight().name(),
                "linear_" + weight.format().id(),
                GraphPlanner.level(weight),
                x.selected,
                plan.bytes(l) + normBytes,
                to -> plan.linears.products(to, x, norm, List.of(product)));
    }

    private static void linearAdd(FusedOp.LinearAdd f, GraphPlanner plan) {
        Epilogue then = new Epilogue(f.residual(), 1, Product.NO_ACTIVATION);
        linear(f, f.linear(), then, f.add().out(), plan);
    }

    /// A linear with a factor, and a residual if there is one.
    private static void linearThen(FusedOp.LinearThen f, GraphPlanner plan) {
        CoreOp.Scale scale = (CoreOp.Scale) f.then().getFirst();
        Value residual = null;
        if (f.then().getLast() instanceof CoreOp.Add add) {
            residual = add.a().equals(scale.out()) ? add.b() : add.a();
        }
        Epilogue then = new Epilogue(residual, scale.factor(), Product.NO_ACTIVATION);
        linear(f, f.linear(), then, f.then().getLast().out(), plan);
    }
}
