package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The smallest architecture with attention keeps the contract: embedding, one attention a layer, output.
class ArchitectureContractTests extends ArchitectureContract {
    private enum Fault {
        NONE(""),
        ONE_LAYER_TOO_FEW("theGraphGivesLogitsForWantedRowsOfEveryLayer"),
        SELECTS_TOO_EARLY("theGraphGivesLogitsForWantedRowsOfEveryLayer"),
        NEVER_TIED("withoutAnOutputMatrixTheEmbeddingTableIsUsed"),
        TAKES_ANY_EPSILON("notANumberIsRefusedInTheNormsEpsilon"),
        GUESSES_A_MISSING_KEY("aMissingKeyIsNamed"),
        COMPUTES_IN_VAIN("everyValueOfTheGraphIsUsed"),
        GIVES_A_BLANK_TEMPLATE("aChatTemplateIsATextAndAlwaysTheSame"),
        CHATS_ALWAYS("aChatTemplateIsATextAndAlwaysTheSame"),
        LEAVES_A_TENSOR_OVER("theWeightsAreTheFilesTensorsInNameAndShape"),
        TURNS_NEIGHBOURS("theLogitsAreTheGoldenOnes");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current = Fault.NONE;

    /// The same contract with a broken architecture; run by the launcher below, not by the build itself.
    static class Broken extends ArchitectureContractTests {}

    @ParameterizedTest
    @EnumSource(value = Fault.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aBrokenArchitectureFails(Fault fault) {
        assumeTrue(current == Fault.NONE, "this is the broken architecture's own run");
        current = fault;
        try {
            Map<String, String> failures = ContractRunner.failuresOf(Broken.class, 5);
            assertTrue(failures.containsKey(fault.found), () -> "failed: " + failures);
        } finally {
            current = Fault.NONE;
        }
    }

    private static final class Smallest implements ModelArchitecture {
        @Override
        public String id() {
            return "smallest";
        }

        @Override
        public boolean ignores(ModelSource source, String tensor) {
            return tensor.equals("training_only.weight") && current != Fault.LEAVES_A_TENSOR_OVER;
        }

        @Override
        public Optional<String> chatTemplate(GgufMetadata metadata) {
            return switch (current) {
                case GIVES_A_BLANK_TEMPLATE -> Optional.of(" ");
                case CHATS_ALWAYS -> Optional.of("{{ messages }}");
                default -> metadata.string("general.architecture").map(id -> "{{ messages[0] }}");
            };
        }

        @Override
        public ModelDefinition define(ModelSource source) {
            GgufMetadata m = source.metadata();
            m.requiredString("general.architecture");
            int layers =
                    m.requiredInteger("smallest.block_count", 1, 1000) - (current == Fault.ONE_LAYER_TOO_FEW ? 1 : 0);
            int width = m.requiredInteger("smallest.embedding_length", 1, 1 << 20);
            if (width % 2 != 0) {
                throw new ModelFormatException(ErrorCode.MODEL_KEY_VALUE, "smallest.embedding_length is " + width);
            }
            int vocab = current == Fault.GUESSES_A_MISSING_KEY && !m.has("smallest.vocab_size")
                    ? 32_000
                    : m.requiredInteger("smallest.vocab_size", 1, 1 << 24);
            double eps = m.requiredNumber("smallest.attention.layer_norm_rms_epsilon");
            if (!(eps >= 0 && eps < 1) && current != Fault.TAKES_ANY_EPSILON) {
                throw new ModelFormatException(
                        ErrorCode.MODEL_KEY_VALUE, "smallest.attention.layer_norm_rms_epsilon is " + eps);
            }
            GraphBuilder b = new GraphBuilder("smallest");
            Weight table = new Weight("token_embd.weight", width, vocab);
            Value x = b.embedding("x", table);
            if (current == Fault.SELECTS_TOO_EARLY) {
                x = b.selectRows("early", x);
            }
            if (current == Fault.COMPUTES_IN_VAIN) {
                b.scale("vain", x, 2);
            }
            for (int l = 0; l < layers; l++) {
                Value norm = b.rmsNorm("norm", x, Weight.vector("blk." + l + ".norm.weight", width), (float) eps);
                Value turned = b.rope("turned", norm, rope(width));
                x = b.add("sum", x, b.attention("attention", turned, turned, norm, l, 1, 1, 1));
            }
            Weight head = source.has("output.weight") || current == Fault.NEVER_TIED
                    ? new Weight("output.weight", width, vocab)
                    : table;
            Graph graph = b.build(b.linear(
                    "logits",
                    current == Fault.SELECTS_TOO_EARLY ? x : b.selectRows("rows", x),
                    head,
                    Optional.empty()));
            ModelConfig config = config(width, layers, vocab, (float) eps);
            return new ModelDefinition(config, graph);
        }
    }

    private static RopeParams rope(int width) {
        Pairing pairing = current == Fault.TURNS_NEIGHBOURS ? Pairing.INTERLEAVED : Pairing.HALF_SPLIT;
        return RopeParams.builder(width, pairing, 10_000).build();
    }

    private static ModelConfig config(int width, int layers, int vocab, float eps) {
        return ModelConfig.builder("smallest")
                .name("smallest")
                .contextLength(64)
                .embeddingLength(width)
                .blockCount(layers)
                .headCount(1)
                .headCountKv(1)
                .keyLength(width)
                .valueLength(width)
                .feedForwardLength(0)
                .vocabularySize(vocab)
                .rmsEps(eps)
                .ropeDim(width)
                .ropeFreqBase(10_000)
                .ropeFreqScale(1)
                .build();
    }

    @Override
    protected ModelArchitecture architecture() {
        return new Smallest();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        Map<String, GgufValue> m = new LinkedHashMap<>();
        m.put("general.architecture", GgufValue.of("smallest"));
        m.put("smallest.block_count", GgufValue.ofUint32(2));
        m.put("smallest.embedding_length", GgufValue.ofUint32(8));
        m.put("smallest.vocab_size", GgufValue.ofUint32(11));
        m.put("smallest.attention.layer_norm_rms_epsilon", GgufValue.of(1e-5f));
        return m;
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        Map<String, List<Long>> t = new LinkedHashMap<>();
        t.put("token_embd.weight", List.of(8L, 11L));
        t.put("blk.0.norm.weight", List.of(8L));
        t.put("blk.1.norm.weight", List.of(8L));
        t.put("output.weight", List.of(8L, 11L));
        t.put("training_only.weight", List.of(8L));
        return t;
    }

    @Override
    protected ModelConfig expectedConfig() {
        return config(8, 2, 11, 1e-5f);
    }

    /// By a program in another language, from the file that `-Dtenon.golden.model` writes.
    @Override
    protected List<GoldenLogits> golden() {
        int[] ids = {1, 7, 3, 3, 10, 0, 5};
        return List.of(
                new GoldenLogits("the first logits", ids, 0.641119f, -1.631299f, -2.782652f, -1.579116f),
                new GoldenLogits(
                        "all logits",
                        ids,
                        0.641119f,
                        -1.631299f,
                        -2.782652f,
                        -1.579116f,
                        -3.435809f,
                        -1.408431f,
                        -0.129258f,
                        2.700781f,
                        0.981028f,
                        -3.379486f,
                        1.626257f));
    }

    @Override
    protected List<Backend> backends() {
        return List.of(new ReferenceBackend());
    }

    @Override
    protected Set<String> requiredKeys() {
        return metadata().keySet();
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }
}
