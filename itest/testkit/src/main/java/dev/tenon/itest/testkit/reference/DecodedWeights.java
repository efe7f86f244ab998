package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// Weights decoded by their [QuantFormat], each tensor once. Not safe for several threads.
final class DecodedWeights {
    private final Weights weights;
    private final Map<String, float[]> tensors = new HashMap<>();

    DecodedWeights(Weights weights) {
        this.weights = weights;
    }

    /// Some rows in a decoded tensor.
    ///
    /// @param values the tensor; not to be changed
    /// @param from index of the first element
    /// @param cols elements in a row
    /// @param rows number of rows
    record Matrix(float[] values, int from, int cols, int rows) {
        /// {@return an element}
        double at(int row, int col) {
            return values[from + row * cols + col];
        }
    }

    /// {@return a matrix, or one of several}
    ///
    /// @param weight the weight, whole or a view
    /// @param slice which one, 0-based
    Matrix matrix(Weight weight, int slice) {
        if (slice < 0 || slice >= weight.slices()) {
            throw new IllegalArgumentException("slice " + slice + " of weight " + weight + " is asked for");
        }
        float[] values = tensors.computeIfAbsent(weight.name(), name -> {
            QuantFormat format = weights.format(name);
            float[] decoded = new float[Math.toIntExact(weight.tensor().elements())];
            format.dequantize(weights.data(name), 0, decoded, 0, decoded.length);
            return decoded;
        });
        int from = (slice * weight.tensorRows() + weight.firstRow()) * weight.cols();
        return new Matrix(values, from, weight.cols(), weight.rows());
    }

    /// {@return a copy of a row of a matrix}
    ///
    /// @param weight the matrix
    /// @param row which one, 0-based
    double[] row(Weight weight, int row) {
        if (row < 0 || row >= weight.rows()) {
            throw new IllegalArgumentException(
                    "row " + row + " of " + weight + " is not in 0 to " + (weight.rows() - 1));
        }
        Matrix matrix = matrix(weight, 0);
        double[] out = new double[weight.cols()];
        Arrays.setAll(out, i -> matrix.at(row, i));
        return out;
    }

    /// {@return a copy of a vector}
    ///
    /// @param weight the vector
    double[] vector(Weight weight) {
        return row(weight, 0);
    }

    /// {@return a copy of all elements}
    ///
    /// @param weight any weight
    float[] all(Weight weight) {
        float[] all = new float[Math.toIntExact(weight.elements())];
        int slice = weight.rows() * weight.cols();
        for (int s = 0; s < weight.slices(); s++) {
            Matrix matrix = matrix(weight, s);
            System.arraycopy(matrix.values(), matrix.from(), all, s * slice, slice);
        }
        return all;
    }
}
