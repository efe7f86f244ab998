package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.contracts.itest.ContractRun.Case;
import dev.tenon.platform.contracts.itest.ContractRun.Outcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The contract of an architecture that reads its metadata itself: experts, which [ModelConfig#read] refuses.
class SelectedArchitectureTests {
    private static final int WIDTH = 8;
    private static final int HIDDEN = 12;
    private static final int EXPERTS = 4;
    private static final int VOCABULARY = 19;

    private static final class Experts implements ModelArchitecture {
        @Override
        public String id() {
            return "experts";
        }

        @Override
        public ModelDefinition define(ModelSource source) {
            GgufMetadata m = source.metadata();
            m.requiredString("general.architecture");
            int experts = m.requiredInteger("experts.expert_count", 1, 100);
            int used = m.requiredInteger("experts.expert_used_count", 1, experts);
            if (!source.has("token_embd.weight")) {
                throw new ModelFormatException(ErrorCode.MODEL_TENSOR_MISSING, "no token_embd.weight");
            }
            GraphBuilder b = new GraphBuilder("experts");
            Weight table = new Weight("token_embd.weight", WIDTH, VOCABULARY);
            Value x = b.embedding("x", table);
            Value turned = b.rope(
                    "turned",
                    x,
                    RopeParams.builder(WIDTH, Pairing.HALF_SPLIT, 100).build());
            x = b.add("attended", x, b.attention("attention", turned, turned, x, 0, 1, 1, 1));
            Value scores = b.linear("scores", x, new Weight("router.weight", WIDTH, experts), Optional.empty());
            var router = b.router(
                    "router", scores, RouterParams.builder(Gating.SOFTMAX, used).build());
            Weight up = new Weight("up.weight", WIDTH, HIDDEN, experts);
            Weight down = new Weight("down.weight", HIDDEN, WIDTH, experts);
            Value hidden = b.expertLinear("up", x, router.chosen(), up, Optional.empty());
            Value each = b.expertLinear("down", hidden, router.chosen(), down, Optional.empty());
            x = b.add("sum", x, b.weightedSum("experts", each, router.shares()));
            Graph graph = b.build(b.linear("logits", b.selectRows("rows", x), table, Optional.empty()));
            ModelConfig config = ModelConfig.builder("experts")
                    .name("experts")
                    .contextLength(64)
                    .embeddingLength(WIDTH)
                    .blockCount(1)
                    .headCount(1)
                    .headCountKv(1)
                    .keyLength(WIDTH)
                    .valueLength(WIDTH)
                    .vocabularySize(VOCABULARY)
                    .ropeDim(WIDTH)
                    .ropeFreqScale(1)
                    .build();
            return new ModelDefinition(config, graph);
        }
    }

    private static TinyModel model() {
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put("general.architecture", GgufValue.of("experts"));
        keys.put("experts.expert_count", GgufValue.ofUint32(EXPERTS));
        keys.put("experts.expert_used_count", GgufValue.ofUint32(2));
        Map<String, List<Long>> shapes = new LinkedHashMap<>();
        shapes.put("token_embd.weight", List.of((long) WIDTH, (long) VOCABULARY));
        shapes.put("router.weight", List.of((long) WIDTH, (long) EXPERTS));
        shapes.put("up.weight", List.of((long) WIDTH, (long) HIDDEN, (long) EXPERTS));
        shapes.put("down.weight", List.of((long) HIDDEN, (long) WIDTH, (long) EXPERTS));
        return new TinyModel(keys, shapes, Optional.empty(), List.of());
    }

    @Test
    void onlyTheArchitectureReadsItsKeys() {
        SelectedArchitectureContract.select(
                new SelectedArchitectureContract.Selection(new Experts(), model(), List.of(), List.of()));
        ContractRun run = ContractRun.of("experts", SelectedArchitectureContract.class, failure -> {});
        List<Case> failed =
                run.cases().stream().filter(c -> c.outcome() == Outcome.FAILED).toList();
        assertEquals(List.of(), failed);
        assertTrue(run.count(Outcome.PASSED) > 10, run.cases().toString());
        assertTrue(
                run.cases().stream()
                        .anyMatch(c -> c.outcome() == Outcome.SKIPPED
                                && c.method().equals("theLogitsAreTheGoldenOnes")
                                && c.reason().contains("--golden")),
                run.cases().toString());
    }
}
