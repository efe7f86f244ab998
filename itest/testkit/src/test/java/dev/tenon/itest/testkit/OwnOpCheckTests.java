package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import dev.tenon.itest.testkit.models.OwnOp;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What the contract of an architecture finds in its own ops and in kernels for them.
class OwnOpCheckTests {
    private static final int WIDTH = 6;

    private final Model model = RandomModels.ops("own", 3, WIDTH, TestFormats.F32, OwnOpCheckTests::add);

    @AfterEach
    void closeModel() {
        model.close();
    }

    private static Value add(GraphBuilder b, Value x) {
        Weight matrix = new Weight("own.weight", WIDTH, 2 * WIDTH).rows(3, 3 + WIDTH);
        OwnOp op = new OwnOp(x, x, matrix, 0.5f, b.value("sum", WIDTH), b.value("top", 1));
        b.add(op);
        b.add(new OwnOp(x, x, matrix, 2, b.value("second", WIDTH), b.value("more", 1)));
        return op.sum();
    }

    private OwnOp own() {
        return (OwnOp) OwnOpCheck.among(model.graph().ops()).getFirst();
    }

    /// Computes rows as the op does, with a fault.
    private record Kernel(String fault) implements OpKernel {
        @Override
        public String name() {
            return "own.java";
        }

        @Override
        public String op() {
            return OwnOp.KIND;
        }

        @Override
        public Rows bind(Op op, List<OpWeight> weights) {
            OwnOp own = (OwnOp) op;
            float[][] decoded = {weights.getFirst().decode()};
            return (in, out, first, rows, part, scratch) -> {
                for (int t = first; t < first + rows; t++) {
                    double[][] inputs = {row(in[0], t), row(in[1], t)};
                    double[][] results = own.evaluate(inputs, decoded);
                    for (int i = 0; i < WIDTH; i++) {
                        out[0].array()[t * WIDTH + i] = (float) results[0][i];
                    }
                    out[1].array()[t] = (float) results[1][0] * (fault.equals("wrong") ? 1.01f : 1);
                    if (fault.equals("after") && t == 6) {
                        out[1].array()[t + 1] = 7;
                    }
                    if (fault.equals("input")) {
                        in[1].array()[t] = 0;
                    }
                }
            };
        }

        private static double[] row(HostFloats values, int t) {
            double[] row = new double[WIDTH];
            for (int i = 0; i < WIDTH; i++) {
                row[i] = values.array()[t * WIDTH + i];
            }
            return row;
        }
    }

    private void kernelFails(String fault, String expected) {
        OwnOpCheck check = new OwnOpCheck(own(), model.weights());
        AssertionError e = assertThrows(AssertionError.class, () -> check.kernel(new Kernel(fault)));
        assertTrue(e.getMessage().contains(expected), e.getMessage());
    }

    @Test
    void aRightKernelPasses() {
        assertEquals(1, OwnOpCheck.among(model.graph().ops()).size(), "one of each kind");
        OwnOpCheck check = new OwnOpCheck(own(), model.weights());
        check.evaluates();
        check.kernel(new Kernel(""));
    }

    @Test
    void wrongKernelsFail() {
        kernelFails("wrong", "own.java top [1]");
        kernelFails("after", "wrote after the rows of top [1]");
        kernelFails("input", "changed its input");
    }

    private record Faulty(OwnOp like, UnaryOperator<double[][]> change) implements ReferenceOp {
        @Override
        public String kind() {
            return "faulty";
        }

        @Override
        public List<Value> inputs() {
            return like.inputs();
        }

        @Override
        public List<Value> outputs() {
            return like.outputs();
        }

        @Override
        public double[][] evaluate(double[][] inputs, float[][] weights) {
            inputs[0][0] += change == null ? 1 : 0;
            double[][] results = {inputs[1].clone(), {1}};
            return change == null ? results : change.apply(results);
        }
    }

    private void opFails(String expected, UnaryOperator<double[][]> change) {
        OwnOpCheck check = new OwnOpCheck(new Faulty(own(), change), model.weights());
        AssertionError e = assertThrows(AssertionError.class, check::evaluates);
        assertTrue(e.getMessage().contains(expected), e.getMessage());
    }

    @Test
    void opsThatComputeSomethingElseFail() {
        opFails("rows that evaluate returns", results -> new double[][] {results[0]});
        opFails("elements of the row for top", results -> new double[][] {results[0], {}});
        opFails("is not finite", results -> new double[][] {results[0], {Double.NaN}});
        opFails("evaluated twice", results -> new double[][] {results[0], {Math.random()}});
        opFails("changed its input", null);
    }
}
