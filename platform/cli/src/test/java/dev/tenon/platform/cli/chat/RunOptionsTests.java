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
import dev.tenon.api.text.SamplingStage;
import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.core.control.SamplingNumber;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Options of placement, sampling and reports, and the defaults of a model.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class RunOptionsTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
    }

    @Test
    void adaptersReachTheEngine() {
        TestCli.Result result = cli.run("run", "-p", "x", "--lora", "a.gguf=0.5", "--lora", "b.gguf");
        assertEquals(0, result.status(), result.err());
        assertEquals(
                List.of(
                        new LoadRequest.Adapter("a.gguf", Path.of("a.gguf"), 0.5f),
                        new LoadRequest.Adapter("b.gguf", Path.of("b.gguf"), 1)),
                cli.engine.loads.getFirst().adapters());
        for (String wrong : List.of("a.gguf=x", "a.gguf=NaN")) {
            result = cli.run("run", "-p", "x", "--lora", wrong);
            assertEquals(2, result.status(), result.err());
            assertTrue(result.err().contains("[CLI-001]"), result.err());
        }
    }

    @Test
    void whatProposesTokensReachesTheEngine() throws IOException {
        Path draft = Files.createFile(folder.resolve("draft.gguf"));
        for (String name : List.of("run", "chat")) {
            for (List<String> options : List.of(
                    List.of("--speculate", "ngram"),
                    List.of("--speculate", "phrases=Dear reader"),
                    List.of("-md", draft.toString()),
                    List.of("--speculate", "off", "--draft-model", draft.toString()))) {
                List<String> line = new ArrayList<>(List.of(name));
                line.addAll(name.equals("run") ? List.of("-p", "x") : List.of());
                line.addAll(options);
                TestCli.Result result = cli.run(line.toArray(String[]::new));
                assertEquals(0, result.status(), result.err());
            }
        }
        Map<String, String> ngram = Map.of("speculate", "ngram");
        Map<String, String> phrases = Map.of("speculate", "phrases=Dear reader");
        Map<String, String> smaller = Map.of("speculate", "draft", "draft.model", draft.toString());
        Map<String, String> off = Map.of("speculate", "off", "draft.model", draft.toString());
        assertEquals(
                List.of(ngram, phrases, smaller, off, ngram, phrases, smaller, off),
                cli.engine.loads.stream().map(LoadRequest::settings).toList());
    }

    @Test
    void aSamplerThatNothingOffersIsRefusedBeforeAnythingIsGenerated() {
        for (String[] line : new String[][] {{"run", "-p", "x"}, {"run", "--chat", "-p", "x"}, {"chat"}}) {
            List<String> words = new ArrayList<>(List.of(line));
            words.addAll(List.of("--sampler", "mirostat=5"));
            TestCli.Result result = cli.run(words.toArray(String[]::new));
            assertEquals(2, result.status(), result.err());
            assertTrue(result.err().contains("There is no sampler 'mirostat'; no bundle offers any"), result.err());
            assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        }
        assertEquals(List.of(), cli.engine.requests);
    }

    @Test
    void aKeptSessionLeavesOnlyTheRestOfAPromptToRun() throws IOException {
        Path kept = folder.resolve("kept");
        int[] prompt = encoded("one two three");
        assertEquals(
                0,
                cli.run("run", "-p", "one two three", "--session", kept.toString())
                        .status());
        assertArrayEquals(prompt, cli.engine.requests.getLast().prompt());
        assertTrue(Files.size(kept) > 0);
        assertEquals(
                0,
                cli.run("run", "-p", "one two three", "--session", kept.toString())
                        .status());
        assertArrayEquals(
                new int[] {prompt[prompt.length - 1]},
                cli.engine.requests.getLast().prompt());
        int[] other = encoded("one two 3");
        int same = Arrays.mismatch(prompt, other);
        assertTrue(same > 0);
        assertEquals(
                0,
                cli.run("run", "-p", "one two 3", "--session", kept.toString()).status());
        assertArrayEquals(
                Arrays.copyOfRange(other, same, other.length),
                cli.engine.requests.getLast().prompt());
        TestCli.Result result = cli.run("run", "-p", "x", "--session", folder.toString());
        assertEquals(1, result.status());
        assertTrue(result.err().contains("IO-001"), result.err());
    }

    private int[] encoded(String text) {
        assertEquals(0, cli.run("run", "-p", text).status());
        return cli.engine.requests.getLast().prompt();
    }

    @Test
    void aFullContextIsShiftedOnDemand() {
        assertEquals(0, cli.run("run", "-p", "x").status());
        assertEquals(0, cli.run("run", "-p", "x", "--context-shift").status());
        assertEquals(0, cli.run("run", "-p", "x", "--context-shift", "7").status());
        assertEquals(
                List.of(-1, 0, 7),
                cli.engine.requests.stream()
                        .map(GenerationRequest::contextShift)
                        .toList());
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
    void eachNumberOfSamplingHasAnOption() {
        List<String> line = new ArrayList<>(List.of("run", "-p", "x"));
        for (SamplingNumber number : SamplingNumber.values()) {
            line.addAll(List.of("--" + number.option(), number == SamplingNumber.DRY_BASE ? "1.5" : "1"));
        }
        line.addAll(List.of("--samplers", "dry;temperature;top_k;top_p;min_p;typ_p;top_n_sigma;xtc;penalties"));
        assertEquals(0, cli.run(line.toArray(String[]::new)).status());
        SamplingParams params = cli.engine.requests.getFirst().sampling();
        for (SamplingNumber number : SamplingNumber.values()) {
            assertEquals(number == SamplingNumber.DRY_BASE ? 1.5 : 1, number.of(params), number.option());
        }
        assertEquals(SamplingStage.DRY, params.stages().getFirst());
    }

    @Test
    void aBudgetOfReasoningLimitsAnswersToQuestions() {
        cli.run("run", "--chat", "-p", "x");
        assertTrue(cli.engine.requests.getLast().constraint().isEmpty());
        TestCli.Result result = cli.run("run", "--chat", "-p", "x", "--reasoning-budget", "3");
        assertEquals(0, result.status(), result.err());
        assertTrue(cli.engine.requests.getLast().constraint().isPresent());
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
            {"--temp", "-1"},
            {"--top-p", "0"},
            {"-n", "-2"},
            {"-c", "-5"},
            {"--logit-bias", "x+1"},
            {"-ctk", "q3"},
            {"--dry-multiplier", "-1"},
            {"--mirostat", "3"},
            {"--samplers", "top_q"},
            {"--reasoning-budget", "-2"}
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
}
