package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/// The ops on single elements. Formulas stand in the descriptions of the ops.
final class ElementOps {
    static final List<OpReference<?>> ROWS = List.of(
            OpReference.row(CoreOp.Add.class, (_, in, _, _) -> each(in[0], i -> in[0][i] + in[1][i])),
            OpReference.row(CoreOp.Multiply.class, (_, in, _, _) -> each(in[0], i -> in[0][i] * in[1][i]))
                    .enlarging(_ -> true),
            OpReference.row(
                    CoreOp.Activate.class, (a, in, _, _) -> each(in[0], i -> activate(a.activation(), in[0][i]))),
            OpReference.row(
                    CoreOp.SwigluOai.class, (s, in, _, _) -> each(in[0], i -> swigluOai(in[0][i], in[1][i], s))),
            OpReference.row(CoreOp.Scale.class, (s, in, _, _) -> each(in[0], i -> s.factor() * in[0][i])),
            OpReference.row(
                    CoreOp.SoftCap.class, (s, in, _, _) -> each(in[0], i -> s.cap() * Math.tanh(in[0][i] / s.cap()))),
            OpReference.row(PartOp.Xielu.class, (x, in, _, _) -> each(in[0], i -> xielu(x, in[0][i]))),
            OpReference.row(PositionScale.class, ElementOps::positionScale));

    private ElementOps() {}

    private static double[] each(double[] like, IntToDoubleFunction function) {
        double[] out = new double[like.length];
        Arrays.setAll(out, function);
        return out;
    }

    private static double[] positionScale(PositionScale s, double[][] in, Step step, int t) {
        int steps = (step.position(t) + s.offset()) / s.period();
        return each(in[0], i -> in[0][i] * (1 + s.gain() * Math.log(1 + steps)));
    }

    private static double activate(Activation activation, double x) {
        return switch (activation) {
            case SILU -> x / (1 + Math.exp(-x));
            case GELU_TANH -> 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
            case RELU -> Math.max(x, 0);
            case RELU_SQUARED -> Math.max(x, 0) * Math.max(x, 0);
            case SIGMOID -> 1 / (1 + Math.exp(-x));
            case TANH -> Math.tanh(x);
            case GELU_ERF -> 0.5 * x * erfc(-x / Math.sqrt(2));
        };
    }

    /// {@return `1 - erf(x)`: its series near 0, its continued fraction (Lentz) elsewhere}
    private static double erfc(double x) {
        double square = x * x;
        if (square < 4) {
            double term = x;
            double sum = x;
            for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
                term *= -square / n;
                sum += term / (2 * n + 1);
            }
            return 1 - 2 / Math.sqrt(Math.PI) * sum;
        }
        double fraction = 0;
        for (int n = 80; n > 0; n--) {
            fraction = n / 2.0 / (Math.abs(x) + fraction);
        }
        double tail = Math.exp(-square) / Math.sqrt(Math.PI) / (Math.abs(x) + fraction);
        return x > 0 ? tail : 2 - tail;
    }

    private static double xielu(PartOp.Xielu op, double x) {
        double bent = x > 0 ? op.alphaP() * x * x : op.alphaN() * (Math.expm1(Math.min(x, op.eps())) - x);
        return bent + op.beta() * x;
    }

    private static double swigluOai(double gate, double up, CoreOp.SwigluOai s) {
        double a = Math.min(gate, s.limit());
        double b = Math.clamp(up, -s.limit(), s.limit());
        return a / (1 + Math.exp(-s.alpha() * a)) * (b + s.offset());
    }
}
