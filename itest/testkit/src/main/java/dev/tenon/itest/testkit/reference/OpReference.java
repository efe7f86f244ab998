package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;

/// What a class of ops computes, in float64, and how far other computations of it may be off.
///
/// @param <T> the class
/// @param type the class; an interface stands for all ops of it that have no row of their own
/// @param formula computes it
/// @param terms terms of its longest sum, in a sequence of so many tokens
/// @param matrix the weight of a product, whose format may round the rows, too
/// @param enlarges whether it multiplies its inputs with each other, takes them as exponents, or norms parts of a row,
///     each by its own size: differences of the inputs become much larger
/// @param perPosition what each position before a token may add to the error, as a fraction of the row
public record OpReference<T extends Op>(
        Class<T> type,
        Formula<T> formula,
        ToIntBiFunction<T, Integer> terms,
        Function<T, Optional<Weight>> matrix,
        Predicate<T> enlarges,
        double perPosition) {
    /// Computes an op for the tokens of a step.
    ///
    /// @param <T> class of the op
    public interface Formula<T extends Op> {
        /// {@return the rows of each output, `[outputs][tokens][width]`}
        ///
        /// @param op the op
        /// @param in the rows of each input, `[inputs][tokens][width]`; not to be changed
        /// @param step the tokens
        double[][][] of(T op, double[][][] in, Step step);
    }

    /// Computes an op that makes one row of rows of the same token.
    ///
    /// @param <T> class of the op
    public interface RowFormula<T extends Op> {
        /// {@return the row of the output}
        ///
        /// @param op the op
        /// @param in the row of each input; not to be changed
        /// @param step the tokens
        /// @param t which one, 0-based
        double[] of(T op, double[][] in, Step step, int t);
    }

    /// Computes the rows of each output from rows of the same token.
    interface RowsFormula<T extends Op> {
        double[][] of(T op, double[][] in, Step step, int t);
    }

    /// {@return what an op computes whose sums have one term}
    ///
    /// @param <T> class of the op
    /// @param type the class
    /// @param formula computes it
    public static <T extends Op> OpReference<T> of(Class<T> type, Formula<T> formula) {
        return new OpReference<>(type, formula, (_, _) -> 1, _ -> Optional.empty(), _ -> false, 0);
    }

    /// {@return what an op computes that makes one row of rows of the same token, with sums of one term}
    ///
    /// @param <T> class of the op
    /// @param type the class
    /// @param formula computes a row
    public static <T extends Op> OpReference<T> row(Class<T> type, RowFormula<T> formula) {
        return rows(type, (op, in, step, t) -> new double[][] {formula.of(op, in, step, t)});
    }

    static <T extends Op> OpReference<T> rows(Class<T> type, RowsFormula<T> formula) {
        return of(type, (op, in, step) -> {
            double[][][] out = new double[op.outputs().size()][step.count()][];
            for (int t = 0; t < step.count(); t++) {
                int row = t;
                double[][] rows = Arrays.stream(in).map(value -> value[row]).toArray(double[][]::new);
                double[][] results = formula.of(op, rows, step, t);
                for (int o = 0; o < out.length; o++) {
                    out[o][t] = results[o];
                }
            }
            return out;
        });
    }

    /// {@return this with longer sums}
    ///
    /// @param count terms of the longest one
    public OpReference<T> terms(ToIntFunction<T> count) {
        return terms((op, _) -> count.applyAsInt(op));
    }

    /// {@return this with sums that may go over the tokens of a sequence}
    ///
    /// @param count terms of the longest one, in a sequence of so many tokens
    public OpReference<T> terms(ToIntBiFunction<T, Integer> count) {
        return new OpReference<>(type, formula, count, matrix, enlarges, perPosition);
    }

    /// {@return this as the product with a matrix}
    ///
    /// @param weight the matrix
    public OpReference<T> product(Function<T, Weight> weight) {
        return new OpReference<>(
                type, formula, (op, _) -> weight.apply(op).cols(), weight.andThen(Optional::of), enlarges, perPosition);
    }

    /// {@return this as an op that makes differences much larger}
    ///
    /// @param which those that do
    public OpReference<T> enlarging(Predicate<T> which) {
        return new OpReference<>(type, formula, terms, matrix, which, perPosition);
    }

    /// {@return this with an error that grows with the position}
    ///
    /// @param error what each position before a token may add to the error, as a fraction of the row
    public OpReference<T> losing(double error) {
        return new OpReference<>(type, formula, terms, matrix, enlarges, error);
    }
}
