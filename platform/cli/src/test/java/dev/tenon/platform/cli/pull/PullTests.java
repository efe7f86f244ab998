package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
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
    private final byte[] content = content();
    private HttpServer server;
    private TestCli cli;
    private String sha256;
    private String etag = "\"one\"";
    private int cutAfter = -1;
    private int failuresLeft;

    private static byte[] content() {
        byte[] bytes = new byte[300_000];
        new Random(1).nextBytes(bytes);
        System.arraycopy("GGUF".getBytes(StandardCharsets.US_ASCII), 0, bytes, 0, 4);
        return bytes;
    }

    @BeforeEach
    void setUp() throws Exception {
        sha256 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        cli = new TestCli(folder);
        cli.settings.put("hf.url", url(""));
        listed.addAll(List.of("README.md", "tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf", "tiny-mmproj-Q4_K_M.gguf"));
    }

    @AfterEach
    void tearDown() {
        server.stop(0);
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
                    || path.equals("/busy.gguf")
                    || path.startsWith("/org/repo/resolve/main/")) {
                file(exchange);
            } else {
                exchange.sendResponseHeaders(404, -1);
            }
        }
    }

    private String listing() {
        return listed.stream()
                .map(name -> "{\"rfilename\":\"" + name + "\",\"size\":" + content.length + ",\"lfs\":{\"sha256\":\""
                        + sha256 + "\",\"size\":" + content.length + "}}")
                .collect(Collectors.joining(",", "{\"siblings\":[", "]}"));
    }

    private void file(HttpExchange exchange) throws IOException {
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
        body.write(content, from, end - from);
        body.flush();
        // Leaving without the rest makes the server drop the connection.
    }

    private static void send(HttpExchange exchange, int status, byte... body) throws IOException {
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    private Path target() {
        return folder.resolve("models/file.gguf");
    }

    @Test
    void wholeFileIsDownloaded() throws IOException {
        TestCli.Result result = cli.run("pull", url("/file.gguf"), "--sha256", sha256);
        assertEquals(0, result.status(), result.err());
        assertEquals(target() + "\n", result.out());
        assertArrayEquals(content, Files.readAllBytes(target()));
        try (var files = Files.list(target().getParent())) {
            assertEquals(1, files.count(), "no partial files are left");
        }
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
        Files.createDirectories(target().getParent());
        Files.write(folder.resolve("models/file.gguf.part"), Arrays.copyOf(content, 1000));
        Files.writeString(folder.resolve("models/file.gguf.part.etag"), etag);
        assertEquals(0, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertTrue(requests.getFirst().contains("bytes=1000-"), requests.toString());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partOfAnotherVersionIsNotContinued() throws IOException {
        Files.createDirectories(target().getParent());
        Files.write(folder.resolve("models/file.gguf.part"), new byte[1000]);
        Files.writeString(folder.resolve("models/file.gguf.part.etag"), "\"older\"");
        assertEquals(0, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partThatIsWholeAlreadyIsTaken() throws IOException {
        Files.createDirectories(target().getParent());
        Files.write(folder.resolve("models/file.gguf.part"), content);
        assertEquals(0, cli.run("pull", url("/file.gguf"), "--sha256", sha256).status());
        assertArrayEquals(content, Files.readAllBytes(target()));
    }

    @Test
    void partLongerThanTheFileIsThrownAway() throws IOException {
        Files.createDirectories(target().getParent());
        Files.write(folder.resolve("models/file.gguf.part"), new byte[content.length + 5]);
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
        try (var files = Files.list(target().getParent())) {
            assertEquals(0, files.count());
        }
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
