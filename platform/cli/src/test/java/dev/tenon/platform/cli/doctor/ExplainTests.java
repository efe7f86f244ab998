package dev.tenon.platform.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Oracle: the page of errors as people read it. That its codes are those of the classes is a rule of the house.
class ExplainTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void start() {
        cli = new TestCli(folder);
    }

    @Test
    void eachCodeHasAnAnchorATitleOfItsOwnAndAText() {
        List<ErrorPage.Entry> entries = ErrorPage.entries();
        assertTrue(entries.size() > 50, entries.size() + " entries");
        for (ErrorPage.Entry entry : entries) {
            assertEquals(entry.code().toLowerCase(Locale.ROOT), entry.anchor());
            assertFalse(entry.section().isEmpty() || entry.text().isEmpty(), entry.toString());
        }
        assertEquals(
                entries.size(),
                entries.stream().map(ErrorPage.Entry::title).distinct().count(),
                "titles");
        assertEquals(
                entries.size(),
                entries.stream().map(ErrorPage.Entry::code).distinct().count(),
                "codes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GGUF-001", "gguf-001"})
    void aCodeIsExplained(String code) {
        TestCli.Result result = cli.run("explain", code);
        assertEquals(0, result.status(), result.err());
        assertEquals("""
                GGUF-001: Not a GGUF file

                The file does not begin with the letters GGUF. Convert safetensors and PyTorch
                files first.
                """, result.out());
    }

    @Test
    void linksNameTheirFiles() {
        String sameText = cli.run("explain", "CLI-001").out();
        assertTrue(sameText.endsWith("--help` or docs/commands.md.\n"), sameText);
        String otherText = cli.run("explain", "ITEST-003").out();
        assertTrue(otherText.endsWith("described\n<docs/write-your-own-bundle.md#golden-logits>.\n"), otherText);
    }

    @Test
    void everyTextFitsATerminalAndHasNoLinksOfMarkdown() {
        for (ErrorPage.Entry entry : ErrorPage.entries()) {
            String out = cli.run("explain", entry.code()).out();
            List<String> lines = out.lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                String next = i + 1 < lines.size() ? lines.get(i + 1) : "";
                int longer = lines.get(i).length() + 1 + next.split(" ")[0].length();
                assertTrue(
                        lines.get(i).length() <= 80
                                && (i < 2 || next.isEmpty() || lines.get(i).isEmpty() || longer > 80),
                        out);
            }
            assertFalse(out.contains("]("), out);
            assertEquals(
                    entry.text().split("\n\n").length + 1, out.strip().split("\n\n").length, "paragraphs of " + out);
        }
    }

    @Test
    void withoutACodeAllAreListedUnderTheirSections() {
        TestCli.Result result = cli.run("explain");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.out().startsWith("Environment:\n  ENV-001      No Java that will do\n"), result.out());
        for (ErrorPage.Entry entry : ErrorPage.entries()) {
            assertTrue(result.out().matches("(?s).*  " + entry.code() + " +" + entry.title() + "\n.*"), entry.code());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "gguf-0003 | Tenon has no error GGUF-0003. Did you mean GGUF-003 or ",
                "GGFU-001 | Did you mean GGUF-001 or ",
                "gguf-12345 | Tenon has no error GGUF-12345. 'tenon explain' lists all.",
                "ACME-001 | Tenon has no error ACME-001. If a third party's bundle raised it, "
            })
    void anUnknownCodeIsAWrongUsage(String code, String text) {
        TestCli.Result result = cli.run("explain", code);
        assertEquals(2, result.status());
        assertEquals("", result.out());
        assertTrue(result.err().contains(text) && result.err().endsWith(" [CLI-001]\n"), result.err());
    }
}
