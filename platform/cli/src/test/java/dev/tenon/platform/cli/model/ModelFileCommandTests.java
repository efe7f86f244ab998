package dev.tenon.platform.cli.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.cli.main.F32;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFileCommandTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
        cli.engine.formats.add(new F32());
        cli.engine.architectures.add(new Llama());
    }

    /// A model of one layer from the reader's golden data.
    private static Path golden() {
        try {
            return Path.of(ModelFileCommandTests.class
                    .getResource("/golden/malformed/ok_model.gguf")
                    .toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void inspectShowsHeaderAndTensors() {
        Path file = golden();
        TestCli.Result result = cli.run("inspect", file.toString());
        assertEquals(0, result.status(), result.err());
        String out = result.out();
        assertTrue(out.contains("GGUF v3"), out);
        assertTrue(out.contains("llama.block_count"), out);
        assertTrue(out.contains("blk.0.attn_q.weight"), out);
        assertTrue(out.contains("[32, 261]"), out);
        assertTrue(out.contains("elements)"), "long arrays are cut: " + out);
        assertTrue(out.matches("(?s).*architecture llama +test-classes.*"), out);
        assertTrue(out.matches("(?s).*format +F32 +test-classes.*"), out);
        assertTrue(
                out.matches(
                        "(?s).*format +F16 .*\\(8 tensors, [^)]+ % of the bytes, 9\\d\\.\\d % of the parameters\\).*"),
                out);
    }

    @Test
    void inspectTellsKeysThatNothingReads() throws IOException {
        assertFalse(cli.run("inspect", golden().toString()).out().contains("does not read"));
        String model = Files.readString(golden(), StandardCharsets.ISO_8859_1);
        assertTrue(model.contains("llama.rope.freq_base"));
        String file = Files.writeString(
                        folder.resolve("newer.gguf"),
                        model.replace("llama.rope.freq_base", "llama.next.freq_base"),
                        StandardCharsets.ISO_8859_1)
                .toString();
        String out = cli.run("inspect", file).out();
        assertTrue(out.contains("  keys that this version does not read: llama.next.freq_base\n"), out);
        JsonNode json =
                new ObjectMapper().readTree(cli.run("inspect", file, "--json").out());
        assertEquals(
                "[\"llama.next.freq_base\"]", json.at("/served_by/unread_keys").toString());
    }

    @Test
    void inspectSaysWhatNothingServes() {
        Path file = golden();
        cli.engine.formats.clear();
        cli.engine.architectures.clear();
        String out = cli.run("inspect", file.toString()).out();
        assertTrue(out.matches("(?s).*architecture llama +nothing installed.*"), out);
        assertTrue(out.matches("(?s).*format +F32 +nothing installed.*"), out);
    }

    @Test
    void inspectPrintsJson() throws IOException {
        Path file = golden();
        JsonNode json = new ObjectMapper()
                .readTree(cli.run("inspect", file.toString(), "--json").out());
        assertEquals(1, json.at("/metadata/llama.block_count").asInt());
        assertEquals(261, json.at("/metadata/tokenizer.ggml.tokens").size());
        assertEquals("F16", json.at("/tensors/0/type").asText());
        assertEquals("test-classes", json.at("/served_by/architecture").asText());
        for (String type : List.of("F16", "F32")) {
            long tensors = 0;
            long parameters = 0;
            long bytes = 0;
            for (JsonNode tensor : json.at("/tensors")) {
                if (tensor.get("type").asText().equals(type)) {
                    tensors++;
                    bytes += tensor.get("size_bytes").asLong();
                    long elements = 1;
                    for (JsonNode length : tensor.get("shape")) {
                        elements *= length.asLong();
                    }
                    parameters += elements;
                }
            }
            JsonNode format = json.at("/formats/" + type);
            assertEquals(tensors, format.get("tensors").asLong());
            assertEquals(parameters, format.get("parameters").asLong());
            assertEquals(bytes, format.get("size_bytes").asLong());
            assertTrue(tensors > 0, type);
        }
    }

    @Test
    void inspectMayLeaveTensorsOut() {
        assertFalse(
                cli.run("inspect", "--no-tensors", golden().toString()).out().contains("blk.0.attn_q"));
    }

    @Test
    void inspectRefusesWhatIsNoModel() throws IOException {
        Path text = Files.writeString(folder.resolve("t.gguf"), "Just a text file, no model at all.");
        TestCli.Result result = cli.run("inspect", text.toString());
        assertEquals(1, result.status());
        assertEquals(1, result.errLines());
        assertTrue(result.err().endsWith("[GGUF-001]\n"), result.err());
        assertTrue(cli.run("inspect", folder.toString()).err().endsWith("[IO-001]\n"));
        assertTrue(cli.run("inspect", "nowhere.gguf").err().endsWith("[IO-001]\n"));
    }

    @Test
    void logitsAreRawLittleEndianFloats() throws IOException {
        cli.engine.logits = token -> {
            float[] row = new float[FakeTokenizer.SIZE];
            row[0] = token;
            row[1] = -0.5f;
            return row;
        };
        Path out = folder.resolve("o.f32");
        TestCli.Result result = cli.run("logits", "--ids", "1,2,3", "-o", out.toString(), "-q");
        assertEquals(0, result.status(), result.err());
        assertEquals("", result.err());
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(out)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(4 * FakeTokenizer.SIZE, bytes.capacity());
        assertEquals(3f, bytes.getFloat(0));
        assertEquals(-0.5f, bytes.getFloat(4));
        assertArrayEquals(new int[] {1, 2, 3}, cli.engine.evaluated.getFirst());
        result = cli.run("logits", "--ids", "1,2,3", "-o", out.toString(), "--all");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("-y") && result.err().endsWith("[IO-001]\n"), result.err());
        assertEquals(
                0,
                cli.run("logits", "--ids", "1,2,3", "-o", out.toString(), "--all", "-y")
                        .status());
        bytes = ByteBuffer.wrap(Files.readAllBytes(out)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(3 * 4 * FakeTokenizer.SIZE, bytes.capacity());
        assertEquals(2f, bytes.getFloat(4 * FakeTokenizer.SIZE));
    }

    @Test
    void logitsDoNotReplaceTheirModel() throws IOException {
        for (Path name : List.of(cli.model, Files.createLink(folder.resolve("hard"), cli.model))) {
            TestCli.Result result = cli.run("logits", "--ids", "1", "-y", "-o", name.toString());
            assertEquals(1, result.status());
            assertTrue(result.err().contains("is read") && result.err().endsWith("[IO-001]\n"), result.err());
        }
        assertEquals("fake", Files.readString(cli.model));
    }

    @Test
    void logitsMayGoToStandardOutput() {
        assertEquals(
                4 * FakeTokenizer.SIZE,
                cli.run("logits", "--ids", "7", "-o", "-").bytes().length);
    }

    @Test
    void logitsOfIdsOutsideTheVocabularyAreRefused() {
        TestCli.Result result =
                cli.run("logits", "--ids", "1,259", "-o", folder.resolve("o").toString());
        assertEquals(2, result.status());
        assertTrue(result.err().contains("259 is not a token"), result.err());
        assertFalse(Files.exists(folder.resolve("o")));
    }

    @Test
    void tokensAreShownInThreeForms() throws IOException {
        cli.engine.addsBos = true;
        String table = cli.run("tokenize", "-p", "a<|im_end|>\n", "-q").out();
        assertEquals("   256 -> '<s>'\n    97 -> 'a'\n   257 -> '<|im_end|>'\n    10 -> '\\n'\n", table);
        assertEquals("[256, 97]\n", cli.run("tokenize", "-p", "a", "--ids").out());
        assertEquals(
                "[97]\n", cli.run("tokenize", "-p", "a", "--ids", "--no-bos").out());
        assertEquals(
                "[256, 60, 115, 62]\n",
                cli.run("tokenize", "-p", "<s>", "--ids", "--no-special").out());
        JsonNode json = new ObjectMapper()
                .readTree(cli.run("tokenize", "-p", "a", "--json").out());
        assertEquals("<s>", json.at("/pieces/0").asText());
        assertEquals(97, json.at("/ids/1").asInt());
    }

    @Test
    void tokenizeReadsStandardInput() {
        cli.stdin = new byte[] {'h', 'i'};
        assertEquals("[104, 105]\n", cli.run("tokenize", "--ids").out());
    }

    private static final class Llama implements ModelArchitecture {
        @Override
        public String id() {
            return "llama";
        }

        @Override
        public ModelDefinition define(ModelSource source) {
            ModelConfig config = ModelConfig.read(source, 10_000);
            Weight table = new Weight("token_embd.weight", config.embeddingLength(), config.vocabularySize());
            GraphBuilder graph = new GraphBuilder("llama");
            return new ModelDefinition(
                    config, graph.build(graph.linear("logits", graph.embedding("x", table), table, Optional.empty())));
        }
    }
}
