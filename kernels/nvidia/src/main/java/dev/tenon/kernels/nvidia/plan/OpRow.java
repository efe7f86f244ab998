package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;

/// All that the kernels know of a class of ops.
///
/// @param <T> the class
/// @param type the class; an interface stands for all ops of it that have no row of their own
/// @param support tells how well such an op runs, and why
/// @param lowering adds its kernels to a plan
/// @param reading how it reads values
/// @param known whether there is a kernel for such a fused op, if its weights fit
/// @param fitted the ops that stand for it in a plan: itself, or others where its weights do not fit
record OpRow<T extends Op>(
        Class<T> type,
        BiFunction<T, OpSupport, Support> support,
        BiConsumer<T, GraphPlanner> lowering,
        Reading<T> reading,
        Predicate<T> known,
        BiFunction<T, FusedOpFilter, List<Op>> fitted) {
    /// What an op does itself with values that it reads.
    interface Reading<T extends Op> {
        /// {@return whether it norms a value that it alone reads}
        default boolean norms(T op, Value value, GraphPlanner plan) {
            return false;
        }

        /// {@return whether it norms a value that a router reads, too}
        default boolean normsWithRouter(T op) {
            return false;
        }

        /// {@return the product that alone uses a value, which it could take in float16}
        default Optional<CoreOp.Linear> product(T op, Value value) {
            return Optional.empty();
        }

        /// {@return the matrices of experts that it multiplies with}
        default List<Weight> experts(T op) {
            return List.of();
        }
    }

    /// Makes a row of an op that does nothing with values that it reads.
    OpRow(Class<T> type, BiFunction<T, OpSupport, Support> support, BiConsumer<T, GraphPlanner> lowering) {
        this(type, support, lowering, new Reading<>() {}, _ -> false, (op, _) -> List.of(op));
    }

    /// {@return a row of an op that has a fast kernel, whatever its weights}
    static <T extends Op> OpRow<T> fast(Class<T> type, BiConsumer<T, GraphPlanner> lowering) {
        return new OpRow<>(type, OpSupport::float32, lowering);
    }

    /// {@return a row of an op that has no kernel}
    static <T extends Op> OpRow<T> none(Class<T> type) {
        return new OpRow<>(type, (op, _) -> OpSupport.notYet("op " + op.kind()), (op, _) -> {
            throw new IllegalStateException("op " + op.kind() + " has no kernel");
        });
    }

    /// {@return a row of an op that multiplies with a weight}
    ///
    /// @param kind what reports call its kernel
    /// @param weight the weight
    static <T extends Op> OpRow<T> matrix(
            Class<T> type, String kind, Function<T, Weight> weight, BiConsumer<T, GraphPlanner> lowering) {
        return new OpRow<>(type, (op, judge) -> judge.matrix(kind, weight.apply(op)), lowering);
    }

    /// {@return a row of an op that stands for others}
    ///
    /// @param known whether there is a kernel for it, if its weights fit
    /// @param fits whether its weights fit, and the graph around it
    static <T extends CustomOp> OpRow<T> fused(
            Class<T> type,
            Predicate<T> known,
            BiPredicate<T, FusedOpFilter> fits,
            BiConsumer<T, GraphPlanner> lowering) {
        return new OpRow<>(
                type,
                (op, judge) -> GraphSupport.of(op, known.test(op), judge.inside()::of),
                lowering,
                new Reading<>() {},
                known,
                (op, filter) -> fits.test(op, filter) ? List.of(op) : op.expand());
    }

    OpRow<T> reads(Reading<T> other) {
        return new OpRow<>(type, support, lowering, other, known, fitted);
    }

    OpRow<T> fitted(BiFunction<T, FusedOpFilter, List<Op>> other) {
        return new OpRow<>(type, support, lowering, reading, known, other);
    }
}
