package dev.tenon.backend.cpu.vector.op;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.CpuDevice;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.backend.cpu.vector.plan.PlanTests;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.Optional;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Each op by itself against its formula, in graphs of an embedding and that op.
public class OpTests {
    private static final int VOCABULARY = 50;

    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(2).build());
    private final Random random = new Random(8);
    private final TestWeights weights = new TestWeights();

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private Weight weight(String name, int cols, int rows) {
        Weight weight = new Weight(name, cols, rows);
        weights.put(weight, TestWeights.F32, TestWeights.random(random, weight));
        return weight;
    }

    /// Runs 150 tokens in chunks of 40 and compares the value after every token.
    private void check(int width, BiFunction<GraphBuilder, Value, Value> op) {
        GraphBuilder b = new GraphBuilder("op");
        Graph graph = b.build(op.apply(b, b.embedding("x", weight("table", width, VOCABULARY))));
        check(device, graph, weights);
    }

    public static void check(Device device, Graph graph, TestWeights weights) {
        int[] tokens = new Random(9).ints(150, 0, VOCABULARY).toArray();
        double[][] expected = new Reference(graph, weights).newSequence().feed(tokens);
        float[][] got = new float[tokens.length][graph.output().width()];
        PlanOptions options = PlanOptions.builder(256)
                .maxBatchTokens(40)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build();
        try (Plan plan = device.compiler().compile(CompileRequest.of(graph, weights, options))) {
            for (int from = 0; from < tokens.length; from += 40) {
                StepInput input = new StepInput();
                input.addSequence(new int[] {2, 0, 3});
                for (int t = from; t < Math.min(from + 40, tokens.length); t++) {
                    input.addToken(tokens[t], t, true);
                }
                StepResult result = plan.run(input);
                for (int r = 0; r < result.rows(); r++) {
                    result.logits(r, got[from + r]);
                }
            }
        }
        double nmse = PlanTests.nmse(got, expected);
        assertTrue(nmse < 1e-11, graph.name() + " NMSE " + nmse);
    }

    @ParameterizedTest
    @CsvSource({
        // heads, key heads, head size, window, cap
        "4, 4, 32, 0, 0",
        "8, 2, 64, 0, 0",
        "6, 1, 80, 0, 0",
        "4, 2, 64, 1, 0",
        "4, 2, 64, 30, 0",
        "4, 2, 24, 64, 0",
        "4, 2, 128, 70, 2.5",
        "2, 2, 7, 0, 1.5"
    })
    void attentionOverPagesEqualsTheFormula(int heads, int headsKv, int size, int window, float cap) {
        check(48, (b, x) -> {
            Value q = b.linear("q", x, weight("wq", 48, heads * size), Optional.empty());
            Value k = b.linear("k", x, weight("wk", 48, headsKv * size), Optional.empty());
            Value v = b.linear("v", x, weight("wv", 48, headsKv * size), Optional.empty());
            Value out = b.value("out", heads * size);
            b.add(new CoreOp.Attention(
                    q,
                    k,
                    v,
                    0,
                    AttentionParams.builder(heads, headsKv, 0.9f)
                            .slidingWindow(window)
                            .softCap(cap)
                            .build(),
                    out));
            return out;
        });
    }

    @ParameterizedTest
    @EnumSource(RopeParams.Pairing.class)
    void ropeEqualsTheFormulaWholePartAndWithFactors(RopeParams.Pairing pairing) {
        for (int ropeDim : new int[] {32, 20}) {
            check(
                    96,
                    (b, x) -> b.rope(
                            "r",
                            x,
                            RopeParams.builder(32, pairing, 500000)
                                    .ropeDim(ropeDim)
                                    .freqScale(0.25f)
                                    .build()));
        }
        Weight factors = weight("factors", 16, 1);
        check(
                96,
                (b, x) -> b.rope(
                        "r",
                        x,
                        RopeParams.builder(32, pairing, 10000)
                                .freqFactors(Optional.of(factors))
                                .build()));
    }

    @ParameterizedTest
    @ValueSource(ints = {96, 32, 3})
    void normWorksOnGroups(int group) {
        check(96, (b, x) -> b.rmsNorm("n", x, weight("norm", group, 1), 1e-6f));
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void activationsEqualTheirFormulas(Activation activation) {
        check(40, (b, x) -> b.activate("a", b.scale("s", x, 20), activation));
    }

    @Test
    void elementwiseOpsEqualTheirFormulas() {
        check(40, (b, x) -> b.softCap("c", b.multiply("m", b.add("a", x, b.scale("s", x, -3)), x), 0.01f));
    }

    @Test
    void biasIsAdded() {
        check(40, (b, x) -> b.linear("l", x, weight("w", 40, 21), Optional.of(weight("bias", 21, 1))));
    }

    @Test
    void plainJavaKernelsGiveTheSame() {
        TinyModel model = TinyModel.create(7, TestWeights.F32, true);
        try (CpuDevice scalar = new CpuDevice(device.info(), 2, new KernelSet(false))) {
            int[] tokens = {3, 1, 4, 1, 5, 9, 2, 6};
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            PlanOptions options = PlanOptions.builder(64)
                    .maxBatchTokens(8)
                    .keyType(KvType.F32)
                    .valueType(KvType.F32)
                    .build();
            try (Plan plan = scalar.compiler().compile(CompileRequest.of(model.graph(), model.weights(), options))) {
                assertTrue(plan.report().kernels().stream()
                        .noneMatch(s -> s.kernel().contains("vector")));
                StepInput input = new StepInput();
                input.addSequence(new int[] {0});
                for (int t = 0; t < 8; t++) {
                    input.addToken(tokens[t], t, true);
                }
                StepResult result = plan.run(input);
                float[][] got = new float[8][TinyModel.VOCABULARY];
                for (int r = 0; r < 8; r++) {
                    result.logits(r, got[r]);
                }
                assertTrue(PlanTests.nmse(got, expected) < 1e-10);
            }
        }
    }
}
