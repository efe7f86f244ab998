package dev.tenon.platform.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The image as a container runtime sees it: layers, configuration, and the process on a read-only root. The limit on
/// time ends a hang.
@Timeout(300)
class ImageIT {
    private static final Path MODELS =
            Path.of("../launcher/src/main/dist/models").toAbsolutePath();
    private static final long LARGEST = 66_000_000;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    static Path folder;

    private static Path root;
    private static JsonNode manifest;
    private static JsonNode config;

    @BeforeAll
    static void unpack() throws Exception {
        Path image = Files.createDirectory(folder.resolve("image"));
        root = Files.createDirectory(folder.resolve("root"));
        assertEquals(
                "",
                run(
                        "tar",
                        "--warning=no-unknown-keyword",
                        "-xf",
                        System.getProperty("tenon.test.image"),
                        "-C",
                        image.toString()));
        JsonNode index = MAPPER.readTree(image.resolve("index.json").toFile());
        manifest = MAPPER.readTree(blob(image, index.at("/manifests/0/digest")).toFile());
        config = MAPPER.readTree(blob(image, manifest.at("/config/digest")).toFile());
        for (JsonNode layer : manifest.get("layers")) {
            assertEquals(
                    "",
                    run(
                            "tar",
                            "--warning=no-unknown-keyword",
                            "-xzpf",
                            blob(image, layer.get("digest")).toString(),
                            "-C",
                            root.toString()));
        }
    }

    private static Path blob(Path image, JsonNode digest) {
        return image.resolve("blobs").resolve(digest.asText().replace(':', '/'));
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        process.waitFor();
        return output;
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    @Test
    void itIsSmallAndHasALayerForWhatChangesTogether() {
        long bytes = 0;
        for (JsonNode layer : manifest.get("layers")) {
            bytes += layer.get("size").asLong();
        }
        assertEquals(3, manifest.get("layers").size());
        assertTrue(bytes <= LARGEST, bytes + " bytes");
        System.out.printf("Layers of the image: %,d bytes, compressed%n", bytes);
    }

    @Test
    void theProcessIsNoSuperuserAndNeedsNoShell() {
        assertEquals("65532:65532", config.at("/config/User").asText());
        assertEquals(
                "/opt/java/bin/java", texts(config.at("/config/Entrypoint")).getFirst());
        assertEquals(List.of("serve"), texts(config.at("/config/Cmd")));
        assertTrue(config.at("/config/ExposedPorts").has("8080/tcp"));
        assertEquals("linux", config.get("os").asText());
        assertFalse(Files.exists(root.resolve("bin/sh")));
    }

    @Test
    void nothingButTheFolderForTemporaryFilesCanBeWrittenByOthers() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            assertEquals(
                    List.of(root.resolve("tmp")),
                    all.filter(path -> !path.equals(root) && mayBeWrittenByOthers(path))
                            .toList());
        }
    }

    private static boolean mayBeWrittenByOthers(Path path) {
        try {
            return Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS)
                    .contains(PosixFilePermission.OTHERS_WRITE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /// As a container runtime starts it: name spaces of its own, a read-only root, `/tmp` in memory, user and
    /// environment of the image. The port is a free one of loopback, for the network is shared with the test.
    private static Process start(String... arguments) throws IOException {
        return startWith(List.of(), arguments);
    }

    /// The same with further variables, `NAME=VALUE`.
    private static Process startWith(List<String> variables, String... arguments) throws IOException {
        for (String name : List.of("proc", "dev")) {
            Files.createDirectories(root.resolve(name));
        }
        List<String> command = new ArrayList<>(List.of("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh"));
        command.addAll(List.of("-ec", """
                root=$1 models=$2
                shift 2
                mount --bind "$root" "$root"
                mount -o remount,ro,bind "$root"
                mount -t tmpfs tmpfs "$root/tmp"
                mount -t proc proc "$root/proc"
                mount --bind /dev "$root/dev"
                mount --bind "$models" "$root/models"
                exec "$@"
                """, "sh", root.toString(), MODELS.toString()));
        command.addAll(List.of("/usr/bin/env", "-i"));
        command.addAll(texts(config.at("/config/Env")));
        command.addAll(variables);
        command.addAll(List.of(
                "/usr/sbin/chroot", "--userspec=" + config.at("/config/User").asText(), root.toString()));
        command.addAll(texts(config.at("/config/Entrypoint")));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(folder.resolve("errors").toFile())
                .start();
    }

    private static void requireRoot() throws Exception {
        assumeTrue(
                run("id", "-u").strip().equals("0")
                        && run("unshare", "--mount", "--pid", "--fork", "true").isEmpty(),
                "skipped: only the superuser may make the name spaces that stand for a container");
    }

    @Test
    void itServesOnAReadOnlyRootAndEndsAtSigterm() throws Exception {
        requireRoot();
        Process process = start("serve", "--host", "127.0.0.1", "--port", "0", "--backend", "cpu-vector");
        try (HttpClient client = HttpClient.newHttpClient();
                BufferedReader out = process.inputReader()) {
            String line = out.readLine();
            assertTrue(line != null && line.startsWith("Listening at http://"), () -> line + errors());
            String address = line.substring("Listening at ".length());
            for (String path : List.of("/livez", "/readyz", "/metrics")) {
                assertEquals(200, get(client, address + path).statusCode(), path);
            }
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(address + "/v1/completions"))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString(
                                    "{\"prompt\":\"Once upon a time\",\"max_tokens\":4,\"temperature\":0}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertEquals(200, answer.statusCode(), answer::body);
            assertEquals(
                    4,
                    MAPPER.readTree(answer.body())
                            .at("/usage/completion_tokens")
                            .asInt());
            ProcessHandle java = process.descendants()
                    .filter(each -> each.info().command().orElse("").endsWith("java"))
                    .findFirst()
                    .orElseThrow();
            assertTrue(java.destroy());
            assertEquals(0, process.waitFor(), ImageIT::errors);
            assertEquals("", errors().replaceFirst("(?m)^.*INFO.*$", "").strip());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aHeapMayBeSmallerThanItUsuallyBegins() throws Exception {
        requireRoot();
        Process process = startWith(List.of("JDK_JAVA_OPTIONS=-Xmx64m"), "devices");
        assertEquals(0, process.waitFor(), ImageIT::errors);
    }

    @Test
    void itDoesNotServeOthersWithoutAKey() throws Exception {
        requireRoot();
        Process process = start("serve");
        process.waitFor();
        assertTrue(errors().contains("--api-key-file"), ImageIT::errors);
        assertTrue(process.exitValue() != 0);
    }

    private static HttpResponse<String> get(HttpClient client, String address) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String errors() {
        try {
            return Files.readString(folder.resolve("errors"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
