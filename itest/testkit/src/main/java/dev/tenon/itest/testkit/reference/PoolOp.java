package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Pooling;
import java.util.Arrays;

/// Pooling of the rows of a sequence.
final class PoolOp {
    private PoolOp() {}

    /// {@return one row}
    ///
    /// @param pooling how
    /// @param rows the rows of the sequence in the step
    static double[] row(Pooling pooling, double[][] rows) {
        return switch (pooling) {
            case CLS -> rows[0];
            case MEAN -> {
                double[] mean = new double[rows[0].length];
                Arrays.setAll(
                        mean,
                        i -> Arrays.stream(rows)
                                .mapToDouble(row -> row[i])
                                .average()
                                .orElseThrow());
                yield mean;
            }
        };
    }
}
