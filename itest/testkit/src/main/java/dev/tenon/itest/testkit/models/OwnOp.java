package dev.tenon.itest.testkit.models;

import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.List;

/// An op that no backend knows, as a model bundle may define one: `sum = matrix x + factor y` and `top = max(x)`.
///
/// @param x `[T, cols]`
/// @param y `[T, rows]`
/// @param matrix `[rows, cols]`, whole or some rows of a tensor
/// @param factor the factor
/// @param sum `[T, rows]`
/// @param top `[T, 1]`
public record OwnOp(Value x, Value y, Weight matrix, float factor, Value sum, Value top) implements ReferenceOp {
    /// The kind of such ops.
    public static final String KIND = "testkit.product_and_top";

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<Value> inputs() {
        return List.of(x, y);
    }

    @Override
    public List<Value> outputs() {
        return List.of(sum, top);
    }

    @Override
    public List<Weight> weights() {
        return List.of(matrix);
    }

    @Override
    public double[][] evaluate(double[][] inputs, float[][] weights) {
        double[] products = new double[sum.width()];
        double highest = Double.NEGATIVE_INFINITY;
        for (int r = 0; r < products.length; r++) {
            products[r] = factor * inputs[1][r];
            for (int c = 0; c < x.width(); c++) {
                products[r] += weights[0][r * x.width() + c] * inputs[0][c];
            }
        }
        for (double element : inputs[0]) {
            highest = Math.max(highest, element);
        }
        return new double[][] {products, {highest}};
    }
}
