package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.hub.Origin;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `list`, `show`, `rm` and `cp`.
class ModelsTests {
    @TempDir
    Path folder;

    private Path models;
    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
        models = folder.resolve("models");
    }

    private Path pulled(String name, int bytes) throws IOException {
        Path file = models.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, new byte[bytes]);
        return Files.write(file.resolveSibling(file.getFileName() + ".origin"), new byte[1])
                .resolveSibling(file.getFileName());
    }

    private void refused(String ending, String... args) {
        TestCli.Result result = cli.run(args);
        assertTrue(result.status() > 0, result.out());
        assertEquals(1, result.errLines(), result.err());
        assertTrue(result.err().endsWith(ending), result.err());
    }

    @Test
    void listShowsModelsWithTheirSizes() throws IOException {
        assertEquals("", cli.run("list").out());
        assertTrue(cli.run("list").err().contains("tenon pull owner/repo"));
        pulled("org/repo/tiny-Q8_0.gguf", 3 << 10);
        pulled("org/repo/big-00001-of-00002.gguf", 1 << 10);
        pulled("org/repo/big-00002-of-00002.gguf", 1 << 10);
        pulled("a/x/same.gguf", 1);
        pulled("b/x/same.gguf", 1);
        Files.write(models.resolve("half.gguf.part"), new byte[1]);
        TestCli.Result result = cli.run("list");
        assertEquals(0, result.status(), result.err());
        List<String> lines = result.out().lines().toList();
        assertEquals(5, lines.size(), result.out());
        assertTrue(lines.get(0).matches("NAME +SIZE +DATE"), result.out());
        assertTrue(result.out().matches("(?s).*tiny-Q8_0 +3\\.00 KiB  \\d{4}-\\d\\d-\\d\\d\n.*"), result.out());
        assertTrue(result.out().matches("(?s).*big-00001-of-00002 +2\\.00 KiB .*"), result.out());
        String names = cli.run("list", "-q").out();
        assertEquals("a/x/same\nb/x/same\nbig-00001-of-00002\ntiny-Q8_0\n", names);
        for (String name : names.lines().toList()) {
            assertEquals(0, cli.run("run", "-m", name, "-p", "x").status(), name);
        }
    }

    @Test
    void showSaysWhatAModelIs() throws IOException {
        Files.write(pulled("org/repo/ok.gguf", 1), model());
        TestCli.Result result = cli.run("show", "org/repo");
        assertEquals(0, result.status(), result.err());
        for (String word : List.of("architecture", "parameters", "size", "format", "context", "chat template")) {
            assertTrue(result.out().contains("\n" + word + " "), word + " in " + result.out());
        }
        assertEquals(result.out(), cli.run("show", "ok").out());
        refused("[IO-001]\n", "show", "nowhere.gguf");
    }

    @Test
    void showSaysWhatATextBecomes() throws IOException {
        Files.write(pulled("org/repo/vectors.gguf", 1), TestGguf.pooling(1));
        Files.write(pulled("org/repo/scores.gguf", 1), TestGguf.pooling(4));
        Files.write(pulled("org/repo/neither.gguf", 1), TestGguf.pooling(0));
        assertTrue(cli.run("show", "vectors").out().contains("tenon embed"));
        assertTrue(cli.run("show", "scores").out().contains("tenon rerank"));
        assertTrue(cli.run("show", "neither").out().contains("tenon run"));
    }

    @Test
    void rmDeletesAModelAndNothingElse() throws IOException {
        Path one = pulled("org/repo/tiny-Q8_0.gguf", 10);
        Path first = pulled("org/repo/big-00001-of-00002.gguf", 10);
        pulled("org/repo/big-00002-of-00002.gguf", 10);
        refused("give -y. [CLI-001]\n", "rm", "tiny-Q8_0");
        refused("See 'tenon list'. [IO-001]\n", "rm", "-y", cli.model.toString());
        refused("See 'tenon list'. [IO-001]\n", "rm", "-y", "tiny-Q8_0", "other");
        assertTrue(Files.exists(one) && Files.exists(cli.model));
        assertEquals("tiny-Q8_0\n", cli.run("rm", "-y", "org/repo:Q8_0").out());
        assertFalse(Files.exists(one) || Files.exists(Origin.beside(one)));
        assertTrue(Files.exists(first));
        cli.inTerminal = true;
        cli.errTerminal = true;
        cli.stdin = "n\n".getBytes(StandardCharsets.UTF_8);
        assertEquals(2, cli.run("rm", "big-00001-of-00002").status());
        assertTrue(Files.exists(first));
        cli.stdin = "y\n".getBytes(StandardCharsets.UTF_8);
        TestCli.Result result = cli.run("rm", "big-00001-of-00002");
        assertTrue(result.err().contains("Delete big-00001-of-00002 (20 B)? [y/N] "), result.err());
        assertEquals(0, result.status(), result.err());
        assertFalse(Files.exists(models.resolve("org")), "empty folders go, too");
        assertTrue(Files.exists(models));
    }

    private static byte[] model() throws IOException {
        try (InputStream in = ModelsTests.class.getResourceAsStream("/golden/malformed/ok_model.gguf")) {
            return in.readAllBytes();
        }
    }

    @Test
    void cpGivesAModelAnotherName() throws IOException {
        Path one = Files.write(pulled("org/repo/tiny-Q8_0.gguf", 10), model());
        Path mine = models.resolve("mine.gguf");
        assertEquals(mine + "\n", cli.run("cp", "org/repo", "mine").out());
        assertTrue(Files.isSameFile(one, mine), "a hard link");
        refused("Give another name. [IO-001]\n", "cp", "-y", "org/repo", "mine");
        Path other = Files.write(folder.resolve("other.gguf"), model());
        refused("-y, or give another name. [IO-001]\n", "cp", other.toString(), "mine");
        assertEquals(0, cli.run("cp", "-y", other.toString(), "mine").status());
        assertFalse(Files.isSameFile(one, mine), "the other name keeps its file");
        assertArrayEquals(model(), Files.readAllBytes(mine));
        assertArrayEquals(model(), Files.readAllBytes(one));
        for (String name : List.of("../x", "a/b", "", ".x")) {
            refused("[CLI-001]\n", "cp", "org/repo", name);
        }
        pulled("org/split/big-00001-of-00002.gguf", 10);
        refused("[CLI-001]\n", "cp", "org/split", "big");
    }

    @Test
    void cpTakesModelsOnly() throws IOException {
        refused("[GGUF-001]\n", "cp", cli.model.toString(), "mine");
        byte[] whole = model();
        Path cut = Files.write(folder.resolve("cut.gguf"), Arrays.copyOf(whole, whole.length / 2));
        refused("[GGUF-007]\n", "cp", cut.toString(), "mine");
        assertFalse(Files.exists(models.resolve("mine.gguf")));
    }

    @Test
    void theFolderOfModelsIsNoFile() {
        cli.settings.put("models", cli.model.toString());
        for (String[] args : new String[][] {
            {"list"}, {"cp", cli.model.toString(), "x"}, {"rm", "-y", "x"}, {"pull", "owner/repo"}, {"run", "-m", "x"}
        }) {
            refused("[CFG-001]\n", args);
        }
    }
}
