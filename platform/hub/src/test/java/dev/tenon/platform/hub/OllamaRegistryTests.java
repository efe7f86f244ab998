package dev.tenon.platform.hub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.RegistryFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A folder as Ollama keeps it, and a library that answers as Ollama's does.
class OllamaRegistryTests {
    private static final String DIGEST = "0123456789abcdef".repeat(4);
    private static final String MODEL = layer("model", "sha256:" + DIGEST, 42);
    private static final String TEMPLATE = layer("template", "sha256:" + "f".repeat(64), 7);

    @TempDir
    Path folder;

    private final Map<String, String> manifests = new ConcurrentHashMap<>();
    private final List<String> asked = new ArrayList<>();
    private HttpServer library;
    private OllamaRegistry registry;

    private static String layer(String kind, String digest, int size) {
        return "{\"mediaType\":\"application/vnd.ollama.image." + kind + "\",\"digest\":\"" + digest + "\",\"size\":"
                + size + "}";
    }

    private static String manifest(String... layers) {
        return "{\"schemaVersion\":2,\"layers\":[" + String.join(",", layers) + "]}";
    }

    @BeforeEach
    void start() throws IOException {
        library = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        library.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            asked.add(path);
            String answer = manifests.get(path);
            byte[] bytes = String.valueOf(answer).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer == null ? 404 : 200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        library.start();
        URI address = URI.create("http://127.0.0.1:" + library.getAddress().getPort());
        registry = new OllamaRegistry(name -> name.equals("OLLAMA_MODELS") ? folder.toString() : null, address);
    }

    @AfterEach
    void stop() {
        library.stop(0);
    }

    private void pulled(String place, String manifest) throws IOException {
        Path file = folder.resolve("manifests/registry.ollama.ai").resolve(place);
        Files.createDirectories(file.getParent());
        Files.writeString(file, manifest);
    }

    private Path blob(String digest) throws IOException {
        Files.createDirectories(folder.resolve("blobs"));
        return Files.write(folder.resolve("blobs/sha256-" + digest), new byte[42]);
    }

    @Test
    void whatOllamaHasPulledIsUsedWhereItIs() throws IOException {
        pulled("library/story/latest", manifest(TEMPLATE, MODEL));
        Path blob = blob(DIGEST);
        List<RegistryFile> files = registry.files("story");
        assertEquals(List.of(new RegistryFile("story-latest.gguf", blob.toUri(), 42, DIGEST, Map.of())), files);
        assertEquals(List.of(), asked);
    }

    @Test
    void othersComeFromTheLibrary() throws IOException {
        manifests.put("/v2/library/story/manifests/24m", manifest(MODEL, TEMPLATE));
        manifests.put("/v2/ann/story/manifests/latest", manifest(MODEL));
        RegistryFile file = registry.files("story:24m").getFirst();
        assertEquals("story-24m.gguf", file.name());
        assertEquals("/v2/library/story/blobs/sha256:" + DIGEST, file.uri().getPath());
        assertEquals(DIGEST, file.sha256());
        assertEquals(42, file.size());
        pulled("ann/story/latest", manifest(MODEL)); // and its file is gone
        assertEquals(
                "/v2/ann/story/blobs/sha256:" + DIGEST,
                registry.files("ann/story").getFirst().uri().getPath());
    }

    @Test
    void theProjectorOfAModelIsItsCompanion() throws IOException {
        String digest = "9".repeat(64);
        String manifest = manifest(layer("projector", "sha256:" + digest, 43), MODEL, TEMPLATE);
        manifests.put("/v2/library/story/manifests/24m", manifest);
        List<RegistryFile> files = registry.files("story:24m");
        assertEquals(
                List.of("story-24m.gguf", "mmproj-story-24m.gguf"),
                files.stream().map(RegistryFile::name).toList());
        assertEquals(
                "/v2/library/story/blobs/sha256:" + digest,
                files.getLast().uri().getPath());
        assertEquals(digest, files.getLast().sha256());
        assertEquals(43, files.getLast().size());
        pulled("library/story/24m", manifest);
        blob(DIGEST);
        assertEquals(files, registry.files("story:24m"), "one blob is missing");
        Path projector = blob(digest);
        assertEquals(projector.toUri(), registry.files("story:24m").getLast().uri());
        manifests.put("/v2/library/two/manifests/latest", manifest.replace("image.template", "image.projector"));
        assertTrue(failure("two").contains("has 1 GGUF files and 2 projectors"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"../story", "a/b/c", "story:", ":latest", "", "story:../x", "stor y"})
    void otherFormsAreRefused(String reference) {
        TenonException refused = assertThrows(TenonException.class, () -> registry.files(reference));
        assertEquals("CLI-001", refused.code());
    }

    @Test
    void whatIsNoSingleModelIsRefused() throws IOException {
        assertTrue(failure("absent").contains("no library/absent:latest"));
        pulled("library/adapted/latest", manifest(MODEL, layer("adapter", "sha256:" + DIGEST, 1)));
        assertTrue(failure("adapted").contains("adapter"));
        pulled("library/empty/latest", manifest(TEMPLATE));
        assertTrue(failure("empty").contains("has 0 GGUF files"));
        pulled("library/wrong/latest", manifest(layer("model", "sha256:../../etc/passwd", 1)));
        assertTrue(failure("wrong").contains("has the digest"));
        pulled("library/torn/latest", "{\"layers\": [");
        assertTrue(failure("torn").contains("no manifest"));
    }

    private String failure(String reference) {
        TenonException failure = assertThrows(TenonException.class, () -> registry.files(reference));
        assertEquals("IO-002", failure.code());
        return failure.getMessage();
    }
}
