package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.TenonException;
import dev.tenon.platform.server.http.HttpLimits;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Clients that are slow, do not read, or vanish; TLS; clocks. The limit on time ends a hang.
@Timeout(180)
class ConnectionTests {
    private static final String PATH = "/v1/chat/completions";
    private static final String LONG =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"ignore_eos\":true%s}";
    private static final HttpLimits SHORT =
            HttpLimits.defaults().withTimes(Duration.ofMillis(300), Duration.ofMillis(600), Duration.ofSeconds(15));

    @TempDir
    Path folder;

    private static String head(int length) {
        return "POST " + PATH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                + length + "\r\n\r\n";
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void await(BooleanSupplier what) throws InterruptedException {
        while (!what.getAsBoolean()) {
            Thread.sleep(5);
        }
    }

    private static double metric(ServerFixture server, String name) {
        try {
            return server.get("/metrics")
                    .body()
                    .lines()
                    .filter(line -> line.startsWith("tenon:" + name))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void tool(String... command) throws Exception {
        Process tool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, tool.waitFor(), said);
    }

    private Path keyStore() throws Exception {
        Path store = folder.resolve("store.p12");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        tool(
                keytool,
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                "secret");
        return store;
    }

    /// A stream that takes longer than a header may: only headers have that limit.
    @Test
    void aKeyStoreMakesItSpeakTls() throws Exception {
        Path store = keyStore();
        KeyStore trusted = KeyStore.getInstance(store.toFile(), "secret".toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        HttpLimits limits = HttpLimits.defaults()
                .withTimes(Duration.ofSeconds(2), Duration.ofSeconds(20), Duration.ofSeconds(15))
                .withConnectionsPerAddress(1);
        try (ServerFixture server = new ServerFixture(
                        b -> b.tls(store, "secret").context(2048).limits(limits));
                HttpClient client = HttpClient.newBuilder().sslContext(context).build()) {
            assertTrue(server.server.address().startsWith("https://"));
            long begin = System.nanoTime();
            HttpRequest request = server.request(PATH, LONG.formatted(",\"stream\":true,\"n\":4,\"max_tokens\":1900"))
                    .build();
            HttpResponse<Stream<String>> stream = client.send(request, HttpResponse.BodyHandlers.ofLines());
            assertEquals(200, stream.statusCode());
            long events =
                    stream.body().filter(line -> line.startsWith("data: ")).count();
            assertTrue(events > 100, "events: " + events);
            assertTrue(
                    System.nanoTime() - begin > limits.headerTime().toNanos(),
                    "the stream has to take longer than a header may");
            try (Socket plain = new Socket("127.0.0.1", server.server.port())) {
                write(plain, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
                String answer = new String(plain.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                assertFalse(answer.contains("200"), answer);
            }
        }
    }

    @Test
    void aKeyStoreThatCannotBeOpenedIsToldAtTheStart() throws Exception {
        Path store = keyStore();
        TenonException e =
                assertThrows(TenonException.class, () -> new ServerFixture(b -> b.tls(store, "wrong")).close());
        assertTrue(e.getMessage().toLowerCase(Locale.ROOT).contains("password"), e::getMessage);
    }

    @Test
    void aBodyThatComesTooSlowlyOrNotAtAllEndsTheConnection() throws Exception {
        for (boolean slowly : new boolean[] {true, false}) {
            try (ServerFixture server = new ServerFixture(b -> b.limits(SHORT));
                    Socket socket = new Socket("127.0.0.1", server.server.port())) {
                write(socket, head(100_000));
                if (slowly) {
                    dribble(socket);
                }
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertTrue(slowly ? answer.startsWith("HTTP/1.1 408") : !answer.contains("200"), answer);
            }
        }
    }

    /// Sends a byte now and then until the server ends the connection, or answers.
    private static void dribble(Socket socket) throws Exception {
        try {
            while (socket.getInputStream().available() == 0) {
                write(socket, " ");
                Thread.sleep(20);
            }
        } catch (IOException e) {
            assertTrue(e.getMessage().matches("(?i).*(reset|broken pipe|abort).*"), e::getMessage);
        }
    }

    /// The socket of the client holds little, so the server's writes block before long.
    @Test
    void aStreamThatIsNotReadIsDropped() throws Exception {
        try (ServerFixture server =
                        new ServerFixture(b -> b.limits(SHORT).parallel(4).context(2048));
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4096);
            socket.connect(new InetSocketAddress("127.0.0.1", server.server.port()));
            String body = LONG.formatted(",\"stream\":true,\"n\":4,\"logprobs\":true,\"top_logprobs\":20");
            write(socket, head(body.length()) + body);
            await(() -> metric(server, "num_requests_running") > 0);
            await(() -> metric(server, "num_requests_running") == 0);
            assertEquals(0, metric(server, "request_success_total"), "generations that ended by themselves");
        }
    }

    /// A reset instead of an end: the pipe of the next event is broken.
    @Test
    void aConnectionThatIsResetEndsItsGeneration() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.parallel(1).context(2048))) {
            try (Socket socket = new Socket("127.0.0.1", server.server.port())) {
                socket.setSoLinger(true, 0);
                String body = LONG.formatted(",\"stream\":true");
                write(socket, head(body.length()) + body);
                assertEquals('H', socket.getInputStream().read());
            }
            await(() -> metric(server, "num_requests_running") == 0);
            assertEquals(0, metric(server, "request_success_total"));
        }
    }

    /// What a vanished host looks like cannot be had here; that the system asks for it can be seen.
    @Test
    void theSystemAsksWhetherASilentClientIsThere() throws Exception {
        List<Path> tables = Stream.of("/proc/net/tcp", "/proc/net/tcp6")
                .map(Path::of)
                .filter(Files::exists)
                .toList();
        assumeTrue(!tables.isEmpty(), "the timers of connections are read from /proc");
        try (ServerFixture server = new ServerFixture();
                Socket socket = new Socket("127.0.0.1", server.server.port())) {
            write(socket, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
            InputStream in = socket.getInputStream();
            assertEquals('H', in.read());
            String ends = String.format("\\S+:%04X \\S+:%04X 01 ", server.server.port(), socket.getLocalPort());
            List<String> lines = new ArrayList<>();
            for (Path table : tables) {
                lines.addAll(Files.readAllLines(table));
            }
            String line = lines.stream()
                    .map(String::strip)
                    .filter(l -> l.matches("\\d+: " + ends + ".*"))
                    .findFirst()
                    .orElseThrow();
            assertTrue(line.split("\\s+")[5].startsWith("02:"), "timer 2 is that of keep-alive: " + line);
        }
    }

    /// Deadlines are of a clock that never jumps. The wall clock only dates what is shown.
    @Test
    void noDeadlineIsOfTheWallClock() throws Exception {
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            for (Path source :
                    sources.filter(f -> f.toString().endsWith(".java")).toList()) {
                for (String line : Files.readAllLines(source)) {
                    if (line.contains("currentTimeMillis") || line.contains("Instant.now") || line.contains("Clock.")) {
                        assertTrue(
                                line.matches(
                                        ".*(created|plus\\(FOREVER|Duration\\.between\\(started|new StatusEndpoint|Optional\\.of\\(Instant|getEpochSecond|toString|put\\().*"),
                                source + ": " + line);
                    }
                }
            }
        }
    }
}
