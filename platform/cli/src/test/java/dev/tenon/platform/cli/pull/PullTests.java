package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/// Downloads from an address: what is taken for a model, and where it goes.
class PullTests extends PullServer {
    @Test
    void wholeFileIsDownloaded() throws IOException {
        TestCli.Result result = cli.run("pull", url("/file.gguf"), "--sha256", sha256);
        assertEquals(0, result.status(), result.err());
        assertEquals(target() + "\n", result.out());
        assertArrayEquals(content, Files.readAllBytes(target()));
        assertEquals(List.of("file.gguf", "file.gguf.origin"), names(), "no partial files are left");
    }

    @Test
    void wrongChecksumIsRefusedAndTheFileRemoved() throws IOException {
        TestCli.Result result = cli.run("pull", url("/file.gguf"), "--sha256", "0".repeat(64));
        assertEquals(1, result.status());
        assertEquals(1, result.errLines());
        assertTrue(result.err().contains(sha256) && result.err().endsWith("[IO-002]\n"), result.err());
        assertFalse(Files.exists(target().getParent()), "nothing is left, not even the folder");
    }

    @Test
    void missingFileIsOneLineWithItsStatus() {
        TestCli.Result result = cli.run("pull", url("/nothing.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().contains("HTTP 404") && result.err().endsWith("[IO-002]\n"), result.err());
        assertEquals(1, requests.size(), "a missing file is not asked for again");
        assertFalse(Files.exists(folder.resolve("models")), "no folder is made for nothing");
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
}
