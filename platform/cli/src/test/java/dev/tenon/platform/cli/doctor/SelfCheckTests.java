package dev.tenon.platform.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A made-up installation. What a real one says, and a real bundle that is cut off, `SelfCheckIT` tests.
class SelfCheckTests {
    /// The SHA-256 of "bundle", "extra" and "man", as `sha256sum` says.
    private static final String LIST = """
            %BUNDLE%  bundles/a.jar
            %EXTRA%  extra.jar
            %MAN%  ../share/man/tenon.1
            """;

    @TempDir
    Path folder;

    private Path home;
    private TestCli cli;

    @BeforeEach
    void install() throws Exception {
        home = folder.resolve("home");
        write("home/bundles/a.jar", "bundle");
        write("share/man/tenon.1", "man");
        String list = LIST;
        for (String text : new String[] {"bundle", "extra", "man"}) {
            byte[] digest = java.security.MessageDigest.getInstance("SHA-256").digest(text.getBytes());
            list = list.replace("%" + text.toUpperCase() + "%", HexFormat.of().formatHex(digest));
        }
        write("home/lib/shipped.sha256", list);
        write("home/models/story.gguf", "fake");
        write("home/models/story.properties", "prompt = Once\ngreedy = there was a fox\n");
        cli = new TestCli(folder);
        cli.settings.put("home", home.toString());
    }

    private void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private String check() {
        TestCli.Result result = cli.run("self-check");
        assertEquals("", result.err());
        return result.out();
    }

    @Test
    void wholeFilesAndTheRightTextPass() {
        String out = check();
        assertTrue(out.contains("PASS  files          2 as they were shipped\n"), out);
        assertTrue(out.contains("PASS  continuation   \"there was a fox\""), out);
    }

    @Test
    void filesThatAreCutOffOrMissingFailWithACode() throws IOException {
        write("home/bundles/a.jar", "bundl");
        write("home/bundles/extras/extra.jar", "ext");
        Files.delete(folder.resolve("share/man/tenon.1"));
        String out = check();
        assertTrue(out.contains("FAIL  file           " + home.resolve("bundles/a.jar")), out);
        assertTrue(out.contains("FAIL  file           " + home.resolve("bundles/extras/extra.jar")), out);
        assertTrue(out.contains("WARN  file           " + folder.resolve("share/man/tenon.1") + " is missing"), out);
        assertFalse(out.contains("PASS  files"), out);
    }

    @Test
    void everyLineThatDoesNotPassHasACodeAndSomeSayWhatToDo() throws IOException {
        Files.delete(home.resolve("lib/shipped.sha256"));
        cli.engine.answer = text -> " there was a dog";
        TestCli.Result result = cli.run("self-check");
        String out = result.out();
        assertEquals(1, result.status());
        assertTrue(out.contains("FAIL  files"), out);
        assertTrue(out.contains("FAIL  continuation   \"there was a dog\", expected \"there was a fox\""), out);
        try (Stream<String> lines = out.lines()) {
            lines.filter(line -> line.startsWith("WARN") || line.startsWith("FAIL"))
                    .forEach(line -> assertTrue(line.matches(".*\\[[A-Z]+-\\d{3}]"), line));
        }
    }

    @Test
    void withoutAnEmbeddedModelNothingIsGenerated() throws IOException {
        Files.delete(home.resolve("models/story.properties"));
        String out = check();
        assertTrue(out.contains("WARN  continuation   there is no embedded model"), out);
        assertEquals(0, cli.engine.requests.size());
    }
}
