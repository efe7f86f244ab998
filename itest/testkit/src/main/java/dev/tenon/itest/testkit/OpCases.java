package dev.tenon.itest.testkit;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/// Single ops in odd shapes: what [BackendNumbersContract] runs one by one. Here are those that every backend has;
/// [OptionalOpCases] follow them.
final class OpCases {
    /// An op in a shape.
    ///
    /// @param name names the case
    /// @param n how many terms its longest sum has; error bounds grow with it
    /// @param optional whether a backend may refuse the op
    /// @param oneStep whether results depend on which tokens come in one step
    /// @param model makes the graph; the caller closes it
    record Case(String name, int n, boolean optional, boolean oneStep, Supplier<Model> model) {}

    private static final List<Activation> BASIC = List.of(Activation.SILU, Activation.GELU_TANH, Activation.RELU);

    static final int[] WIDTHS = {1, 2, 3, 7, 8, 31, 64, 65, 100, 259};

    private final List<Case> cases = new ArrayList<>();

    private OpCases() {}

    /// {@return all cases; ops with a weight vector have it in F32}
    static List<Case> all() {
        OpCases all = new OpCases();
        all.elementwise();
        all.norms();
        all.ropes();
        all.attentions();
        all.cases.addAll(OptionalOpCases.all());
        return List.copyOf(all.cases);
    }

    private void add(String name, int n, int width, BiFunction<GraphBuilder, Value, Value> ops) {
        cases.add(new Case(name, n, false, false, () -> RandomModels.ops(name, 11, width, TestFormats.F32, ops)));
    }

    private void elementwise() {
        for (int width : WIDTHS) {
            add("add width=" + width, 1, width, (b, x) -> b.add("sum", x, b.scale("half", x, 0.5f)));
            add("add-self width=" + width, 1, width, (b, x) -> b.add("sum", x, x));
            add("multiply width=" + width, 1, width, (b, x) -> b.multiply("m", x, b.scale("half", x, 0.5f)));
            add("scale width=" + width, 1, width, (b, x) -> b.scale("s", x, -1.75f));
            add("soft_cap width=" + width, 1, width, (b, x) -> b.softCap("c", b.scale("s", x, 20), 30));
            for (Activation activation : BASIC) {
                add(
                        "activate " + activation + " width=" + width,
                        1,
                        width,
                        (b, x) -> b.activate("a", b.scale("s", x, 3), activation));
                add(
                        "activate-extreme " + activation + " width=" + width,
                        1,
                        width,
                        (b, x) -> b.activate("a", b.scale("s", x, 60), activation));
            }
        }
    }

    private void norms() {
        for (int width : WIDTHS) {
            for (float eps : new float[] {1e-5f, 1e-6f, 0.25f}) {
                add(
                        "rms_norm width=" + width + " eps=" + eps,
                        width,
                        width,
                        (b, x) -> b.rmsNorm("n", x, Weight.vector("norm.weight", width), eps));
            }
        }
        for (int group : new int[] {1, 3, 16, 33, 80}) {
            add(
                    "rms_norm of 5 groups of " + group,
                    group,
                    5 * group,
                    (b, x) -> b.rmsNorm("n", x, Weight.vector("norm.weight", group), 1e-6f));
        }
        add(
                "rms_norm of tiny values",
                64,
                64,
                (b, x) -> b.rmsNorm("n", b.scale("s", x, 1e-12f), Weight.vector("norm.weight", 64), 1e-6f));
    }

    private void ropes() {
        for (RopeParams.Pairing pairing : RopeParams.Pairing.values()) {
            for (int[] dims : new int[][] {{2, 2}, {6, 6}, {10, 4}, {16, 16}, {34, 34}, {64, 64}, {80, 32}, {66, 2}}) {
                for (boolean factors : new boolean[] {false, true}) {
                    Optional<Weight> weight =
                            factors ? Optional.of(Weight.vector("rope_freqs.weight", dims[1] / 2)) : Optional.empty();
                    RopeParams params = RopeParams.builder(dims[0], pairing, 10_000)
                            .ropeDim(dims[1])
                            .freqScale(factors ? 0.25f : 1)
                            .freqFactors(weight)
                            .build();
                    add(
                            "rope " + pairing + " dim=" + dims[1] + "/" + dims[0] + " factors=" + factors,
                            16,
                            3 * dims[0],
                            (b, x) -> b.rope("r", x, params));
                }
            }
        }
    }

    private void attentions() {
        attention(1, 1, 1, 1, 0, 0);
        attention(1, 1, 8, 8, 0, 0);
        attention(3, 1, 10, 6, 0, 0);
        attention(4, 2, 16, 16, 0, 0);
        attention(6, 2, 33, 17, 0, 0);
        attention(8, 8, 5, 5, 0, 0);
        attention(4, 2, 64, 64, 0, 0);
        attention(2, 1, 128, 128, 0, 0);
        attention(5, 5, 80, 80, 0, 0);
        attention(4, 2, 16, 16, 1, 0);
        attention(4, 2, 16, 16, 5, 0);
        attention(4, 2, 16, 16, 32, 0);
        attention(4, 2, 16, 16, 0, 1.5f);
        attention(4, 1, 16, 24, 7, 50);
    }

    private void attention(int heads, int kvHeads, int keyLength, int valueLength, int window, float softCap) {
        int width = 24;
        String name = "attention heads=" + heads + "/" + kvHeads + " key=" + keyLength + " value=" + valueLength
                + " window=" + window + " cap=" + softCap;
        add(name, Math.max(keyLength, 64), width, (b, x) -> {
            Value q = project(b, x, "q", heads * keyLength);
            Value k = project(b, x, "k", kvHeads * keyLength);
            Value v = project(b, x, "v", kvHeads * valueLength);
            Value out = b.value("att", heads * valueLength);
            float scale = (float) (1.5 / Math.sqrt(keyLength));
            b.add(new CoreOp.Attention(
                    q,
                    k,
                    v,
                    0,
                    AttentionParams.builder(heads, kvHeads, scale)
                            .slidingWindow(window)
                            .softCap(softCap)
                            .build(),
                    out));
            return out;
        });
    }

    static Value project(GraphBuilder b, Value x, String name, int rows) {
        return b.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }
}
