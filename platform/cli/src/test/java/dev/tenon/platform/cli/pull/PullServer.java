package dev.tenon.platform.cli.pull;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.hub.Origin;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A server with a file, a repository and parts of a split model, and a command line that pulls from it.
abstract class PullServer {
    @TempDir
    Path folder;

    final List<String> requests = new CopyOnWriteArrayList<>();
    final List<String> listed = new ArrayList<>();
    final byte[] content = TestGguf.model(75_000, 1);
    final Map<String, byte[]> parts = new HashMap<>();
    HttpServer server;
    ExecutorService threads;
    TestCli cli;
    String sha256;
    String etag = "\"one\"";
    int cutAfter = -1;
    int failuresLeft;
    volatile boolean silent;
    volatile CountDownLatch gate;
    final CompletableFuture<Void> endOfTest = new CompletableFuture<>();

    @BeforeEach
    void setUp() throws Exception {
        sha256 = sha256(content);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        threads = Executors.newVirtualThreadPerTaskExecutor();
        server.setExecutor(threads);
        server.start();
        cli = new TestCli(folder);
        cli.settings.put("hf.url", url(""));
        listed.addAll(List.of("README.md", "tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf", "tiny-imatrix-Q4_K_M.gguf"));
    }

    @AfterEach
    void tearDown() {
        endOfTest.complete(null);
        server.stop(0);
        threads.shutdownNow();
    }

    String url(String path) {
        return "http://" + server.getAddress().getHostString() + ":"
                + server.getAddress().getPort() + path;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString();
            requests.add(path + " " + exchange.getRequestHeaders().getFirst("Range") + " "
                    + exchange.getRequestHeaders().getFirst("Authorization"));
            if (path.startsWith("/api/models/org/repo")) {
                send(exchange, 200, listing().getBytes(StandardCharsets.UTF_8));
            } else if (path.equals("/moved.gguf")) {
                exchange.getResponseHeaders().add("Location", "/file.gguf");
                exchange.sendResponseHeaders(302, -1);
            } else if (path.equals("/loop.gguf")) {
                exchange.getResponseHeaders().add("Location", "/loop.gguf");
                exchange.sendResponseHeaders(307, -1);
            } else if (path.equals("/page.gguf")) {
                send(exchange, 200, "<html>Please log in</html>".getBytes(StandardCharsets.UTF_8));
            } else if (path.equals("/busy.gguf") && failuresLeft-- > 0) {
                exchange.sendResponseHeaders(503, -1);
            } else if (path.equals("/file.gguf")
                    || path.startsWith("/other/")
                    || parts.containsKey(path.substring(1))
                    || path.equals("/busy.gguf")
                    || path.startsWith("/org/repo/resolve/main/")) {
                file(exchange);
            } else {
                exchange.sendResponseHeaders(404, -1);
            }
        }
    }

    private byte[] bytes(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        return parts.getOrDefault(path.substring(path.lastIndexOf('/') + 1), content);
    }

    String sha256(byte... bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private String listing() {
        return listed.stream()
                .map(name -> {
                    byte[] part = parts.get(name.substring(name.lastIndexOf('/') + 1));
                    int size = part == null ? content.length : part.length;
                    return "{\"rfilename\":\"" + name + "\",\"size\":" + size + ",\"lfs\":{\"sha256\":\""
                            + (part == null ? sha256 : sha256(part)) + "\",\"size\":" + size + "}}";
                })
                .collect(Collectors.joining(",", "{\"siblings\":[", "]}"));
    }

    private void file(HttpExchange exchange) throws IOException {
        byte[] content = bytes(exchange);
        exchange.getResponseHeaders().add("ETag", etag);
        String range = exchange.getRequestHeaders().getFirst("Range");
        String ifRange = exchange.getRequestHeaders().getFirst("If-Range");
        int from = range == null || ifRange != null && !ifRange.equals(etag)
                ? 0
                : Integer.parseInt(range.replaceAll("\\D", ""));
        if (from >= content.length) {
            exchange.getResponseHeaders().add("Content-Range", "bytes */" + content.length);
            exchange.sendResponseHeaders(416, -1);
            return;
        }
        if (from > 0) {
            exchange.getResponseHeaders()
                    .add("Content-Range", "bytes " + from + "-" + (content.length - 1) + "/" + content.length);
        }
        exchange.sendResponseHeaders(from > 0 ? 206 : 200, content.length - from);
        int end = cutAfter < 0 ? content.length : Math.min(content.length, from + cutAfter);
        OutputStream body = exchange.getResponseBody();
        if (silent) {
            body.write(content, from, from == 0 ? 1000 : 0);
            body.flush();
            endOfTest.join();
        }
        if (gate != null) {
            await(gate);
        }
        body.write(content, from, end - from);
        body.flush();
        // Leaving without the rest makes the server drop the connection.
    }

    private static void await(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void send(HttpExchange exchange, int status, byte... body) throws IOException {
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    Path target() {
        return folder.resolve("models/file.gguf");
    }

    List<String> names() throws IOException {
        try (var files = Files.list(target().getParent())) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    void part(byte[] bytes, String url, String etag, long length) throws IOException {
        Files.createDirectories(target().getParent());
        Path part = Files.write(folder.resolve("models/file.gguf.part"), bytes);
        new Origin(url, etag, "", length).write(part);
    }
}
