package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Projects that `tenon new` made from the archetypes, and that nobody has changed: built as their authors do, with
/// nothing but
/// the distribution, and their jars in a running platform.
///
/// Long: the projects are made and built by builds of their own.
@Tag("long")
class ArchetypesIT {
    /// What Maven made of the same archetypes.
    private static final Path MADE = Path.of(System.getProperty("tenon.archetypes"));
    private static final Path GOLDEN =
            Path.of("../golden/src/test/resources/golden").toAbsolutePath();
    private static final Path LLAMA = GOLDEN.resolve("models/llama-gqa.f16.gguf");
    /// What the archetypes have for defaults, and their tests say.
    private static final Map<String, List<String>> NAMES = Map.of(
            "format", List.of("--id", "MY8", "--number", "50008"),
            "model", List.of("--id", "mylma"),
            "encoder", List.of(),
            "backend", List.of("--id", "mine"),
            "tokenizer", List.of(),
            "sampler", List.of(),
            "command", List.of(),
            "endpoint", List.of());

    @TempDir
    static Path shared;

    private static Path projects;
    private static Platform author;
    /// Where Maven keeps what it has downloaded: not the user's folder, nor one in which our jars are.
    private static Map<String, String> maven;

    @TempDir
    Path folder;

    @BeforeAll
    static void installTheDistribution() throws IOException {
        author = new Platform(Files.createDirectories(shared.resolve("author")));
        projects = Files.createDirectories(shared.resolve("projects"));
        maven = Map.of("MAVEN_OPTS", "-Dmaven.repo.local=" + shared.resolve("repository"));
    }

    /// Has `tenon new` make a project, unless it did; its build takes plug-ins from the local repository around.
    private static Path project(String kind) throws Exception {
        Path project = projects.resolve("my-" + kind);
        if (!Files.exists(project)) {
            List<String> command = new ArrayList<>(List.of("new", kind, "my-" + kind));
            command.addAll(NAMES.get(kind));
            Platform.Ended ended = author.end(projects, maven, command.toArray(String[]::new));
            assertEquals(0, ended.status(), () -> ended.lines() + author.errors());
            Path settings = shared.resolve("settings.xml");
            Path around = Path.of(System.getProperty("tenon.repository"));
            String text = Files.readString(Path.of("src/it/settings.xml"));
            Files.writeString(
                    settings,
                    text.replace("@localRepositoryUrl@", around.toUri().toString()));
            List<String> options =
                    new ArrayList<>(List.of("--settings=" + settings, "-Daether.offline.protocols=file"));
            if ("offline=true".equals(System.getProperty("tenon.network"))) {
                options.add("--offline");
            }
            Files.write(project.resolve(".mvn/maven.config"), options);
        }
        return project;
    }

    private static Platform.Ended dev(String kind, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of("dev", "--once"));
        command.addAll(List.of(more));
        return author.end(project(kind), maven, command.toArray(String[]::new));
    }

    /// The jar of a project, which is built on the first call.
    private static Path jar(String kind) throws Exception {
        Path jar = project(kind).resolve("target/my-" + kind + "-1.0.0.jar");
        if (!Files.exists(jar)) {
            Platform.Ended ended = dev(kind);
            assertEquals(0, ended.status(), () -> ended.lines() + author.errors() + logs(kind));
            String name = "com.example.my" + kind + " 1.0.0";
            step("build", name + ", \\d+ tests passed", ended.lines().get(0));
            step(
                    "contract",
                    "\\d+ passed, 0 failed, \\d+ skipped",
                    ended.lines().get(1));
            step(
                    "update",
                    name + " was installed; no other platform is running",
                    ended.lines().get(2));
            step("compare", "not done: .*", ended.lines().get(3));
        }
        return jar;
    }

    private static void step(String name, String pattern, String line) {
        assertTrue(line.matches(name + " +\\d+\\.\\d s  " + pattern), line);
    }

    private static String logs(String kind) {
        StringBuilder text = new StringBuilder();
        for (String step : List.of("build", "contract", "compare")) {
            Path log = projects.resolve("my-" + kind + "/target/tenon-dev/" + step + ".log");
            try {
                text.append("\n").append(Files.exists(log) ? Files.readString(log) : log + " is not there");
            } catch (IOException e) {
                text.append(e);
            }
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"format", "model", "encoder", "backend", "tokenizer", "sampler", "command", "endpoint"})
    void theCommandMakesWhatTheArchetypePluginMakes(String kind) throws Exception {
        Path made = MADE.resolve(kind + "/out/my-" + kind);
        Path project = project(kind);
        Map<String, String> expected = files(made);
        Map<String, String> found = files(project);
        // The wrapper is the command's own; the other file is this test's.
        for (String own : List.of("mvnw", ".mvn/find-java.sh", ".mvn/wrapper/maven-wrapper.properties")) {
            assertEquals(Files.readString(Path.of("../..").resolve(own)), found.remove(own), own);
        }
        found.remove(".mvn/maven.config");
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((path, text) -> assertEquals(text, found.get(path), path));
    }

    /// The files of a project without what its build made.
    private static Map<String, String> files(Path project) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(project)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String path = project.relativize(file).toString();
                if (!path.startsWith("target")) {
                    files.put(path, Files.readString(file));
                }
            }
        }
        assertTrue(files.size() >= 4, files.keySet().toString());
        return files;
    }

    @Test
    void aChangeReachesTheRunningPlatform() throws Exception {
        jar("format");
        Path source = project("format").resolve("src/main/java/com/example/myformat/MyFormat.java");
        String text = Files.readString(source);
        Path model = shared.resolve("llama.my8.gguf");
        author.run("quantize", LLAMA.toString(), model.toString(), "MY8");
        try (Platform.Running running = author.new Running()) {
            running.askUntil(line(model, "auto"), answer -> answer.startsWith("done "));
            Files.writeString(source, text.replace("bytesFor(n), target", "bytesFor(n)  target"));
            Platform.Ended wrong = dev("format", "-m", model.toString());
            assertEquals(1, wrong.status());
            assertEquals(1, wrong.lines().size(), wrong.lines().toString());
            step(
                    "build",
                    "failed: src/main/java/com/example/myformat/MyFormat.java:\\[\\d+,\\d+] .* expected; all of it:"
                            + " target/tenon-dev/build.log",
                    wrong.lines().getFirst());
            // The encoder gives other levels; what is decoded does not change.
            Files.writeString(source, text.replace("largest / (ZERO - 1)", "largest / ZERO"));
            Platform.Ended ended = dev("format", "-m", model.toString());
            assertEquals(0, ended.status(), () -> ended.lines() + author.errors() + logs("format"));
            step(
                    "update",
                    "com.example.myformat 1.0.0 was replaced by com.example.myformat 1.0.0 in process " + running.pid(),
                    ended.lines().get(2));
            step("compare", "\\d+ ops compared, none diverges", ended.lines().get(3));
            assertTrue(running.ask(line(model, "auto")).startsWith("done "), author::errors);
        } finally {
            Files.writeString(source, text);
        }
    }

    private String line(Path model, String backend) {
        return model + " " + backend + " 1,2,3,4,5 " + folder.resolve("logits.f32");
    }

    private float[] logits() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("logits.f32")))
                .order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[bytes.remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(values);
        return values;
    }

    private static double nmse(float[] got, float[] truth) {
        assertEquals(truth.length, got.length);
        double error = 0;
        double power = 0;
        for (int i = 0; i < got.length; i++) {
            double d = (double) got[i] - truth[i];
            error += d * d;
            power += (double) truth[i] * truth[i];
        }
        return error / power;
    }

    /// The llama's file with another name for its architecture, of as many letters.
    private Path renamed() throws IOException {
        String file = Files.readString(LLAMA, StandardCharsets.ISO_8859_1);
        String renamed = file.replace("llama.", "mylma.").replaceFirst("(general\\.architecture.{12})llama", "$1mylma");
        Path target = folder.resolve("mylma.gguf");
        Files.writeString(target, renamed, StandardCharsets.ISO_8859_1);
        return target;
    }

    @Test
    void aModelRunsWithTheTokenizerAndTheSampler() throws Exception {
        Platform platform = new Platform(folder);
        Path model = folder.resolve("bytes.gguf");
        BytesModel.write(LLAMA, model, "my-tokenizer");
        assertEquals(
                1, platform.end("tokenize", "-m", model.toString(), "-p", "ab").status(), "there is no such tokenizer");
        platform.drop(jar("tokenizer"));
        platform.drop(jar("sampler"));
        List<String> tokens = platform.run("tokenize", "-m", model.toString(), "--ids", "-p", "ab");
        assertEquals(List.of("[1, 100, 101]"), tokens, "BOS, and the bytes behind three control tokens");
        String[] run = {
            "run", "-m", model.toString(), "-p", "Once", "-n", "8", "-s", "7", "--temp", "5", "--sampler", ""
        };
        run[run.length - 1] = "my-sampler=2";
        List<String> text = platform.run(run);
        assertEquals(text, platform.run(run), "the same seed");
        assertTrue(text.getFirst().startsWith("Once"), text::toString);
        run[run.length - 1] = "my-sampler=0";
        List<String> best = platform.run(run);
        assertNotEquals(text, best);
        run[run.length - 3] = "0";
        assertEquals(best, platform.run(run), "no deviation leaves the best token");
    }

    @Test
    void theBundlesWorkAsTheyWereMade() throws Exception {
        Platform platform = new Platform(folder);
        Path my8 = folder.resolve("llama.my8.gguf");
        platform.drop(jar("format"));
        platform.run("quantize", LLAMA.toString(), my8.toString(), "MY8");
        Path mylma = renamed();
        try (Platform.Running running = platform.new Running()) {
            assertTrue(running.ask(line(LLAMA, "mine")).contains("BACKEND-001"), "there is no such backend yet");
            assertTrue(running.ask(line(mylma, "auto")).contains("MODEL-003"), "there is no such architecture yet");
            running.ask(line(LLAMA, "auto"));
            float[] truth = logits();
            running.askUntil(line(my8, "auto"), answer -> answer.startsWith("done "));
            double sixBits = nmse(logits(), truth);
            assertTrue(sixBits > 1e-5 && sixBits < 0.03, "NMSE of MY8: " + sixBits);
            platform.drop(jar("backend"));
            running.askUntil(line(LLAMA, "mine"), answer -> answer.equals("done [plain.java]"));
            assertTrue(nmse(logits(), truth) < 1e-8, "NMSE of the backend: " + nmse(logits(), truth));
            platform.drop(jar("model"));
            running.askUntil(line(mylma, "auto"), answer -> answer.startsWith("done "));
            // Of the same weights, with pairs rotated in the other way: another model.
            double other = nmse(logits(), truth);
            assertTrue(other > 1e-4, "NMSE of the other architecture: " + other);
        }
        List<String> bundles = platform.run("bundles");
        for (String name : List.of("com.example.myformat", "com.example.mymodel", "com.example.mybackend")) {
            assertTrue(
                    bundles.stream().anyMatch(row -> row.contains("ACTIVE") && row.contains(" " + name + " ")),
                    () -> name + " is not among\n" + String.join("\n", bundles));
        }
    }

    /// The companion of Gemma 3 with another encoder, whose second matrix changes nothing; returns the sums of the rows
    /// of its first one.
    private static float[] companion(Path target) throws IOException {
        TinyGguf written = new TinyGguf();
        try (GgufFile file = GgufReader.open(GOLDEN.resolve("vision/gemma3.mmproj.gguf"), TensorTypes.standard())) {
            written.putAll(file.metadata().values()).put("clip.projector_type", GgufValue.of("my-encoder"));
            TensorInfo patches = file.tensor("v.patch_embd.weight").orElseThrow();
            byte[] data = file.data(patches).toArray(ValueLayout.JAVA_BYTE);
            int width = patches.shape().getLast().intValue();
            float[] same = new float[width * width];
            IntStream.range(0, width).forEach(i -> same[i * width + i] = 1);
            written.tensor(patches.name(), patches.ggmlType(), patches.shape(), data)
                    .tensor("mm.0.weight", 0, List.of((long) width, (long) width), TinyGguf.f32(same))
                    .write(target);
            float[] sums = new float[width];
            ByteBuffer halves = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
            int pixels = data.length / Short.BYTES / width;
            for (int i = 0; i < width * pixels; i++) {
                sums[i / pixels] += Float.float16ToFloat(halves.getShort());
            }
            return sums;
        }
    }

    @Test
    void theEncoderMakesRowsOfPictures() throws Exception {
        Platform platform = new Platform(folder);
        Path companion = folder.resolve("my.mmproj.gguf");
        float[] sums = companion(companion);
        Path picture = folder.resolve("black.png");
        ImageIO.write(new BufferedImage(30, 20, BufferedImage.TYPE_INT_RGB), "png", picture.toFile());
        String[] encode = {
            "encode",
            "-m",
            GOLDEN.resolve("vision/gemma3.text.gguf").toString(),
            "--mmproj",
            companion.toString(),
            "--image",
            picture.toString(),
            "-o",
            folder.resolve("logits.f32").toString()
        };
        assertEquals(1, platform.end(encode).status(), "there is no such encoder");
        platform.drop(jar("encoder"));
        platform.run(encode);
        float[] rows = logits();
        float[] expected = new float[9 * sums.length];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = -sums[i % sums.length]; // black is -1
        }
        assertTrue(nmse(rows, expected) < 1e-9, () -> "NMSE of the rows: " + nmse(rows, expected));
    }

    @Test
    void theEndPointAnswersInARunningServer() throws Exception {
        Platform platform = new Platform(folder);
        Path model = Platform.DISTRIBUTION.resolve("models/story-qwen3-q4_k_m.gguf");
        Process serve = platform.start(Path.of(""), Map.of(), "serve", "--port", "0", "-m", "story=" + model);
        try (BufferedReader out = serve.inputReader();
                HttpClient client = HttpClient.newHttpClient()) {
            String address = out.readLine().replace("Listening at ", "");
            HttpRequest request = HttpRequest.newBuilder(URI.create(address + "/my-endpoint"))
                    .POST(HttpRequest.BodyPublishers.ofString("{\"text\": \"Once upon a time\"}"))
                    .build();
            assertEquals(404, send(client, request).statusCode());
            platform.drop(jar("endpoint"));
            HttpResponse<String> answer = send(client, request);
            while (answer.statusCode() == 404) {
                Thread.sleep(100);
                assertTrue(serve.isAlive(), platform::errors);
                answer = send(client, request);
            }
            assertTrue(answer.body().matches(".*\"tokens\":[1-9].*"), answer::body);
            assertTrue(answer.body().contains("\"model\":\"story\""), answer::body);
        } finally {
            serve.destroy();
        }
    }

    private static HttpResponse<String> send(HttpClient client, HttpRequest request) throws Exception {
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
