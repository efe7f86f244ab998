package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Texts of the embedded model to which tokens are proposed are those without proposals, since a row of logits has the
/// same bits in a step of any width.
class SpeculationTests {
    private static final Path FILE = GoldenData.embeddedModel();
    private static final int TOKENS = 120;
    /// A text that the model goes on with by saying it again.
    private static final String PROMPT = "The fox said hello to the bear. The fox said hello to the bear. The fox said";

    private int drafted;
    private int accepted;
    private int cached;

    /// Two texts in a row of one model, the second of which begins as the first.
    private List<List<Integer>> generate(Engine engine, Path file, Map<String, String> settings, SamplingParams how) {
        LoadRequest request = LoadRequest.builder(file)
                .contextLength(500)
                .maxBatchTokens(48)
                .maxSequences(2)
                .settings(settings)
                .build();
        List<List<Integer>> texts = new ArrayList<>();
        try (LoadedModel model = engine.load(request)) {
            for (int more : new int[] {0, 1}) {
                List<Integer> tokens = new ArrayList<>();
                try (Session session = model.newSession()) {
                    Usage usage = session.generate(
                            GenerationRequest.builder()
                                    .prompt(IntStream.range(0, 330 + more)
                                            .map(i -> i * i % 97)
                                            .toArray())
                                    .sampling(how)
                                    .maxNewTokens(TOKENS)
                                    .ignoreEndOfGeneration(true)
                                    .build(),
                            GenerationListener.ofTokens(token -> tokens.add(token.id())));
                    drafted += usage.draftedTokens();
                    accepted += usage.acceptedTokens();
                    cached += usage.cachedTokens();
                }
                texts.add(tokens);
            }
        }
        return texts;
    }

    @ParameterizedTest
    @ValueSource(strings = {"qwen35", "glm4moe", "qwen35moe", "qwen3next"})
    void proposedByTheHead(String name) {
        Path file = GoldenData.file("mtp/" + name + "-mtp.q8_0.gguf");
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            for (SamplingParams how : List.of(
                    SamplingParams.greedy(), SamplingParams.builder().seed(5).build())) {
                assertEquals(
                        generate(engine, file, Map.of(), how),
                        generate(engine, file, Map.of("speculate", "head"), how),
                        how.toString());
            }
        }
        String all = name + ": " + accepted + " of " + drafted + " proposals were right, " + cached + " tokens reused";
        System.out.println(all);
        assertTrue(accepted < drafted, all); // the weights are random, and the head knows nothing of the model
        // With states it depends on what steps take where a prompt may stop for others.
        assertTrue(!name.equals("glm4moe") || cached == 4 * 320, all);
    }

    /// A model without attention, so that each token decides the next one, and a head that does the same.
    @Test
    void aHeadThatIsRightIsTaken(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("agreeing.gguf");
        Files.write(file, agreeing(GoldenData.file("mtp/qwen35-mtp.q8_0.gguf")));
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            List<List<Integer>> plain = generate(engine, file, Map.of(), SamplingParams.greedy());
            assertEquals(plain, generate(engine, file, Map.of("speculate", "head"), SamplingParams.greedy()));
        }
        String all = accepted + " of " + drafted + " proposals were right";
        System.out.println(all);
        assertTrue(0 < accepted && accepted == drafted, all);
    }

    /// {@return a model whose blocks add nothing, and whose head passes the token's embedding on to the same norm}
    private static byte[] agreeing(Path model) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(model)).order(ByteOrder.LITTLE_ENDIAN);
        try (GgufFile file = GgufReader.open(model, TensorTypes.of(GoldenData.FORMATS))) {
            for (TensorInfo tensor : file.tensors()) {
                int at = (int) tensor.offsetBytes();
                if (tensor.name().matches(".*(attn_output|ssm_out|ffn_down|eh_proj).weight")) {
                    bytes.put(at, new byte[(int) tensor.sizeBytes()]);
                }
                if (tensor.name().endsWith("eh_proj.weight")) { // rows of blocks: a float16, then 32 levels
                    for (int row = 0; row < tensor.rows(); row++) {
                        int block = at + (int) (row * tensor.sizeBytes() / tensor.rows()) + row / 32 * 34;
                        bytes.putShort(block, Float.floatToFloat16(1));
                        bytes.put(block + Short.BYTES + row % 32, (byte) 1);
                    }
                } else if (tensor.name().endsWith("enorm.weight")) {
                    for (int i = 0; i < tensor.cols(); i++) {
                        bytes.putFloat(at + i * Float.BYTES, 1);
                    }
                } else if (tensor.name().endsWith("shared_head_norm.weight")) {
                    TensorInfo norm = file.tensor("output_norm.weight").orElseThrow();
                    bytes.put(at, bytes, (int) norm.offsetBytes(), (int) norm.sizeBytes());
                }
            }
        }
        return bytes.array();
    }

    private List<Integer> generate(Engine engine, Map<String, String> settings, SamplingParams how) {
        List<Integer> tokens = new ArrayList<>();
        LoadRequest request = LoadRequest.builder(FILE).settings(settings).build();
        try (LoadedModel model = engine.load(request);
                Session session = model.newSession()) {
            Usage usage = session.generate(
                    GenerationRequest.builder()
                            .prompt(model.tokenizer().encode(PROMPT, true, true))
                            .sampling(how)
                            .maxNewTokens(TOKENS)
                            .ignoreEndOfGeneration(true)
                            .build(),
                    GenerationListener.ofTokens(token -> tokens.add(token.id())));
            drafted += usage.draftedTokens();
            accepted += usage.acceptedTokens();
        }
        return tokens;
    }

    private void sameTexts(Map<String, String> settings) {
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            for (SamplingParams how : List.of(
                    SamplingParams.greedy(),
                    SamplingParams.builder().seed(5).build(),
                    SamplingParams.builder().repeatPenalty(1.3f).seed(6).build())) {
                List<Integer> plain = generate(engine, Map.of(), how);
                assertEquals(plain, generate(engine, settings, how), how.toString());
            }
        }
        assertTrue(0 < accepted && accepted <= drafted, accepted + " of " + drafted);
    }

    @Test
    void proposedByEarlierTokens() {
        sameTexts(Map.of("speculate", "ngram"));
    }

    @Test
    void proposedByAModel() {
        sameTexts(Map.of("speculate", "draft", "draft.model", FILE.toString()));
    }
}
