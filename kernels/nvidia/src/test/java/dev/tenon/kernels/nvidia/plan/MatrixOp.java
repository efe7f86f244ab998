package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.List;

/// An op as a bundle may define one: a product with a matrix, twice as large.
///
/// @param x `[T, cols]`
/// @param matrix `[rows, cols]`
/// @param out `[T, rows]`
public record MatrixOp(Value x, Weight matrix, Value out) implements ReferenceOp {
    /// The kind of such ops.
    public static final String KIND = "acme.matrix";

    /// Its source, where COLS and SCALE are still to be put in.
    public static final String CUDA = """
            __device__ void own_row(const float* x, const float* matrix, float* out) {
                for (int r = threadIdx.x; r < COLS; r += blockDim.x) {
                    float sum = 0;
                    for (int c = 0; c < COLS; c++) {
                        sum = fmaf(matrix[r * COLS + c], x[c], sum);
                    }
                    out[r] = SCALE * sum;
                }
            }
            """;

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<Value> inputs() {
        return List.of(x);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }

    @Override
    public List<Weight> weights() {
        return List.of(matrix);
    }

    @Override
    public double[][] evaluate(double[][] inputs, float[][] weights) {
        double[] row = new double[out.width()];
        for (int r = 0; r < row.length; r++) {
            for (int c = 0; c < x.width(); c++) {
                row[r] += 2 * weights[0][r * x.width() + c] * inputs[0][c];
            }
        }
        return new double[][] {row};
    }
}
