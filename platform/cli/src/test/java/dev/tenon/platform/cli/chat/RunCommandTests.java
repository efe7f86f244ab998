package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 1, unit = TimeUnit.MINUTES)
class RunCommandTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
    }

    private String promptOf(int request) {
        return new FakeTokenizer(false).decode(cli.engine.requests.get(request).prompt());
    }

    @Test
    void promptAndContinuationAreStreamed() {
        TestCli.Result result = cli.run("run", "-p", "Once");
        assertEquals(0, result.status(), result.err());
        assertEquals("Once there was a fox.\n", result.out());
        assertEquals("", result.err());
    }

    @Test
    void promptIsNotShownWhenNotWanted() {
        assertEquals(
                " there was a fox.\n",
                cli.run("run", "-p", "Once", "--no-display-prompt").out());
    }

    @Test
    void withoutPromptTheDefaultOneIsTaken() {
        assertEquals("Once upon a time there was a fox.\n", cli.run("run").out());
    }

    @Test
    void pipedTextIsThePrompt() {
        cli.stdin = "Über\n".getBytes(StandardCharsets.UTF_8);
        assertEquals("Über there was a fox.\n", cli.run("run").out());
    }

    @Test
    void standardInputIsNotReadWhenAPromptIsGiven() {
        cli.stdin = "ignored".getBytes(StandardCharsets.UTF_8);
        assertEquals("Once there was a fox.\n", cli.run("run", "-p", "Once").out());
    }

    @Test
    void pipedTextThatIsNotUtf8IsRefused() {
        cli.stdin = new byte[] {'a', 'b', (byte) 0xFF, 'c'};
        TestCli.Result result = cli.run("run");
        assertEquals(1, result.status());
        assertEquals(1, result.errLines());
        assertTrue(result.err().contains("byte 0xFF at offset 2"), result.err());
        assertTrue(result.err().endsWith("[CLI-002]\n"), result.err());
    }

    @Test
    void cutCharacterAtTheEndOfInputIsRefused() {
        cli.stdin = new byte[] {'a', (byte) 0xE2, (byte) 0x82};
        assertTrue(cli.run("run").err().endsWith("[CLI-002]\n"));
    }

    @Test
    void promptComesFromAFileWithoutItsLastLineEnd() throws IOException {
        Path file = Files.writeString(folder.resolve("p.txt"), "Two\nlines\n\n");
        cli.run("run", "-f", file.toString());
        assertEquals("Two\nlines\n", promptOf(0));
    }

    @Test
    void missingPromptFileIsAnIoError() {
        TestCli.Result result = cli.run("run", "-f", "nowhere.txt");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[IO-001]\n"), result.err());
    }

    @Test
    void chatUsesTheTemplateAndDoesNotShowThePrompt() {
        TestCli.Result result = cli.run("run", "--chat", "-p", "Hi");
        assertEquals(" there was a fox.\n", result.out());
        int[] expected =
                new FakeTokenizer(false).encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", false, true);
        assertArrayEquals(expected, cli.engine.requests.getFirst().prompt());
    }

    private String chatOf(int request) {
        int[] prompt = cli.engine.requests.get(request).prompt();
        return new FakeTokenizer(false).decode(prompt);
    }

    @Test
    void aQuestionIsAnsweredThroughTheTemplate() {
        TestCli.Result result = cli.run("run", "Why is the sky blue?");
        assertEquals(0, result.status(), result.err());
        assertEquals(" there was a fox.\n", result.out());
        assertEquals(cli.model, cli.engine.loads.getFirst().path());
        cli.run("run", "--chat", "-p", "Why is the sky blue?");
        assertEquals(chatOf(1), chatOf(0));
    }

    @Test
    void aModelWithoutTemplateContinuesTheQuestion() {
        cli.engine.template = null;
        assertEquals("Once there was a fox.\n", cli.run("run", "Once").out());
        assertEquals("Once there was a fox.\n", cli.run("run", "--raw", "Once").out());
    }

    @Test
    void aModelMayHaveATemplateAndContinueAllTheSame() throws IOException {
        Files.writeString(folder.resolve("story.properties"), "chat = false\n");
        assertEquals("Once there was a fox.\n", cli.run("run", "Once").out());
        assertEquals(
                " there was a fox.\n", cli.run("run", "--chat", "-p", "Once").out());
    }

    @Test
    void rawContinuesTheQuestion() {
        assertEquals("Once there was a fox.\n", cli.run("run", "--raw", "Once").out());
    }

    @Test
    void theFirstArgumentMayBeAModel() throws IOException {
        Path file = Files.writeString(folder.resolve("other.gguf"), "fake");
        Path pulled = folder.resolve("models/org/repo/tiny-Q4_K_M.gguf");
        Files.createDirectories(pulled.getParent());
        Files.writeString(pulled, "fake");
        assertEquals(0, cli.run("run", file.toString(), "Hi").status());
        assertEquals(file, cli.engine.loads.getFirst().path());
        for (String name : List.of("tiny-Q4_K_M", "org/repo", "org/repo:q4_k_m", "hf:org/repo")) {
            assertEquals(" there was a fox.\n", cli.run("run", name, "Hi").out());
            assertEquals(pulled, cli.engine.loads.getLast().path());
        }
        assertEquals(
                "Once upon a time there was a fox.\n",
                cli.run("run", "org/repo").out());
        assertEquals(pulled, cli.engine.loads.getLast().path());
        assertEquals(
                "Hi there was a fox.\n", cli.run("run", "org/repo", "-p", "Hi").out());
        assertEquals(0, cli.run("run", "-m", "org/repo", "Hi").status());
        assertEquals(pulled, cli.engine.loads.getLast().path());
    }

    private void atATerminal() {
        cli.inTerminal = true;
        cli.outTerminal = true;
        cli.typed = List.of("Hi\r", "\u0004");
    }

    @Test
    void withoutAQuestionAChatStartsOnATerminal() {
        atATerminal();
        TestCli.Result result = cli.run("run", "-m", cli.model.toString(), "-sys", "Be brief.", "-n", "7");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.out().contains(" there"), result.out());
        assertTrue(result.err().contains("/help lists the commands"), result.err());
        assertEquals(1, cli.engine.requests.size());
        assertTrue(chatOf(0).contains("Be brief.\nuser\nHi\n"), chatOf(0));
        assertEquals(7, cli.engine.requests.getFirst().maxNewTokens());
    }

    @Test
    void aModelThatContinuesSaysWhatToTypeOnATerminal() throws IOException {
        atATerminal();
        cli.engine.template = null;
        TestCli.Result result = cli.run("run", cli.model.toString());
        assertEquals(2, result.status(), result.err());
        assertTrue(result.err().contains("tenon run " + cli.model + " \"Once upon a time\""), result.err());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        assertTrue(cli.engine.requests.isEmpty());
        Files.writeString(folder.resolve("story.properties"), "prompt = Long ago\n");
        assertEquals("Long ago there was a fox.\n", cli.run("run").out());
    }

    @Test
    void noChatStartsWhereAPromptIsThere() {
        atATerminal();
        assertEquals("Once there was a fox.\n", cli.run("run", "-p", "Once").out());
        assertEquals(" there was a fox.\n", cli.run("run", "Why?").out());
        assertEquals(
                "Once upon a time there was a fox.\n", cli.run("run", "--raw").out());
        cli.outTerminal = false;
        assertEquals("Once upon a time there was a fox.\n", cli.run("run").out());
    }

    @Test
    void argumentsThatContradictAreRefused() {
        for (String[] args : new String[][] {
            {"run", "why", "is"}, {"run", "-m", "story.gguf", "why", "is"}, {"run", "why?", "-p", "x"}
        }) {
            TestCli.Result result = cli.run(args);
            assertEquals(2, result.status(), result.err());
            assertEquals(1, result.errLines(), result.err());
            assertTrue(result.err().contains("'" + (args[1].equals("-m") ? "is" : args[1]) + "'"), result.err());
            assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        }
        assertTrue(cli.engine.loads.isEmpty());
    }

    @Test
    void aMissingModelIsNotTakenForAQuestion() {
        TestCli.Result file = cli.run("run", "nowhere.gguf");
        assertEquals(1, file.status());
        assertTrue(file.err().contains("nowhere.gguf does not exist"), file.err());
        TestCli.Result hub = cli.run("run", "org/none", "Hi");
        assertEquals(1, hub.status());
        assertTrue(hub.err().contains("tenon pull org/none"), hub.err());
    }

    @Test
    void systemMessageMeansChat() {
        cli.run("run", "-sys", "Be brief.", "-p", "Hi");
        int[] expected = new FakeTokenizer(false)
                .encode(
                        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                                + "<|im_start|>assistant\n",
                        false,
                        true);
        assertArrayEquals(expected, cli.engine.requests.getFirst().prompt());
    }

    @Test
    void chatAndRawExcludeEachOther() {
        TestCli.Result result = cli.run("run", "--chat", "--raw", "-p", "Hi");
        assertEquals(2, result.status());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
    }

    @Test
    void chatWithoutTemplateIsRefused() {
        cli.engine.template = null;
        TestCli.Result result = cli.run("run", "--chat", "-p", "Hi");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[MODEL-009]\n"), result.err());
    }

    @Test
    void bosIsNotAddedTwiceWhenTheTemplateWritesIt() {
        cli.engine.addsBos = true;
        cli.engine.template = variables -> variables.get("bos_token") + "Q";
        cli.run("run", "--chat", "-p", "Hi");
        assertArrayEquals(
                new int[] {FakeTokenizer.BOS, 'Q'},
                cli.engine.requests.getFirst().prompt());
        cli.engine.template = variables -> "Q";
        cli.run("run", "--chat", "-p", "Hi");
        assertArrayEquals(
                new int[] {FakeTokenizer.BOS, 'Q'}, cli.engine.requests.get(1).prompt());
    }

    @Test
    void placementOptionsReachTheEngine() {
        TestCli.Result result = cli.run(
                "run",
                "-p",
                "x",
                "-c",
                "128",
                "-b",
                "64",
                "-t",
                "3",
                "--backend",
                "cuda",
                "--device",
                "1",
                "-ctk",
                "q8_0",
                "--cache-type-v",
                "f32",
                "--no-fuse",
                "--check-tensors",
                "--set",
                "mv.block-size=64");
        assertEquals(0, result.status(), result.err());
        assertEquals(
                LoadRequest.builder(cli.model)
                        .maxSequences(1)
                        .backend("cuda")
                        .device("1")
                        .threads(3)
                        .contextLength(128)
                        .maxBatchTokens(64)
                        .keyType(KvType.Q8_0)
                        .valueType(KvType.F32)
                        .fuse(false)
                        .checkData(true)
                        .settings(Map.of("mv.block-size", "64"))
                        .build(),
                cli.engine.loads.getFirst());
    }

    @Test
    void samplingDefaultsAreThoseOfLlamaCpp() {
        cli.run("run", "-p", "x", "-s", "7");
        GenerationRequest request = cli.engine.requests.getFirst();
        assertEquals(SamplingParams.builder().seed(7).build(), request.sampling());
        assertEquals(-1, request.maxNewTokens());
    }

    @Test
    void samplingOptionsReachTheEngine() {
        TestCli.Result result = cli.run(
                "run",
                "-p",
                "x",
                "-n",
                "9",
                "--temp",
                "0.5",
                "--top-k",
                "0",
                "--top-p",
                "0.8",
                "--min-p",
                "0.1",
                "--typical",
                "0.7",
                "--repeat-penalty",
                "1.2",
                "--repeat-last-n",
                "-1",
                "--presence-penalty",
                "0.3",
                "--frequency-penalty",
                "0.4",
                "--logit-bias",
                "15+1.5",
                "-l",
                "16-inf",
                "--seed",
                "11",
                "-r",
                "END",
                "--ignore-eos");
        assertEquals(0, result.status(), result.err());
        GenerationRequest request = cli.engine.requests.getFirst();
        assertEquals(
                SamplingParams.builder()
                        .temperature(0.5f)
                        .topK(0)
                        .topP(0.8f)
                        .minP(0.1f)
                        .typicalP(0.7f)
                        .repeatPenalty(1.2f)
                        .presencePenalty(0.3f)
                        .frequencyPenalty(0.4f)
                        .repeatLastN(-1)
                        .logitBias(Map.of(15, 1.5f, 16, Float.NEGATIVE_INFINITY))
                        .seed(11)
                        .build(),
                request.sampling());
        assertEquals(9, request.maxNewTokens());
        assertEquals(List.of("END"), request.stop());
        assertTrue(request.ignoreEndOfGeneration());
    }

    @Test
    void modelsOwnDefaultsComeFromTheFileBesideIt() throws IOException {
        Files.writeString(folder.resolve("story.properties"), """
                sampling.temperature=0.7
                sampling.top-p=0.9
                sampling.repeat-penalty=1.1
                predict=5
                prompt=A mouse
                """);
        TestCli.Result result = cli.run("run", "-s", "1", "--top-p", "0.5");
        assertEquals("A mouse ther\n", result.out());
        assertEquals(
                SamplingParams.builder()
                        .temperature(0.7f)
                        .topP(0.5f)
                        .repeatPenalty(1.1f)
                        .seed(1)
                        .build(),
                cli.engine.requests.getFirst().sampling());
    }

    @Test
    void brokenDefaultsAreAConfigurationError() throws IOException {
        Files.writeString(folder.resolve("story.properties"), "sampling.temperature=warm\n");
        TestCli.Result result = cli.run("run");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[CFG-001]\n"), result.err());
    }

    @Test
    void seedsDifferUnlessGiven() {
        cli.run("run", "-p", "x");
        cli.run("run", "-p", "x");
        long first = cli.engine.requests.get(0).sampling().seed();
        long second = cli.engine.requests.get(1).sampling().seed();
        assertTrue(first >= 0 && second >= 0 && first != second, first + " " + second);
    }

    @Test
    void valuesOutOfRangeAreUsageErrors() {
        for (String[] bad : new String[][] {
            {"--temp", "-1"}, {"--top-p", "0"}, {"-n", "-2"}, {"-c", "-5"}, {"--logit-bias", "x+1"}, {"-ctk", "q3"}
        }) {
            TestCli.Result result = cli.run("run", "-p", "x", bad[0], bad[1]);
            assertEquals(2, result.status(), bad[0]);
            assertEquals(1, result.errLines(), result.err());
            assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        }
        assertEquals(0, cli.engine.requests.size());
    }

    @Test
    void metricsAreOneJsonLineOnStandardError() throws IOException {
        TestCli.Result result = cli.run("run", "-p", "Once", "--json-metrics", "-s", "3");
        assertEquals(1, result.errLines(), result.err());
        JsonNode metrics = new ObjectMapper().readTree(result.err());
        assertEquals(4, metrics.get("prompt_tokens").asInt());
        assertEquals(18, metrics.get("generated_tokens").asInt());
        assertEquals(3, metrics.get("seed").asLong());
        assertEquals("fake-backend", metrics.get("backend").asText());
        assertEquals("stop", metrics.get("finish").asText());
        assertEquals(5.0, metrics.get("load_ms").asDouble());
        assertEquals(2.0, metrics.get("ttft_ms").asDouble());
        assertEquals(2000.0, metrics.get("prefill_tokens_per_second").asDouble());
        assertEquals(2125.0, metrics.get("decode_tokens_per_second").asDouble());
        assertEquals(1000, metrics.get("weight_bytes_per_token").asLong());
    }

    @Test
    void metricsMayGoToAFile() throws IOException {
        Path file = folder.resolve("metrics.json");
        TestCli.Result result = cli.run("run", "--json-metrics=" + file, "-p", "Once");
        assertEquals("", result.err());
        assertEquals(
                "fake",
                new ObjectMapper().readTree(file.toFile()).get("architecture").asText());
    }

    @Test
    void metricsReplaceNeitherALinkNorWhatIsRead() throws IOException {
        Path prompt = Files.writeString(folder.resolve("prompt.txt"), "Once");
        Path link = Files.createSymbolicLink(folder.resolve("link"), prompt);
        for (Path file : List.of(prompt, link, cli.model)) {
            TestCli.Result result = cli.run("run", "--json-metrics=" + file, "-f", prompt.toString());
            assertEquals(1, result.status());
            assertTrue(result.err().endsWith("[IO-001]\n"), result.err());
        }
        assertEquals(0, cli.engine.requests.size(), "nothing runs before that is known");
        assertEquals("Once", Files.readString(prompt));
        assertEquals("fake", Files.readString(cli.model));
    }

    @Test
    void speedIsShownOnATerminalUnlessQuiet() {
        cli.errTerminal = true;
        assertTrue(cli.run("run", "-p", "x").err().contains("tok/s"));
        assertEquals("", cli.run("run", "-p", "x", "-q").err());
    }

    @Test
    void promptLongerThanTheContextIsALimitError() {
        cli.engine.context = 3;
        TestCli.Result result = cli.run("run", "-p", "Once");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[LIMIT-001]\n"), result.err());
    }

    @Test
    void nameOfAPulledModelIsFound() throws IOException {
        Path repo = Files.createDirectories(folder.resolve("models/org/repo"));
        Path pulled = Files.writeString(repo.resolve("tiny-Q4_K_M.gguf"), "fake");
        for (String name : new String[] {"tiny-Q4_K_M", "tiny-Q4_K_M.gguf", "hf:org/repo", "hf:org/repo:q4_k_m"}) {
            assertEquals(0, cli.run("run", "-m", name, "-p", "x").status(), name);
            assertEquals(pulled, cli.engine.loads.removeFirst().path(), name);
        }
        TestCli.Result missing = cli.run("run", "-m", "hf:org/repo:Q8_0", "-p", "x");
        assertEquals(1, missing.status());
        assertTrue(missing.err().contains("tenon pull hf:org/repo:Q8_0"), missing.err());
    }

    /// Tokenizing takes some forty times the memory of the text.
    @Test
    void aTextThatCannotFitIsRefusedBeforeItIsTokenized() {
        cli.stdin = "a".repeat(1 << 21).getBytes(StandardCharsets.UTF_8);
        TestCli.Result result = cli.run("run");
        assertEquals(1, result.status());
        assertTrue(result.err().startsWith("tenon: The text of 2097152 characters has at least "), result.err());
        assertTrue(result.err().endsWith("[LIMIT-001]\n"), result.err());
    }

    @Test
    void saysWhyTheTextStopped() {
        assertEquals("", cli.run("run", "-p", "Hi").err());
        assertEquals(
                "(stopped: the limit of 3 tokens is reached; -n sets it)\n",
                cli.run("run", "-p", "Hi", "-n", "3").err());
        assertEquals(
                "(stopped at a stop text: #, w)\n",
                cli.run("run", "-p", "Hi", "-r", "#", "-r", "w").err());
        cli.engine.context = 10;
        assertEquals(
                "(stopped: the context of 10 tokens is full; -c sets its size)\n",
                cli.run("run", "-p", "Hi").err());
        assertEquals("", cli.run("run", "-p", "Hi", "--quiet").err());
    }
}
