package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.hub.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Companions of models that see or hear: pulled, listed, shown, copied and deleted with their models.
class CompanionTests extends PullServer {
    private static final String MODEL = "tiny-Q4_K_M.gguf";
    private static final String OTHER = "tiny-Q8_0.gguf";

    private final byte[] companion = TestGguf.companion(64, "vision");
    private Path repository;

    @BeforeEach
    void repository() {
        repository = folder.resolve("models/org/repo");
        listed.clear();
        offer(MODEL, TestGguf.text(64));
        offer(OTHER, TestGguf.text(64));
        offer("mmproj-tiny-F32.gguf", companion);
        offer("mmproj-tiny-BF16.gguf", companion);
        offer("mmproj-tiny-F16.gguf", companion);
    }

    private void offer(String name, byte[] content) {
        listed.add(name);
        parts.put(name.substring(name.lastIndexOf('/') + 1), content);
    }

    private TestCli.Result runs(String... args) {
        TestCli.Result result = cli.run(args);
        assertEquals(0, result.status(), result.err());
        return result;
    }

    private List<String> files() throws IOException {
        try (var files = Files.list(repository)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".gguf"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void theCompanionComesWithItsModel() throws IOException {
        Path file = repository.resolve("mmproj-tiny-F16.gguf");
        TestCli.Result pulled = runs("pull", "org/repo");
        assertEquals(repository.resolve(MODEL) + "\n" + file + "\n", pulled.out());
        assertTrue(pulled.err().contains("tenon run -m org/repo"), pulled.err());
        assertArrayEquals(companion, Files.readAllBytes(file));
        assertEquals(companion.length, Origin.read(file).orElseThrow().length());
        int asked = requests.size();
        assertTrue(runs("pull", "org/repo").err().contains("It exists already."));
        assertEquals(asked + 1, requests.size(), "only the listing");
        runs("pull", "org/repo:Q8_0");
        assertEquals(List.of("mmproj-tiny-F16.gguf", MODEL, OTHER), files());
    }

    @Test
    void itIsTheOneOfTheMostSimilarPrecision() throws IOException {
        offer("mmproj-tiny-Q8_0.gguf", companion);
        runs("pull", "org/repo");
        assertEquals(List.of("mmproj-tiny-Q8_0.gguf", MODEL), files());
    }

    @Test
    void itIsNeverTheModel() {
        TestCli.Result result = cli.run("pull", "org/repo:F16");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("it has tiny-Q4_K_M.gguf, tiny-Q8_0.gguf."), result.err());
    }

    @Test
    void itIsLeftOutIfTheUserWantsThat() throws IOException {
        runs("pull", "--no-mmproj", "org/repo");
        assertEquals(List.of(MODEL), files());
        assertTrue(runs("list").out().matches("(?s).*tiny-Q4_K_M +\\d+ B +[0-9-]+\n"));
    }

    @Test
    void itsChecksumIsChecked() throws IOException {
        parts.put("mmproj-tiny-F16.gguf", companion);
        String wrong = "0".repeat(64);
        String answer = "{\"siblings\":[{\"rfilename\":\"" + MODEL + "\"},{\"rfilename\":\"mmproj-tiny-F16.gguf\","
                + "\"lfs\":{\"sha256\":\"" + wrong + "\"}}]}";
        server.createContext("/api/models/org/repo", exchange -> {
            exchange.sendResponseHeaders(200, answer.length());
            exchange.getResponseBody().write(answer.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            exchange.close();
        });
        TestCli.Result result = cli.run("pull", "org/repo");
        assertEquals(1, result.status());
        assertTrue(result.err().contains(wrong) && result.err().contains(sha256(companion)), result.err());
        assertEquals(List.of(MODEL), files());
    }

    @Test
    void anInterruptedDownloadOfItIsResumed() throws IOException {
        byte[] large = TestGguf.companion(8000, "vision");
        offer(MODEL, TestGguf.text(64));
        parts.put("mmproj-tiny-F16.gguf", large);
        cutAfter = large.length / 2;
        runs("pull", "org/repo");
        assertArrayEquals(large, Files.readAllBytes(repository.resolve("mmproj-tiny-F16.gguf")));
        assertTrue(requests.getLast().contains("bytes=" + large.length / 2 + "-"), requests::toString);
    }

    @Test
    void itLiesBesideAModelInParts() throws IOException {
        listed.clear();
        offer("Q4_K_M/big-Q4_K_M-00001-of-00002.gguf", TestGguf.part(0, 2, 1));
        offer("Q4_K_M/big-Q4_K_M-00002-of-00002.gguf", TestGguf.part(1, 2, 2));
        offer("Q8_0/mmproj-F16.gguf", content);
        offer("mmproj-F16.gguf", companion);
        runs("pull", "org/repo");
        assertArrayEquals(companion, Files.readAllBytes(repository.resolve("Q4_K_M/mmproj-F16.gguf")));
        assertFalse(Files.exists(repository.resolve("mmproj-F16.gguf")));
        Path other = folder.resolve("other/");
        runs("pull", "org/repo", "-o", other + "/");
        assertTrue(Files.exists(other.resolve("mmproj-F16.gguf")));
    }

    @Test
    void itLiesBesideAModelOfAnotherName() throws IOException {
        Path mine = folder.resolve("other/mine.gguf");
        runs("pull", "org/repo", "-o", mine.toString(), "--sha256", sha256(TestGguf.text(64)));
        assertArrayEquals(TestGguf.text(64), Files.readAllBytes(mine));
        assertArrayEquals(companion, Files.readAllBytes(mine.resolveSibling("mmproj-tiny-F16.gguf")));
    }

    @Test
    void itCanBePulledAloneFromAnAddress() throws IOException {
        TestCli.Result pulled = runs("pull", url("/mmproj-tiny-F16.gguf"));
        assertTrue(
                pulled.err().endsWith("It is a companion: models of its folder that it fits use it.\n"), pulled.err());
        runs("pull", url("/" + MODEL));
        assertTrue(runs("list").out().endsWith("  + picture\n"));
    }

    @Test
    void listAndShowTellOfIt() {
        runs("pull", "org/repo");
        assertTrue(runs("list").out().matches("NAME[^\n]*\ntiny-Q4_K_M [^\n]*-\\d\\d  \\+ picture\n"));
        assertEquals("tiny-Q4_K_M\n", runs("list", "-q").out());
        String shown = runs("show", "org/repo").out();
        for (String line : List.of(
                "companion      mmproj-tiny-F16.gguf, " + companion.length + " B",
                "projector      gemma3",
                "pictures       84 x 84 pixels, in patches of 14 x 14 pixels")) {
            assertTrue(shown.contains(line + "\n"), shown);
        }
        String itself = runs("show", "mmproj-tiny-F16").out();
        assertTrue(itself.contains("projector ") && !itself.contains("context"), itself);
    }

    @Test
    void oneForSoundsIsToldApart() {
        parts.put("mmproj-tiny-F16.gguf", TestGguf.companion(64, "audio"));
        runs("pull", "org/repo");
        assertTrue(runs("list").out().endsWith("  + sound\n"));
        assertTrue(runs("show", "org/repo").out().contains("\nsounds "));
    }

    @Test
    void rmDeletesItWithTheLastOfItsModels() throws IOException {
        runs("pull", "org/repo");
        runs("pull", "org/repo:Q8_0");
        TestCli.Result first = runs("rm", "-y", "org/repo:Q4_K_M");
        assertEquals("", first.err());
        assertEquals(List.of("mmproj-tiny-F16.gguf", OTHER), files());
        TestCli.Result last = runs("rm", "-y", "org/repo:Q8_0");
        assertEquals("tiny-Q8_0\n", last.out());
        assertTrue(last.err().contains("companion mmproj-tiny-F16.gguf was deleted, too"), last.err());
        assertFalse(Files.exists(repository));
    }

    @Test
    void cpGivesBothAnotherName() throws IOException {
        runs("pull", "org/repo");
        Path models = folder.resolve("models");
        assertEquals(
                models.resolve("mine.gguf") + "\n" + models.resolve("mmproj-mine.gguf") + "\n",
                runs("cp", "org/repo", "mine").out());
        runs("cp", "org/repo", "yours");
        assertEquals(3, runs("list").out().split("\\+ picture", -1).length - 1);
        assertTrue(runs("show", "mine").out().contains("companion      mmproj-mine.gguf,"));
        runs("rm", "-y", "mine");
        assertFalse(Files.exists(models.resolve("mmproj-mine.gguf")));
        assertTrue(Files.exists(models.resolve("mmproj-yours.gguf")));
        TestCli.Result refused = cli.run("cp", "org/repo", "mmproj-mine");
        assertTrue(refused.err().endsWith("Choose another name. [CLI-001]\n"), refused.err());
    }

    @Test
    void rmDeletesItAlone() throws IOException {
        runs("pull", "org/repo");
        assertEquals(
                "mmproj-tiny-F16\n", runs("rm", "-y", "mmproj-tiny-F16.gguf").out());
        assertEquals(List.of(MODEL), files());
    }
}
