package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.server.folder.FolderStore;
import dev.tenon.platform.server.models.ModelSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/// A hub with one model, the distribution's; it sends the second half of the file once the gate is open. A registry
/// beside it has the file itself, as `stub:tiny`.
final class StubHub implements AutoCloseable {
    static final String REFERENCE = "org/tiny-GGUF:Q4_K_M";

    final AtomicInteger downloads = new AtomicInteger();
    final CountDownLatch gate = new CountDownLatch(1);
    private final HttpServer server;

    StubHub() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] bytes;
            if (exchange.getRequestURI().getPath().startsWith("/api/models/org/tiny-GGUF")) {
                bytes = "{\"siblings\":[{\"rfilename\":\"tiny-Q4_K_M.gguf\"}]}".getBytes(StandardCharsets.UTF_8);
            } else if (exchange.getRequestURI().getPath().endsWith("/resolve/main/tiny-Q4_K_M.gguf")) {
                downloads.incrementAndGet();
                bytes = Files.readAllBytes(ServerFixture.MODEL);
            } else {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes, 0, bytes.length / 2);
            if (bytes.length > 1000) {
                gate.await();
            }
            exchange.getResponseBody().write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// {@return the models of a folder, which pulls from this hub}
    FolderStore store(Path folder) {
        String address = "http://" + server.getAddress().getHostString() + ":"
                + server.getAddress().getPort();
        return new FolderStore(
                folder,
                (name, file) -> ModelSpec.of(
                        name,
                        LoadRequest.builder(file)
                                .threads(2)
                                .companion(CompanionFile.beside(file).orElse(null))
                                .build()),
                new Registries(),
                key -> key.equals("hf.url") ? Optional.of(address) : Optional.empty());
    }

    private static final class Registries implements ModelRegistries, ModelRegistry {
        @Override
        public Optional<ModelRegistry> registry(String id) {
            return id.equals(id()) ? Optional.of(this) : Optional.empty();
        }

        @Override
        public List<String> registries() {
            return List.of(id());
        }

        @Override
        public String id() {
            return "stub";
        }

        @Override
        public List<RegistryFile> files(String reference) {
            assertEquals("tiny", reference);
            return List.of(new RegistryFile("stub-tiny.gguf", ServerFixture.MODEL.toUri(), -1, "", Map.of()));
        }
    }

    @Override
    public void close() {
        gate.countDown();
        server.stop(0);
    }
}
