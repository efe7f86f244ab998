package dev.tenon.backend.cpu.vector.kernel.elements;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.Activation;
import dev.tenon.backend.cpu.vector.selection.VectorKernels;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Runs at the width that `tenon.vector.bits` gives; the build runs it for every width.
class ElementMathTests {
    private final ElementMath vector = VectorKernels.elements();

    private static float[] values(int count, double scale) {
        Random random = new Random(7);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (random.nextGaussian() * scale);
        }
        return values;
    }

    private static double exact(Activation activation, double x) {
        return switch (activation) {
            case SILU -> x / (1 + Math.exp(-x));
            case GELU_TANH -> x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
            case RELU -> Math.max(x, 0);
            case RELU_SQUARED -> Math.max(x, 0) * Math.max(x, 0);
            case SIGMOID -> 1 / (1 + Math.exp(-x));
            case TANH -> Math.tanh(x);
            case GELU_ERF -> x * normalBelow(x);
        };
    }

    /// {@return how much of the normal distribution lies below a value: Simpson's rule over its last 12 deviations}
    private static double normalBelow(double x) {
        int steps = 2000;
        double step = 12.0 / steps;
        double sum = 0;
        for (int i = 0; i <= steps; i++) {
            double at = x - i * step;
            int weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
            sum += weight * Math.exp(-at * at / 2);
        }
        return x > 6 ? 1 : sum * step / 3 / Math.sqrt(2 * Math.PI);
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void activationsAreWithinTwoMillionthsOfTheFormula(Activation activation) {
        float[] x = values(5000, 3);
        float[] out = new float[x.length];
        vector.activate(activation, x, out, 0, x.length);
        for (int i = 0; i < x.length; i++) {
            double expected = exact(activation, x[i]);
            assertEquals(expected, out[i], Math.abs(expected) * 2e-6 + 1e-12, activation + " of " + x[i]);
        }
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void anyRangeGivesTheBitsOfPlainJava(Activation activation) {
        float[] x = values(77, 20);
        x[3] = Float.POSITIVE_INFINITY;
        x[4] = 1e30f;
        x[5] = -1e30f;
        x[6] = Float.NaN;
        float[] expected = new float[77];
        ElementMath.SCALAR.activate(activation, x, expected, 0, 77);
        float[] up = values(77, 1);
        float[] expectedGate = x.clone();
        ElementMath.SCALAR.gate(activation, expectedGate, up, 0, 77);
        for (int cut : new int[] {0, 1, 16, 33, 77}) {
            float[] out = new float[77];
            vector.activate(activation, x, out, 0, cut);
            vector.activate(activation, x, out, cut, 77);
            assertArrayEquals(expected, out, activation + " cut at " + cut);
            float[] gate = x.clone();
            vector.gate(activation, gate, up, 0, cut);
            vector.gate(activation, gate, up, cut, 77);
            assertArrayEquals(expectedGate, gate, activation + " gate cut at " + cut);
        }
        assertTrue(Float.isNaN(expected[6]));
        assertEquals((float) exact(activation, -1e30), expected[5]);
        assertEquals((float) exact(activation, 1e30), expected[4]);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 31, 32, 33, 80, 2048})
    void sumsOfSquaresHaveOneOrder(int n) {
        float[] x = values(n + 5, 1);
        float got = vector.squares(x, 5, n);
        assertEquals(ElementMath.SCALAR.squares(x, 5, n), got);
        double exact = 0;
        for (int i = 5; i < n + 5; i++) {
            exact += (double) x[i] * x[i];
        }
        assertEquals(exact, got, exact * 1e-6);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 17, 77})
    void scaledSumsHaveTheBitsOfPlainJava(int n) {
        float[] expected = values(100, 3);
        float[] got = expected.clone();
        ElementMath.SCALAR.addScaled(expected, 5, values(99, 1), 7, n, 0.3f);
        vector.addScaled(got, 5, values(99, 1), 7, n, 0.3f);
        assertArrayEquals(expected, got);
    }

    @Test
    void nothingHasNoSquares() {
        assertEquals(0f, vector.squares(new float[0], 0, 0));
    }
}
