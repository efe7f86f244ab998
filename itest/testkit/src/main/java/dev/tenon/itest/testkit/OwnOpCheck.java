package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// An op that a bundle defines, on random rows: what `evaluate` promises, and kernels beside it.
final class OwnOpCheck {
    private static final int ROWS = 7;
    private static final float GUARD = 123.25f;

    private final ReferenceOp op;
    private final List<OpWeight> weights = new ArrayList<>();
    private final double[][][] rows = new double[ROWS][][];
    private final double[][][] truth = new double[ROWS][][];

    /// Computes the truth.
    ///
    /// @param op the op
    /// @param model weights of its graph; borrowed
    OwnOpCheck(ReferenceOp op, Weights model) {
        this.op = op;
        Random random = new Random(op.kind().hashCode());
        for (Weight weight : op.weights()) {
            QuantFormat format = model.format(weight.name());
            MemorySegment data = model.data(weight.name());
            weights.add(new OpWeight(weight, format, data.asSlice(weight.firstRow() * format.bytesFor(weight.cols()))));
        }
        float[][] decoded = weights.stream().map(OpWeight::decode).toArray(float[][]::new);
        for (int t = 0; t < ROWS; t++) {
            rows[t] = new double[op.inputs().size()][];
            for (int i = 0; i < rows[t].length; i++) {
                rows[t][i] = random.doubles(op.inputs().get(i).width(), -2, 2)
                        .map(x -> (float) x)
                        .toArray();
            }
            truth[t] = op.evaluate(copy(rows[t]), decoded);
        }
    }

    private static double[][] copy(double[][] values) {
        return Arrays.stream(values).map(double[]::clone).toArray(double[][]::new);
    }

    /// `evaluate` gives a finite row of each output, the same each time, and leaves its inputs alone.
    void evaluates() {
        float[][] decoded = weights.stream().map(OpWeight::decode).toArray(float[][]::new);
        for (int t = 0; t < ROWS; t++) {
            double[][] inputs = copy(rows[t]);
            double[][] again = op.evaluate(inputs, decoded);
            assertEquals(op.outputs().size(), again.length, "rows that evaluate returns");
            for (int o = 0; o < again.length; o++) {
                Value output = op.outputs().get(o);
                assertEquals(output.width(), again[o].length, "elements of the row for " + output);
                assertTrue(
                        Arrays.stream(again[o]).allMatch(Double::isFinite), "the row for " + output + " is not finite");
                assertArrayEquals(truth[t][o], again[o], "evaluated twice, " + output + " differs");
            }
            for (int i = 0; i < inputs.length; i++) {
                assertArrayEquals(
                        rows[t][i],
                        inputs[i],
                        "evaluate changed its input " + op.inputs().get(i));
            }
        }
    }

    /// A kernel computes the same, for rows and parts in any order, and writes nothing else.
    ///
    /// @param kernel a kernel for ops of this kind
    void kernel(OpKernel kernel) {
        List<QuantFormat> formats = weights.stream().map(OpWeight::format).toList();
        assumeTrue(
                kernel.accepts(op, formats),
                () -> kernel.name() + " does not take the op with weights in "
                        + formats.stream().map(QuantFormat::id).toList());
        OpKernel.Rows code = kernel.bind(op, List.copyOf(weights));
        assertTrue(code.parts() >= 1 && code.scratchFloats() >= 0, "parts or scratch below their least");
        HostFloats[] in = op.inputs().stream().map(value -> filled(value, ROWS)).toArray(HostFloats[]::new);
        HostFloats[] out =
                op.outputs().stream().map(value -> filled(value, ROWS + 1)).toArray(HostFloats[]::new);
        for (int t = 0; t < ROWS; t++) {
            for (int i = 0; i < in.length; i++) {
                for (int c = 0; c < rows[t][i].length; c++) {
                    in[i].array()[t * rows[t][i].length + c] = (float) rows[t][i][c];
                }
            }
        }
        float[][] before =
                Arrays.stream(in).map(values -> values.array().clone()).toArray(float[][]::new);
        for (int[] range : new int[][] {{4, 3}, {1, 3}, {0, 1}}) {
            for (int part = code.parts() - 1; part >= 0; part--) {
                float[] scratch = new float[code.scratchFloats()];
                Arrays.fill(scratch, Float.NaN);
                code.run(in, out, range[0], range[1], part, scratch);
            }
        }
        for (int i = 0; i < in.length; i++) {
            assertArrayEquals(
                    before[i],
                    in[i].array(),
                    "it changed its input " + op.inputs().get(i));
        }
        for (int o = 0; o < out.length; o++) {
            compare(kernel, o, out[o].array());
        }
    }

    private static HostFloats filled(Value value, int rows) {
        float[] values = new float[rows * value.width()];
        Arrays.fill(values, GUARD);
        return new HostFloats(values);
    }

    private void compare(OpKernel kernel, int output, float[] got) {
        Value value = op.outputs().get(output);
        int width = value.width();
        double[][] expected = new double[ROWS][];
        float[][] rowsOf = new float[ROWS][];
        for (int t = 0; t < ROWS; t++) {
            expected[t] = truth[t][output];
            rowsOf[t] = Arrays.copyOfRange(got, t * width, (t + 1) * width);
        }
        int terms = op.inputs().stream().mapToInt(Value::width).sum();
        Closeness.assertClose(kernel.name() + " " + value, expected, rowsOf, 1e-5 * Math.sqrt(terms + 1));
        for (int i = ROWS * width; i < got.length; i++) {
            assertEquals(GUARD, got[i], kernel.name() + " wrote after the rows of " + value);
        }
    }

    /// {@return the first op of each kind among those that a bundle defines}
    ///
    /// @param ops ops of an expanded graph
    static List<ReferenceOp> among(List<Op> ops) {
        List<ReferenceOp> own = new ArrayList<>();
        for (Op op : ops) {
            if (op instanceof ReferenceOp reference
                    && own.stream().noneMatch(known -> known.kind().equals(op.kind()))) {
                own.add(reference);
            }
        }
        return own;
    }
}
