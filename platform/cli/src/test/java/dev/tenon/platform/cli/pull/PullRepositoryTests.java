package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Models of the hub, and those in several parts.
class PullRepositoryTests extends PullServer {
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
    void ofSeveralModelsOneHasToBeNamed() {
        listed.clear();
        listed.addAll(List.of("one-Q8_0.gguf", "two-Q8_0.gguf", "two-F16.gguf"));
        TestCli.Result result = cli.run("pull", "org/repo");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("3 models: one-Q8_0.gguf, two-F16.gguf, two-Q8_0.gguf."), result.err());
        TestCli.Result two = cli.run("pull", "org/repo:Q8_0");
        assertEquals(1, two.status());
        assertTrue(two.err().contains("tenon pull org/repo:one-Q8_0"), two.err());
        assertEquals(0, cli.run("pull", "org/repo:one-Q8_0").status());
        assertTrue(Files.exists(folder.resolve("models/org/repo/one-Q8_0.gguf")));
    }
}
