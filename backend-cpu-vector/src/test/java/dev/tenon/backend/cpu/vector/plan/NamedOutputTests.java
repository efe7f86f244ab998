package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.itest.testkit.Closeness;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a step gives beside its logits, and where its sequences and positions end.
class NamedOutputTests {
    private static final int WIDTH = 12;
    private static final int[] TOKENS = {7, 3, 9, 1, 4};

    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(2).build());

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private static Graph graph() {
        GraphBuilder b = new GraphBuilder("outputs");
        Value x = b.embedding("x", new Weight("table", WIDTH, 20));
        x = b.add("sum", x, b.positionEmbedding("p", new Weight("positions", WIDTH, TOKENS.length)));
        Value hidden = b.linear("hidden", x, new Weight("w", WIDTH, WIDTH), Optional.empty());
        b.output("hidden", hidden);
        b.output("mean", b.pool("mean", hidden, Pooling.MEAN));
        // Values of the same width after them: memory of an output must not be theirs.
        Value rows = b.selectRows("rows", b.scale("s2", b.scale("s1", b.add("residual", x, hidden), 2), 3));
        return b.build(b.scale("s4", b.scale("s3", rows, 2), 3));
    }

    private static float[][] read(StepResult result, String output) {
        float[][] rows = new float[result.rows(output)][WIDTH];
        for (int r = 0; r < rows.length; r++) {
            result.output(output, r, rows[r]);
        }
        return rows;
    }

    private void run(Graph graph, MemoryWeights weights, boolean fuse, Consumer<Plan> test) {
        PlanOptions options = PlanOptions.builder(128)
                .maxBatchTokens(16)
                .maxSequences(2)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .fuse(fuse)
                .build();
        try (Plan plan = device.compiler().compile(CompileRequest.of(graph, weights, options))) {
            test.accept(plan);
        }
    }

    @Test
    void hiddenStatesOfAllTokensAndPooledRowsOfEachSequenceAreGiven() {
        Graph graph = graph();
        try (MemoryWeights weights = RandomModels.weightsFor(graph, TestFormats.F32, 4)) {
            Map<String, double[][]> truth = new HashMap<>();
            double[][] logits =
                    new Reference(graph, weights).newSequence().feed(TOKENS, (v, rows) -> truth.put(v.name(), rows));
            for (boolean fuse : new boolean[] {true, false}) {
                run(graph, weights, fuse, plan -> {
                    StepInput input = new StepInput();
                    for (int s = 0; s < 2; s++) {
                        input.addSequence(new int[] {s});
                        for (int t = 0; t < TOKENS.length; t++) {
                            input.addToken(TOKENS[t], t, t == TOKENS.length - 1);
                        }
                    }
                    StepResult result = plan.run(input);
                    double[][] hidden = new double[2 * TOKENS.length][];
                    for (int t = 0; t < hidden.length; t++) {
                        hidden[t] = truth.get("hidden")[t % TOKENS.length];
                    }
                    Closeness.assertClose("hidden", hidden, read(result, "hidden"), 1e-5);
                    double[] mean = truth.get("mean")[0];
                    Closeness.assertClose("mean", new double[][] {mean, mean}, read(result, "mean"), 1e-5);
                    float[][] got = new float[2][WIDTH];
                    result.logits(0, got[0]);
                    result.logits(1, got[1]);
                    double[] last = logits[TOKENS.length - 1];
                    Closeness.assertClose("logits", new double[][] {last, last}, got, 1e-5);
                    assertThrows(IllegalArgumentException.class, () -> result.rows("pooled"));
                    assertThrows(IndexOutOfBoundsException.class, () -> result.output("mean", 2, got[0]));
                });
            }
        }
    }

    @Test
    void aPositionThatTheModelHasNoVectorForIsRefused() {
        Graph graph = graph();
        try (MemoryWeights weights = RandomModels.weightsFor(graph, TestFormats.F32, 4)) {
            run(graph, weights, true, plan -> {
                StepInput input = new StepInput();
                input.addSequence(new int[] {0});
                input.addToken(1, TOKENS.length, true);
                var e = assertThrows(IllegalArgumentException.class, () -> plan.run(input));
                assertTrue(e.getMessage().contains("positions 0 to 4"), e.getMessage());
                input.clear();
                input.addSequence(new int[] {0});
                input.addToken(1, TOKENS.length - 1, true);
                assertEquals(1, plan.run(input).rows());
            });
        }
    }
}
