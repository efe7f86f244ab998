package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The jars that the examples' own builds made, dropped into a running platform and taken out
/// again.
///
/// Long: the examples are built by builds of their own.
@Tag("long")
class ExamplesIT {
    private static final Path GOLDEN =
            Path.of("src/test/resources/golden/models").toAbsolutePath();
    private static final Path LLAMA = Path.of("../golden/src/test/resources/golden/models/llama-gqa.f16.gguf")
            .toAbsolutePath();
    /// Normalised mean square error of float32 arithmetic against float64.
    private static final double FLOAT_LIMIT = 1e-8;

    @TempDir
    Path folder;

    private Platform platform;

    @BeforeEach
    void copyThePlatform() throws IOException {
        platform = new Platform(folder);
    }

    private String line(Path model, String backend, String ids) {
        return model + " " + backend + " " + ids + " " + folder.resolve("logits.f32");
    }

    private float[] logits() throws IOException {
        return floats(folder.resolve("logits.f32"));
    }

    private static float[] floats(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[bytes.remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(values);
        return values;
    }

    /// {@return `sum((a - b)^2) / sum(b^2)`}
    private static double nmse(float[] got, float[] truth, int offset) {
        double error = 0;
        double power = 0;
        for (int i = 0; i < got.length; i++) {
            double d = (double) got[i] - truth[offset + i];
            error += d * d;
            power += (double) truth[offset + i] * truth[offset + i];
        }
        return error / power;
    }

    @Test
    void theArchitectureMakesTheModelLoadAndItsLogitsAreTheGoldenOnes() throws Exception {
        Path jar = Platform.jar("model-sandwich");
        Path model = GOLDEN.resolve("sandwich.q4_0.gguf");
        float[] truth = floats(GOLDEN.resolve("sandwich.q4_0.logits_f64.f32"));
        JsonNode sequences = new ObjectMapper()
                .readTree(GOLDEN.resolve("sandwich.q4_0.json").toFile())
                .get("sequences");
        try (Platform.Running running = platform.new Running()) {
            String refused = running.ask(line(model, "auto", "1,2"));
            assertTrue(refused.startsWith("refused ") && refused.contains("sandwich"), refused);
            platform.drop(jar);
            running.askUntil(line(model, "auto", "1,2"), answer -> answer.startsWith("done "));
            for (JsonNode sequence : sequences) {
                String ids = StreamSupport.stream(sequence.get("ids").spliterator(), false)
                        .map(JsonNode::asText)
                        .collect(Collectors.joining(","));
                String answer = running.ask(line(model, "auto", ids));
                assertTrue(answer.startsWith("done "), answer);
                float[] got = logits();
                double error = nmse(got, truth, sequence.get("row").asInt() * got.length);
                System.out.printf(
                        "sandwich.q4_0 %s NMSE %.3g%n", sequence.get("name").asText(), error);
                assertTrue(error <= FLOAT_LIMIT, sequence.get("name") + ": NMSE " + error);
            }
            platform.take(jar);
            running.askUntil(line(model, "auto", "1,2"), answer -> answer.startsWith("refused "));
        }
    }

    @Test
    void theOpOfAModelBundleIsComputedByItsKernelAndAsTheOpSays() throws Exception {
        Path jar = Platform.jar("model-dyt");
        Path model = folder.resolve("dyt.gguf");
        platform.drop(jar);
        String synth = "synth qwen3-0.6b --arch dyt --type F32 --layers 2 --embedding 64 --heads 4 --heads-kv 2"
                + " --head-length 16 --feed-forward 96 --vocab 300 --context 128 -o " + model;
        platform.run(synth.split(" "));
        platform.take(jar);
        try (Platform.Running running = platform.new Running()) {
            assertTrue(running.ask(line(model, "auto", "1,2")).startsWith("refused "));
            platform.drop(jar);
            String answer = running.askUntil(line(model, "auto", "1,20,30"), each -> each.startsWith("done "));
            assertTrue(answer.contains("dynamic_tanh.java"), answer);
        }
        platform.run("run", "-m", model.toString(), "-p", "abc", "--raw", "-n", "4");
        platform.run("compare", "-m", model.toString(), "--backend", "cpu-vector", "--backend", "reference");
        List<String> why = platform.run("bundles", "--why", "-m", model.toString());
        assertTrue(
                why.stream().anyMatch(row -> row.contains("dynamic_tanh.java") && row.contains("made for the op")),
                () -> String.join("\n", why));
    }

    @Test
    void theFormatIsWrittenReadAndComputedByAKernelThatIsMadeOfItsLayout() throws Exception {
        Path jar = Platform.jar("format-ex5");
        Path model = folder.resolve("llama-gqa.ex5.gguf");
        platform.drop(jar);
        platform.run("quantize", LLAMA.toString(), model.toString(), "EX5");
        List<String> inspected = platform.run("inspect", model.toString());
        assertTrue(inspected.stream().anyMatch(each -> each.contains("EX5")), () -> String.join("\n", inspected));
        platform.take(jar);
        try (Platform.Running running = platform.new Running()) {
            String plain = running.ask(line(LLAMA, "auto", "1,2,3,4,5"));
            float[] exact = logits();
            String refused = running.ask(line(model, "auto", "1,2,3,4,5"));
            assertTrue(refused.startsWith("refused "), refused);
            platform.drop(jar);
            String answer = running.askUntil(line(model, "auto", "1,2,3,4,5"), each -> each.startsWith("done "));
            // Where F16 has no machine code either, the layout's decoder runs.
            assertTrue(answer.contains(plain.contains("f16.avx") ? "ex5.avx" : "ex5."), answer);
            double error = nmse(logits(), exact, 0);
            System.out.printf("llama-gqa in EX5 against F16: NMSE %.3g%n", error);
            assertTrue(error > 1e-6 && error < 0.1, "NMSE " + error);
            platform.take(jar);
            running.askUntil(line(model, "auto", "1,2,3,4,5"), each -> each.startsWith("refused "));
        }
    }

    @Test
    void theBackendTracesStepsWhenItIsAskedFor() throws Exception {
        Path jar = Platform.jar("backend-tracing");
        Path trace = folder.resolve("trace.csv");
        platform.configure("org.example.tracing", "file = " + trace);
        try (Platform.Running running = platform.new Running()) {
            assertTrue(running.ask(line(LLAMA, "tracing", "1")).startsWith("refused "));
            running.ask(line(LLAMA, "auto", "1,2,3"));
            float[] expected = logits();
            platform.drop(jar);
            running.askUntil(line(LLAMA, "tracing", "1,2,3"), answer -> answer.startsWith("done "));
            assertEquals(0, nmse(logits(), expected, 0), 1e-12, "logits of the traced backend");
            List<String> lines = Files.readAllLines(trace);
            assertEquals("kind,tokens,sequences,logit_rows,micros", lines.getFirst());
            // In front of it are the steps of the platform's self-check of the new bundle.
            assertTrue(lines.getLast().startsWith("prefill,3,1,1,"), lines.toString());
            int traced = lines.size();
            assertTrue(running.ask(line(LLAMA, "tracing", "7")).startsWith("done "));
            assertTrue(running.ask(line(LLAMA, "auto", "7")).startsWith("done "), "not traced");
            lines = Files.readAllLines(trace);
            assertEquals(traced + 1, lines.size(), lines.toString());
            assertTrue(lines.getLast().startsWith("decode,1,1,1,"), lines.toString());
            platform.take(jar);
            running.askUntil(line(LLAMA, "tracing", "1"), answer -> answer.startsWith("refused "));
        }
    }

    @Test
    void requestsChooseTheRulesByName() throws Exception {
        String[] run = {
            "run",
            "-m",
            LLAMA.toString(),
            "-p",
            "ab",
            "-n",
            "20",
            "--temp",
            "9",
            "-s",
            "1",
            "--ignore-eos",
            "--constraint"
        };
        String[] known = Arrays.copyOf(run, run.length + 1);
        known[run.length] = "letters=ab";
        assertEquals(2, platform.end(known).status(), "there is no such rule yet");
        assertTrue(platform.errors().contains("no bundle offers any"), platform::errors);
        platform.drop(Platform.jar("generation-rules"));
        String text = platform.run(known).getFirst();
        assertTrue(text.matches("ab[ab]+"), text);
        List<String> free = List.of("run", "-m", LLAMA.toString(), "-p", "a", "-n", "30", "--temp", "0", "--raw");
        List<String> ruled = new ArrayList<>(free);
        ruled.addAll(List.of("--logits-processor", "no-repeat=1"));
        List<String> plain = platform.run(free.toArray(String[]::new));
        assertNotEquals(plain, platform.run(ruled.toArray(String[]::new)));
        String listed = String.join("\n", platform.run("bundles", "--json"));
        assertTrue(
                listed.contains("\"ConstraintProvider letters\", \"LogitsProcessorProvider no-repeat\", "
                        + "\"SamplerProvider mirostat\", \"TokenProposerProvider phrases\""),
                listed);
        assertTrue(listed.contains("\"SamplerProvider\""), "the platform's own has no name");
        List<String> steered = new ArrayList<>(free);
        steered.set(steered.indexOf("--temp") + 1, "1");
        steered.addAll(List.of("-s", "1", "--sampler", "mirostat=0"));
        assertEquals(plain, platform.run(steered.toArray(String[]::new)), "tokens without a surprise");
        steered.set(steered.size() - 1, "mirostat=x");
        assertEquals(2, platform.end(steered.toArray(String[]::new)).status());
        assertTrue(platform.errors().contains("'x' is no number of bits"), platform::errors);
        List<String> proposed = new ArrayList<>(free);
        proposed.addAll(List.of("--speculate", "phrases=" + plain.getFirst()));
        assertEquals(plain, platform.run(proposed.toArray(String[]::new)));
    }

    @Test
    void modelsOfAFolderAreNamedUsedWhereTheyAreAndPulled() throws Exception {
        Path models = Files.createDirectory(folder.resolve("served"));
        Files.copy(LLAMA, models.resolve("small.gguf"));
        Map<String, String> variables = Map.of(
                "TENON_FOLDER_MODELS",
                models.toString(),
                "TENON_MODELS",
                folder.resolve("pulled").toString());
        String[] show = {"show", "folder:small"};
        Platform.Ended none = platform.end(folder, variables, show);
        assertEquals(2, none.status());
        assertTrue(
                platform.errors().contains("no registry 'folder' for folder:small; there are hf, ollama."),
                platform::errors);
        platform.drop(Platform.jar("registry-folder"));
        assertEquals(0, platform.end(folder, variables, show).status(), platform::errors);
        String[] run = {"run", "-m", "folder:small", "-p", "ab", "-n", "4", "--raw"};
        assertEquals(0, platform.end(folder, variables, run).status(), platform::errors);
        assertFalse(Files.exists(folder.resolve("pulled")));
        Path copy = folder.resolve("pulled/folder@3Asmall/small.gguf");
        assertEquals(
                List.of(copy.toString()),
                platform.end(folder, variables, "pull", "folder:small").lines());
        assertEquals(-1, Files.mismatch(LLAMA, copy));
        assertEquals(1, platform.end(folder, variables, "pull", "folder:large").status());
        assertTrue(platform.errors().contains("there are [small]"), platform::errors);
    }

    @Test
    void aRunningServerPullsFromARegistryThatCame() throws Exception {
        Path models = Files.createDirectory(folder.resolve("served"));
        Files.copy(Platform.DISTRIBUTION.resolve("models/story-qwen3-q4_k_m.gguf"), models.resolve("small.gguf"));
        Path kept = Files.createDirectory(folder.resolve("kept"));
        Process serve = platform.start(
                folder,
                Map.of("TENON_FOLDER_MODELS", models.toString()),
                "serve",
                "--port",
                "0",
                "--models-dir",
                kept.toString());
        try (BufferedReader out = serve.inputReader();
                HttpClient client = HttpClient.newHttpClient()) {
            String address = out.readLine().replace("Listening at ", "");
            String pull = "{\"model\": \"folder:small\", \"stream\": false}";
            HttpResponse<String> answer = post(client, address + "/api/pull", pull);
            assertTrue(answer.body().contains("no registry 'folder'"), answer::body);
            platform.drop(Platform.jar("registry-folder"));
            while (answer.body().contains("no registry")) {
                Thread.sleep(100);
                assertTrue(serve.isAlive(), platform::errors);
                answer = post(client, address + "/api/pull", pull);
            }
            assertEquals(200, answer.statusCode(), answer::body);
            String ask = "{\"model\": \"folder:small\", \"prompt\": \"Once\", \"max_tokens\": 2}";
            answer = post(client, address + "/v1/completions", ask);
            assertEquals(200, answer.statusCode(), answer::body);
        } finally {
            serve.destroy();
        }
    }

    private static HttpResponse<String> post(HttpClient client, String address, String body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(address))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void theBundlesAreListedWithWhatTheyOffer() throws Exception {
        for (String example : List.of(
                "model-sandwich",
                "model-dyt",
                "format-ex5",
                "backend-tracing",
                "kernel-jcublas",
                "endpoint-tokens",
                "registry-folder",
                "reply-format",
                "telemetry")) {
            platform.drop(Platform.jar(example));
        }
        List<String> bundles = String.join("\n", platform.run("bundles"))
                .replaceAll("\n {13}", " ") // what is indented belongs to the bundle above
                .lines()
                .toList();
        for (String[] expected : new String[][] {
            {"org.example.sandwich", "ModelArchitecture"},
            {"org.example.dyt", "ModelArchitecture"},
            {"org.example.dyt", "KernelProvider"},
            {"org.example.ex5", "QuantFormat"},
            {"org.example.tracing", "Backend"},
            {"org.example.jcublas", "KernelProvider"},
            {"org.example.tokens", "EndpointProvider"},
            {"org.example.replies", "ReplyFormatProvider"},
            {"org.example.telemetry", "BundleChangeListener"},
            {"org.example.telemetry", "MetricsExporter"},
            {"org.example.folder", "ModelRegistry"},
        }) {
            assertTrue(
                    bundles.stream()
                            .anyMatch(row -> row.contains("ACTIVE")
                                    && row.contains(" " + expected[0] + " ")
                                    && row.contains(expected[1])),
                    () -> List.of(expected) + " is not among\n" + String.join("\n", bundles));
        }
        List<String> devices = platform.run("devices");
        assertTrue(devices.stream().anyMatch(row -> row.contains("traces cpu-vector")), devices.toString());
    }
}
