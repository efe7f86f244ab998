package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/// Downloads that break off, and go on.
class PullResumeTests extends PullServer {
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
    void aServerThatFallsSilentIsNoticed() {
        silent = true;
        cli.stall = Duration.ofSeconds(2); // also for the connection and the headers, which have to come
        TestCli.Result result = cli.run("pull", url("/file.gguf"));
        assertEquals(1, result.status());
        assertTrue(result.err().contains("no byte came in 2.0 s"), result.err());
        assertTrue(result.err().contains("bytes are kept"), result.err());
        silent = false;
        assertEquals(0, cli.run("pull", url("/file.gguf")).status());
        assertTrue(requests.getLast().contains("bytes=1000-"), requests.toString());
    }
}
