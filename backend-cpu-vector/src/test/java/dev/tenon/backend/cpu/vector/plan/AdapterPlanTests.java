package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.quant.formats.Q4_KFormat;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What adapters add depends neither on how tokens are cut into steps nor on fusion.
class AdapterPlanTests {
    private static final float[] USED = {0.5f};

    private final TinyModel model = TinyModel.create(7, new Q4_KFormat(), true);
    private final Graph adapted = FoldedAdaptersTests.adapted(model.graph());
    private Device device;

    @BeforeEach
    void open() {
        device = new CpuVectorBackend().open(DeviceOptions.builder().threads(2).build());
        Random random = new Random(8);
        for (Op op : adapted.ops()) {
            if (op instanceof LowRankAdd) {
                for (Weight weight : op.weights()) {
                    model.weights().put(weight, TestWeights.F32, TestWeights.random(random, weight));
                }
            }
        }
    }

    @AfterEach
    void close() {
        device.close();
    }

    private float[][] logits(Graph graph, boolean fuse, int chunk, float[] scales) {
        PlanOptions options =
                PlanOptions.builder(128).maxBatchTokens(64).fuse(fuse).build();
        int[] tokens = new Random(5).ints(50, 0, TinyModel.VOCABULARY).toArray();
        float[][] logits = new float[tokens.length][TinyModel.VOCABULARY];
        try (Plan plan = device.compiler().compile(CompileRequest.of(graph, model.weights(), options))) {
            StepInput input = new StepInput();
            for (int from = 0; from < tokens.length; from += chunk) {
                int to = Math.min(from + chunk, tokens.length);
                input.clear();
                input.addSequence(new int[] {0, 1}, StepInput.NO_SLOT, scales);
                for (int t = from; t < to; t++) {
                    input.addToken(tokens[t], t, true);
                }
                StepResult result = plan.run(input);
                for (int t = from; t < to; t++) {
                    result.logits(t - from, logits[t]);
                }
            }
        }
        return logits;
    }

    @Test
    void everyChunkSizeGivesTheSameBitsFusedAndNot() {
        float[][] whole = logits(adapted, true, 50, USED);
        for (int chunk : new int[] {1, 3, 37}) {
            assertArrayEquals(whole, logits(adapted, true, chunk, USED), "chunks of " + chunk);
        }
        assertArrayEquals(whole, logits(adapted, false, 7, USED), "not fused");
        assertNotEquals(whole[0][0], logits(model.graph(), true, 50, USED)[0][0], "the adapter changes nothing");
    }

    @Test
    void aSequenceThatUsesNoneGetsTheBitsOfAPlanWithoutAdapters() {
        assertArrayEquals(logits(model.graph(), true, 9, USED), logits(adapted, true, 9, new float[0]));
    }
}
