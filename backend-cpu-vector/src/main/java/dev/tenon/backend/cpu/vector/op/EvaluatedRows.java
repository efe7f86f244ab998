package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.OpKernel;
import java.util.List;

/// Rows of an op without a kernel: computed by the op itself, in float64. Slow, and the one kernel
/// that allocates in steps.
///
/// @param op the op
/// @param weights its weights, decoded
public record EvaluatedRows(ReferenceOp op, float[][] weights) implements OpKernel.Rows {
    /// What reports call it.
    public static final String NAME = "evaluate.float64";

    @Override
    public void run(HostFloats[] in, HostFloats[] out, int firstRow, int rows, int part, float[] scratch) {
        double[][] inputs = new double[in.length][];
        for (int row = firstRow; row < firstRow + rows; row++) {
            for (int i = 0; i < in.length; i++) {
                inputs[i] = doubles(in[i].array(), row, op.inputs().get(i).width());
            }
            write(op.evaluate(inputs, weights), out, row);
        }
    }

    private static double[] doubles(float[] values, int row, int width) {
        double[] wide = new double[width];
        for (int i = 0; i < width; i++) {
            wide[i] = values[row * width + i];
        }
        return wide;
    }

    private void write(double[][] results, HostFloats[] out, int row) {
        List<Value> outputs = op.outputs();
        if (results.length != outputs.size()) {
            throw new IllegalStateException(
                    "evaluate returned " + results.length + " rows; expected one for each of " + outputs);
        }
        for (int o = 0; o < results.length; o++) {
            int width = outputs.get(o).width();
            if (results[o].length != width) {
                throw new IllegalStateException(
                        "evaluate returned " + results[o].length + " elements for " + outputs.get(o));
            }
            float[] target = out[o].array();
            for (int i = 0; i < width; i++) {
                target[row * width + i] = (float) results[o][i];
            }
        }
    }
}
