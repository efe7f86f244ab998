package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PullTests {
    @TempDir
    Path folder;

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<String> listed = new ArrayList<>();
    private final byte[] content = TestGguf.model(75_000, 1);
    private final Map<String, byte[]> parts = new HashMap<>();
    private HttpServer server;
    private ExecutorService threads;
    private TestCli cli;
    private String sha256;
    private String etag = "\"one\"";
    private int cutAfter = -1;
    private int failuresLeft;
    private volatile boolean silent;
    private volatile CountDownLatch gate;
    private final CompletableFuture<Void> endOfTest = new CompletableFuture<>();

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
        listed.addAll(List.of("README.md", "tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf", "tiny-mmproj-Q4_K_M.gguf"));
    }

    @AfterEach
    void tearDown() {
        endOfTest.complete(null);
        server.stop(0);
        threads.shutdownNow();
    }

    private String url(String path) {
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

    private String sha256(byte... bytes) {
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

    private Path target() {
        return folder.resolve("models/file.gguf");
    }

    private List<String> names() throws IOException {
        try (var files = Files.list(target().getParent())) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    private void part(byte[] bytes, String url, String etag, long length) throws IOException {
        Files.createDirectories(target().getParent());
        Path part = Files.write(folder.resolve("models/file.gguf.part"), bytes);
        new Origin(url, etag, "", length).write(part);
    }

    @Test
    void wholeFileIsDownloaded() throws IOException {
        TestCli.Result result = cli.run("pull", url("/file.gguf"), "--sha256", sha256);
        assertEquals(0, result.status(), result.err());
        assertEquals(target() + "\n", result.out());
        assertArrayEquals(content, Files.readAllBytes(target()));
        assertEquals(List.of("file.gguf", "file.gguf.origin"), names(), "no partial files are left");
    }

    @Test
    void downloadGoesOnAfterTheConnectionBroke() throws IOException {
        cutAfter = 100_000;
        TestCli.Result result = cli.run("pull", url("/file.gguf"), "--sha256", sha256);
        assertEquals(0, result.status(), result.err());
        assertArrayEquals(content, Files.readAllBytes(target()));
        // A client that learns of the end before it has read all that came may lose the last bytes, and asks for them
        // again.
        int had = 0;
        for (String request : requests.subList(1, requests.size())) {
            int from = Integer.parseInt(request.replaceAll(".* bytes=(\\d+)- .*", "$1"));
            assertTrue(from >= had && from <= had + cutAfter, requests.toString());
            had = from;
        }
        assertTrue(requests.size() >= 3, requests.toString());
    }

    @Test
    void laterCallGoesOnWhereAnEarlierOneEnded() throws IOException {
        part(Arrays.copyOf(content, 1000), url("/file.gguf"), etag, content.length);
        assertEquals(0, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertTrue(requests.getFirst().contains("bytes=1000-"), requests.toString());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partOfAnotherVersionIsNotContinued() throws IOException {
        part(new byte[1000], url("/file.gguf"), "\"older\"", content.length);
        assertEquals(0, cli.run("pull", url("/file.gguf")).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partOfUnknownOriginIsNotContinued() throws IOException {
        Files.createDirectories(target().getParent());
        Files.write(folder.resolve("models/file.gguf.part"), new byte[1000]);
        assertEquals(0, cli.run("pull", url("/file.gguf")).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partOfAnotherAddressIsNotContinued() throws IOException {
        part(new byte[1000], url("/other/file.gguf"), etag, content.length);
        assertEquals(0, cli.run("pull", url("/file.gguf")).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
        assertEquals(1, requests.size(), requests.toString());
    }

    @Test
    void partThatIsWholeAlreadyIsTaken() throws IOException {
        part(content, url("/file.gguf"), etag, content.length);
        assertEquals(0, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partLongerThanTheFileIsThrownAway() throws IOException {
        part(new byte[content.length + 5], url("/file.gguf"), etag, content.length);
        assertEquals(0, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void connectionThatAlwaysBreaksIsGivenUpAndThePartKept() throws IOException {
        cutAfter = 0;
        TestCli.Result result = cli.run("pull", url("/file.gguf"));
        assertEquals(1, result.status());
        assertEquals(1, result.errLines(), result.err());
        assertTrue(result.err().endsWith("[IO-002]\n"), result.err());
        assertFalse(Files.exists(target()));
    }

    @Test
    void busyServerIsAskedAgain() {
        failuresLeft = 2;
        assertEquals(0, cli.run("pull", url("/busy.gguf")).status());
        assertEquals(3, requests.size());
    }

    @Test
    void wrongChecksumIsRefusedAndTheFileRemoved() throws IOException {
        TestCli.Result result = cli.run("pull", url("/file.gguf"), "--sha256", "0".repeat(64));
        assertEquals(1, result.status());
        assertEquals(1, result.errLines());
        assertTrue(result.err().contains(sha256) && result.err().endsWith("[IO-002]\n"), result.err());
        assertEquals(List.of(), names());
    }

    @Test
    void missingFileIsOneLineWithItsStatus() {
        TestCli.Result result = cli.run("pull", url("/nothing.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().contains("HTTP 404") && result.err().endsWith("[IO-002]\n"), result.err());
        assertEquals(1, requests.size(), "a missing file is not asked for again");
    }

    @Test
    void redirectIsFollowed() throws IOException {
        assertEquals(0, cli.run("pull", url("/moved.gguf")).status());
        assertArrayEquals(content, Files.readAllBytes(folder.resolve("models/moved.gguf")));
    }

    @Test
    void endlessRedirectIsRefused() {
        TestCli.Result result = cli.run("pull", url("/loop.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[IO-002]\n"), result.err());
    }

    @Test
    void webPageIsNotTakenForAModel() throws IOException {
        TestCli.Result result = cli.run("pull", url("/page.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().contains("not a GGUF file"), result.err());
        assertFalse(Files.exists(folder.resolve("models/page.gguf")));
    }

    @Test
    void hubNeedsNoPrefix() throws IOException {
        TestCli.Result result = cli.run("pull", "org/repo:Q8_0");
        assertEquals(0, result.status(), result.err());
        assertArrayEquals(content, Files.readAllBytes(folder.resolve("models/org/repo/tiny-Q8_0.gguf")));
    }

    @Test
    void aModelThatIsMissingIsPulledAfterAQuestion() {
        cli.inTerminal = true;
        cli.errTerminal = true;
        cli.stdin = "n\n".getBytes(StandardCharsets.UTF_8);
        TestCli.Result refused = cli.run("run", "org/repo", "Hi");
        assertEquals(1, refused.status(), refused.err());
        assertTrue(refused.err().contains("Download it? [y/N] "), refused.err());
        assertTrue(refused.err().endsWith("tenon pull org/repo [IO-001]\n"), refused.err());
        assertEquals(List.of(), requests);
        cli.stdin = "y\n".getBytes(StandardCharsets.UTF_8);
        TestCli.Result result = cli.run("run", "-m", "org/repo", "Hi");
        assertEquals(0, result.status(), result.err());
        assertEquals(" there was a fox.\n", result.out());
        assertEquals(
                folder.resolve("models/org/repo/tiny-Q4_K_M.gguf"),
                cli.engine.loads.getLast().path());
    }

    @Test
    void repositoryGivesQ4KMByDefault() throws IOException {
        TestCli.Result result = cli.run("pull", "hf:org/repo");
        assertEquals(0, result.status(), result.err());
        Path file = folder.resolve("models/org/repo/tiny-Q4_K_M.gguf");
        assertArrayEquals(content, Files.readAllBytes(file));
        assertEquals(file + "\n", result.out());
        assertEquals("/api/models/org/repo?blobs=true null null", requests.get(0));
        assertEquals("/org/repo/resolve/main/tiny-Q4_K_M.gguf null null", requests.get(1));
    }

    @Test
    void namedQuantisationIsTakenAndCheckedAgainstTheListing() throws IOException {
        assertEquals(0, cli.run("pull", "hf:org/repo:q8_0").status());
        assertTrue(Files.exists(folder.resolve("models/org/repo/tiny-Q8_0.gguf")));
        sha256 = "f".repeat(64);
        TestCli.Result result = cli.run("pull", "hf:org/repo:Q4_K_M");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("checksum"), result.err());
    }

    @Test
    void unknownQuantisationListsWhatThereIs() {
        TestCli.Result result = cli.run("pull", "hf:org/repo:Q2_K");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("tiny-Q8_0.gguf"), result.err());
    }

    @Test
    void allPartsOfASplitModelAreDownloaded() {
        parts.put("big-Q4_K_M-00001-of-00002.gguf", TestGguf.part(0, 2, 1));
        parts.put("big-Q4_K_M-00002-of-00002.gguf", TestGguf.part(1, 2, 2));
        listed.clear();
        listed.addAll(List.of(
                "Q4_K_M/big-Q4_K_M-00002-of-00002.gguf",
                "Q4_K_M/big-Q4_K_M-00001-of-00002.gguf",
                "Q4_K_M/big-Q4_K_M-00001-of-00003.gguf"));
        TestCli.Result result = cli.run("pull", "hf:org/repo");
        assertEquals(0, result.status(), result.err());
        assertTrue(Files.exists(folder.resolve("models/org/repo/Q4_K_M/big-Q4_K_M-00001-of-00002.gguf")));
        assertTrue(Files.exists(folder.resolve("models/org/repo/Q4_K_M/big-Q4_K_M-00002-of-00002.gguf")));
        assertEquals(3, requests.size());
    }

    @Test
    void repositoryWithoutAllPartsIsRefusedBeforeAnyIsDownloaded() {
        listed.clear();
        listed.addAll(List.of("big-Q4_K_M-00001-of-00003.gguf", "big-Q4_K_M-00003-of-00003.gguf"));
        TestCli.Result result = cli.run("pull", "hf:org/repo");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("big-Q4_K_M-00002-of-00003.gguf"), result.err());
        assertEquals(1, requests.size(), requests.toString());
    }

    @Test
    void addressOfOnePartGivesAll() {
        parts.put("m-00001-of-00002.gguf", TestGguf.part(0, 2, 1));
        parts.put("m-00002-of-00002.gguf", TestGguf.part(1, 2, 2));
        TestCli.Result result = cli.run("pull", url("/m-00002-of-00002.gguf"));
        assertEquals(0, result.status(), result.err());
        assertEquals(2, result.out().lines().count(), result.out());
        assertTrue(result.err().contains("2 parts, 2 tensors"), result.err());
    }

    @Test
    void partsThatAreMissingOrDoNotFitAreErrors() {
        parts.put("m-00001-of-00002.gguf", TestGguf.part(0, 2, 1));
        TestCli.Result missing = cli.run("pull", url("/m-00001-of-00002.gguf"));
        assertEquals(1, missing.status());
        assertTrue(missing.err().contains("m-00002-of-00002.gguf does not exist"), missing.err());
        parts.put("m-00002-of-00002.gguf", TestGguf.part(1, 3, 2));
        TestCli.Result wrong = cli.run("pull", url("/m-00001-of-00002.gguf"));
        assertEquals(1, wrong.status());
        assertTrue(wrong.err().contains("do not belong together"), wrong.err());
        assertTrue(wrong.err().endsWith("[IO-002]\n"), wrong.err());
    }

    @Test
    void sameNameFromAnotherAddressIsNotTakenForIt() throws IOException {
        parts.put("f.gguf", TestGguf.model(80, 2));
        String first = url("/f.gguf");
        String second = url("/other/f.gguf");
        assertEquals(0, cli.run("pull", first).status());
        TestCli.Result result = cli.run("pull", second);
        assertEquals(1, result.status(), result.err());
        assertTrue(result.err().contains(first) && result.err().contains(second), result.err());
        assertTrue(result.err().contains("-y") && result.err().endsWith("[IO-001]\n"), result.err());
        assertEquals(1, requests.size(), "that is said without a request");
        TestCli.Result again = cli.run("pull", first);
        assertTrue(again.status() == 0 && again.err().contains("It exists already."), again.err());
        assertEquals(0, cli.run("pull", second, "-y").status());
        assertEquals(1, cli.run("pull", first).status(), "now it is the second one");
        assertEquals(0, cli.run("pull", second).status());
    }

    @Test
    void fileOfUnknownOriginIsKept() throws IOException {
        Files.createDirectories(target().getParent());
        Files.writeString(target(), "precious");
        TestCli.Result result = cli.run("pull", url("/file.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().contains("not known to be"), result.err());
        assertEquals(1, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertEquals("precious", Files.readString(target()));
        assertEquals(0, requests.size());
        cli.inTerminal = true;
        cli.errTerminal = true;
        cli.stdin = "y\n".getBytes(StandardCharsets.UTF_8);
        assertEquals(0, cli.run("pull", url("/file.gguf")).status(), "it was asked");
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void outputMayBeAFolder() throws IOException {
        Path there = Files.createDirectory(folder.resolve("there"));
        assertEquals(
                0, cli.run("pull", url("/file.gguf"), "-o", there.toString()).status());
        assertArrayEquals(content, Files.readAllBytes(there.resolve("file.gguf")));
        assertEquals(
                0,
                cli.run("pull", url("/file.gguf"), "-o", folder.resolve("new") + "/")
                        .status());
        assertArrayEquals(content, Files.readAllBytes(folder.resolve("new/file.gguf")));
        assertEquals(0, cli.run("pull", "hf:org/repo", "-o", there.toString()).status());
        assertTrue(Files.exists(there.resolve("tiny-Q4_K_M.gguf")));
    }

    @Test
    void linksAndPipesAreRefusedBeforeAnythingIsDownloaded() throws Exception {
        Path old = Files.writeString(folder.resolve("old"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("link"), old);
        Path pipe = folder.resolve("pipe");
        assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0, "no mkfifo");
        for (Path target : List.of(link, pipe)) {
            TestCli.Result result = cli.run("pull", url("/file.gguf"), "-y", "-o", target.toString());
            assertEquals(1, result.status());
            assertTrue(result.err().endsWith("[IO-001]\n"), result.err());
        }
        assertEquals(0, requests.size());
        assertTrue(Files.isSymbolicLink(link) && !Files.isRegularFile(pipe));
        assertEquals("old", Files.readString(old));
    }

    @Test
    void serversThatCannotBeReachedAreNamedAndNotAskedAgain() throws IOException {
        cli.errTerminal = true; // where attempts are told
        int closed;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        ServerSocket plain = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Map<String, String> expected = Map.of(
                "http://nohost.invalid/x.gguf",
                "the host nohost.invalid is unknown",
                "http://127.0.0.1:" + closed + "/x.gguf",
                "127.0.0.1:" + closed + " refused the connection",
                "https://127.0.0.1:" + plain.getLocalPort() + "/x.gguf",
                "no secure connection to 127.0.0.1");
        threads.execute(() -> {
            while (!plain.isClosed()) {
                try (Socket one = plain.accept()) {
                    one.getOutputStream().write("HTTP/1.1 400 No\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    one.getInputStream().transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                    // Closed by the client, or at the end.
                    continue;
                }
            }
        });
        expected.forEach((from, reason) -> {
            TestCli.Result result = cli.run("pull", from);
            assertEquals(1, result.status());
            assertTrue(result.err().contains(reason), result.err());
            assertTrue(result.err().endsWith("[IO-002]\n"), result.err());
            assertFalse(result.err().contains("trying again"), result.err());
        });
        plain.close();
        cli.settings.put("hf.url", "http://nohost.invalid");
        TestCli.Result listing = cli.run("pull", "hf:org/repo");
        assertTrue(listing.err().contains("nohost.invalid is unknown"), listing.err());
        assertTrue(listing.err().endsWith("[IO-002]\n"), listing.err());
    }

    @Test
    void aServerThatFallsSilentIsNoticed() {
        silent = true;
        cli.stall = Duration.ofMillis(50);
        TestCli.Result result = cli.run("pull", url("/file.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().contains("no byte came in 0.05 s"), result.err());
        assertTrue(result.err().contains("bytes are kept"), result.err());
        silent = false;
        assertEquals(0, cli.run("pull", url("/file.gguf")).status());
        assertTrue(requests.getLast().contains("bytes=1000-"), requests.toString());
    }

    @Test
    void ofThreePullsAtOnceOneDownloadsAndTwoWait() throws Exception {
        // The answer ends when the two others have said that they wait.
        gate = new CountDownLatch(2);
        List<TestCli.Result> results = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Path home = Files.createDirectory(folder.resolve("cli" + i));
            TestCli one = new TestCli(home);
            one.settings.put("models", folder.resolve("models").toString());
            one.onError = text -> {
                if (text.contains("waiting for its end")) {
                    gate.countDown();
                }
            };
            threads.add(Thread.ofPlatform().start(() -> results.add(one.run("pull", url("/file.gguf")))));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (TestCli.Result result : results) {
            assertEquals(0, result.status(), result.err());
            assertEquals(target() + "\n", result.out());
        }
        assertEquals(1, requests.size(), requests.toString());
        assertArrayEquals(content, Files.readAllBytes(target()));
        assertEquals(List.of("file.gguf", "file.gguf.origin"), names());
    }

    @Test
    void fileOutsideTheRepositorysFolderIsNotWritten() {
        listed.clear();
        listed.add("../../../evil-Q4_K_M.gguf");
        assertEquals(1, cli.run("pull", "hf:org/repo").status());
        assertEquals(1, requests.size());
    }

    @Test
    void fileThatIsThereIsNotDownloadedAgain() {
        cli.run("pull", "hf:org/repo");
        TestCli.Result result = cli.run("pull", "hf:org/repo");
        assertEquals(0, result.status());
        assertEquals(3, requests.size(), "only the listing is asked for again");
        assertEquals(0, cli.run("pull", "hf:org/repo", "--overwrite").status());
        assertEquals(5, requests.size());
    }

    @Test
    void unknownRepositorySaysHowToOpenAClosedOne() {
        TestCli.Result result = cli.run("pull", "hf:org/other");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("HF_TOKEN"), result.err());
    }

    @Test
    void tokenGoesToTheHubOnly() throws IOException {
        cli.settings.put("hf.token", "secret");
        assertEquals(0, cli.run("pull", "hf:org/repo").status());
        assertTrue(requests.stream().allMatch(r -> r.endsWith("Bearer secret")), requests.toString());
        requests.clear();
        cli.settings.put("hf.url", "http://localhost:1");
        assertEquals(0, cli.run("pull", url("/file.gguf")).status());
        assertTrue(requests.stream().allMatch(r -> r.endsWith("null")), requests.toString());
    }

    @Test
    void sourcesThatAreNoneAreUsageErrors() {
        for (String source : new String[] {"model", "ftp://host/x.gguf", "hf:repo", "hf:../..", "http://host/"}) {
            TestCli.Result result = cli.run("pull", source);
            assertEquals(2, result.status(), source + ": " + result.err());
            assertEquals(1, result.errLines(), result.err());
        }
        assertEquals(2, cli.run("pull", url("/file.gguf"), "--sha256", "12").status());
        assertEquals(2, cli.run("pull", url("/%00.gguf")).status());
        cli.settings.put("hf.url", "foo");
        TestCli.Result result = cli.run("pull", "hf:org/repo");
        assertTrue(result.err().contains("TENON_HF_URL is 'foo'"), result.err());
        assertTrue(result.err().endsWith("[CFG-001]\n"), result.err());
        assertEquals(0, requests.size());
    }

    @Test
    void quantisationIsNotFoundInsideOtherNames() {
        HubReference reference = HubReference.parse("hf:a/b:Q4_K");
        assertEquals(List.of(), reference.choose(List.of("m-Q4_K_M.gguf", "m-IQ4_K.gguf")));
        assertEquals(List.of("m.Q4_K.gguf"), reference.choose(List.of("m-Q4_K_M.gguf", "m.Q4_K.gguf")));
        assertEquals(List.of("only.gguf"), HubReference.parse("hf:a/b").choose(List.of("x.txt", "only.gguf")));
    }
}
