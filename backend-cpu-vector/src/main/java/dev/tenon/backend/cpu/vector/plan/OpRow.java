package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.op.CpuElementwise;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

/// All that the backend knows of a class of ops.
///
/// @param <T> the class
/// @param type the class; an interface stands for all ops of it that have no row of their own
/// @param support tells how well such an op runs, and why
/// @param lowering adds its kernel to a plan
/// @param norm makes it a part of other kernels, if it is a norm; otherwise null
/// @param elements the same for an op on single elements
/// @param addsAdapters whether its kernel adds what adapters change of its projections
record OpRow<T extends Op>(
        Class<T> type,
        BiFunction<T, OpSupport, Support> support,
        BiConsumer<T, Lowering> lowering,
        BiFunction<T, Lowering, RowNorm> norm,
        BiFunction<T, Lowering, CpuElementwise.Function> elements,
        boolean addsAdapters) {
    /// Makes a row of an op that is no part of other kernels.
    OpRow(Class<T> type, BiFunction<T, OpSupport, Support> support, BiConsumer<T, Lowering> lowering) {
        this(type, support, lowering, null, null, false);
    }

    /// {@return a row of an op that has a fast kernel, whatever its weights}
    static <T extends Op> OpRow<T> fast(Class<T> type, BiConsumer<T, Lowering> lowering) {
        return new OpRow<>(type, OpRow::float32, lowering);
    }

    /// {@return a row of an op in plain Java, right and not made for speed}
    static <T extends Op> OpRow<T> plain(Class<T> type, BiConsumer<T, Lowering> lowering) {
        return new OpRow<>(
                type, (op, _) -> new Support(Support.Level.GENERIC, "plain Java for " + op.kind()), lowering);
    }

    /// {@return a row of an op that stands for others}
    ///
    /// @param addsAdapters whether its kernel adds what adapters change of its projections
    static <T extends CustomOp> OpRow<T> fused(Class<T> type, boolean addsAdapters, BiConsumer<T, Lowering> lowering) {
        return new OpRow<>(
                type, (op, judge) -> GraphSupport.of(op, true, judge::of), lowering, null, null, addsAdapters);
    }

    /// {@return what is said of an op with a fast kernel}
    static Support float32(Op op, OpSupport judge) {
        return new Support(Support.Level.FAST, "float32 kernel " + op.kind());
    }
}
