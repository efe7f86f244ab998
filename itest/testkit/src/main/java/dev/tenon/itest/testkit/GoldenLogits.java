package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.Collection;
import java.util.Locale;
import java.util.stream.IntStream;

/// A text and the logits that follow its last token, from an implementation that shares no code with the
/// one under test.
///
/// The error of logits is the normalised mean square error, `sum((found - golden)^2) / sum(golden^2)`.
///
/// @param name what a failure calls it
/// @param ids tokens of one sequence, whose positions begin at 0; not copied
/// @param logits those of the tokens 0, 1 and so on: of the whole vocabulary, or of the first tokens alone; not
///     copied
/// @param tolerance the largest error that is only rounding, in float64 arithmetic
public record GoldenLogits(String name, int[] ids, float[] logits, double tolerance) {
    /// Rounding of the weights' products, float32 sums and activations of 8 bits.
    private static final double ON_BACKENDS = 5e-3;

    /// Golden logits that were computed in float32 at least.
    ///
    /// @param name what a failure calls it
    /// @param ids tokens of one sequence
    /// @param logits the logits after the last one
    public GoldenLogits(String name, int[] ids, float... logits) {
        this(name, ids, logits, 1e-6);
    }

    /// Fails unless the float64 reference gives these logits.
    ///
    /// @param graph what is computed
    /// @param weights its weights
    public void assertByReference(Graph graph, Weights weights) {
        double[] last = new Reference(graph, weights).newSequence().feed(ids)[ids.length - 1];
        assertClose("the reference", last, tolerance);
    }

    /// Fails unless a backend gives these logits up to the rounding of its kernels.
    ///
    /// @param backend computes them, on its first device
    /// @param kernels kernels of other bundles
    /// @param graph what is computed
    /// @param weights its weights
    public void assertOn(Backend backend, Collection<KernelProvider> kernels, Graph graph, Weights weights) {
        PlanOptions options = PlanOptions.builder(ids.length)
                .maxBatchTokens(ids.length)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        float[] last = new float[graph.output().width()];
        try (Device device = backend.open(DeviceOptions.defaults());
                Plan plan = device.compiler()
                        .compile(CompileRequest.builder(graph, weights, options)
                                .kernels(kernels)
                                .build())) {
            StepInput input = new StepInput();
            input.addSequence(IntStream.range(0, plan.kvPages().pageCount()).toArray(), 0);
            for (int t = 0; t < ids.length; t++) {
                input.addToken(ids[t], t, t == ids.length - 1);
            }
            plan.run(input).logits(0, last);
        }
        double[] wide =
                IntStream.range(0, last.length).mapToDouble(i -> last[i]).toArray();
        assertClose("backend " + backend.id(), wide, Math.max(tolerance, ON_BACKENDS));
    }

    private void assertClose(String where, double[] found, double limit) {
        assertTrue(
                logits.length > 0 && logits.length <= found.length,
                () -> name + ": there are " + logits.length + " golden logits; the model gives " + found.length);
        double error = 0;
        double power = 0;
        int worst = 0;
        for (int i = 0; i < logits.length; i++) {
            double off = found[i] - logits[i];
            error += off * off;
            power += (double) logits[i] * logits[i];
            worst = Math.abs(off) > Math.abs(found[worst] - logits[worst]) ? i : worst;
        }
        int at = worst;
        double nmse = error / power;
        assertTrue(
                nmse <= limit,
                () -> String.format(
                        Locale.ROOT,
                        "%s: the logits of %s are not the golden ones: NMSE %.3g, at most %.3g is rounding; that of token"
                                + " %d is %.4f and should be %.4f. Look at the pairs of the rotation, at norms, biases"
                                + " and scales",
                        name,
                        where,
                        nmse,
                        limit,
                        at,
                        found[at],
                        logits[at]));
    }
}
