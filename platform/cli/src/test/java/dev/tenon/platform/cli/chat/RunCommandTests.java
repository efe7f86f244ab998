package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Where the prompt comes from, what is printed, and why it ends.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class RunCommandTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
    }

    private String promptOf(int request) {
        return new FakeTokenizer(false).decode(cli.engine.requests.get(request).prompt());
    }

    @Test
    void aChatsReasoningIsShownOnATerminalOnly() {
        cli.engine.answer = text -> "<think>\nHm.\n</think>\n\nYes.";
        assertEquals("Yes.\n", cli.run("run", "--chat", "-p", "Hello").out());
        cli.outTerminal = true;
        String shown = cli.run("run", "--chat", "-p", "Hello").out();
        assertTrue(shown.contains("Hm.\n\nYes."), shown);
        assertFalse(shown.contains("think>"), shown);
    }

    @Test
    void promptAndContinuationAreStreamed() {
        TestCli.Result result = cli.run("run", "-p", "Once");
        assertEquals(0, result.status(), result.err());
        assertEquals("Once there was a fox.\n", result.out());
        assertEquals("", result.err());
    }

    @Test
    void onATerminalLinesEndBetweenWords() {
        cli.outTerminal = true;
        cli.replace("run", () -> {
            RunCommand command = new RunCommand();
            command.columns = () -> 12;
            return command;
        });
        assertEquals(
                "Once upon a\n**time**\nthere was a\nfox.\n",
                cli.run("run", "-p", "Once upon a **time**").out());
        assertEquals(
                "1\n\t<a>\nthere was a\nfox.\n",
                cli.run("run", "-p", "1\n\t<a>").out());
    }

    @Test
    void promptIsNotShownWhenNotWanted() {
        assertEquals(
                " there was a fox.\n",
                cli.run("run", "-p", "Once", "--no-display-prompt").out());
    }

    @Test
    void withoutPromptTheDefaultOneIsTaken() {
        assertEquals("Once upon a time there was a fox.\n", cli.run("run").out());
    }

    @Test
    void pipedTextIsThePrompt() {
        cli.stdin = "Über\n".getBytes(StandardCharsets.UTF_8);
        assertEquals("Über there was a fox.\n", cli.run("run").out());
    }

    @Test
    void standardInputIsNotReadWhenAPromptIsGiven() {
        cli.stdin = "ignored".getBytes(StandardCharsets.UTF_8);
        assertEquals("Once there was a fox.\n", cli.run("run", "-p", "Once").out());
    }

    @Test
    void pipedTextThatIsNotUtf8IsRefused() {
        cli.stdin = new byte[] {'a', 'b', (byte) 0xFF, 'c'};
        TestCli.Result result = cli.run("run");
        assertEquals(1, result.status());
        assertEquals(1, result.errLines());
        assertTrue(result.err().contains("byte 0xFF at offset 2"), result.err());
        assertTrue(result.err().endsWith("[CLI-002]\n"), result.err());
    }

    @Test
    void cutCharacterAtTheEndOfInputIsRefused() {
        cli.stdin = new byte[] {'a', (byte) 0xE2, (byte) 0x82};
        assertTrue(cli.run("run").err().endsWith("[CLI-002]\n"));
    }

    @Test
    void promptComesFromAFileWithoutItsLastLineEnd() throws IOException {
        Path file = Files.writeString(folder.resolve("p.txt"), "Two\nlines\n\n");
        cli.run("run", "-f", file.toString());
        assertEquals("Two\nlines\n", promptOf(0));
    }

    @Test
    void missingPromptFileIsAnIoError() {
        TestCli.Result result = cli.run("run", "-f", "nowhere.txt");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[IO-001]\n"), result.err());
    }

    @Test
    void chatUsesTheTemplateAndDoesNotShowThePrompt() {
        TestCli.Result result = cli.run("run", "--chat", "-p", "Hi");
        assertEquals(" there was a fox.\n", result.out());
        int[] expected =
                new FakeTokenizer(false).encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", false, true);
        assertArrayEquals(expected, cli.engine.requests.getFirst().prompt());
    }

    @Test
    void systemMessageMeansChat() {
        cli.run("run", "-sys", "Be brief.", "-p", "Hi");
        int[] expected = new FakeTokenizer(false)
                .encode(
                        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                                + "<|im_start|>assistant\n",
                        false,
                        true);
        assertArrayEquals(expected, cli.engine.requests.getFirst().prompt());
    }

    @Test
    void chatAndRawExcludeEachOther() {
        TestCli.Result result = cli.run("run", "--chat", "--raw", "-p", "Hi");
        assertEquals(2, result.status());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
    }

    @Test
    void chatWithoutTemplateIsRefused() {
        cli.engine.template = null;
        TestCli.Result result = cli.run("run", "--chat", "-p", "Hi");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[MODEL-009]\n"), result.err());
    }

    @Test
    void bosIsNotAddedTwiceWhenTheTemplateWritesIt() {
        cli.engine.addsBos = true;
        cli.engine.template = variables -> variables.get("bos_token") + "Q";
        cli.run("run", "--chat", "-p", "Hi");
        assertArrayEquals(
                new int[] {FakeTokenizer.BOS, 'Q'},
                cli.engine.requests.getFirst().prompt());
        cli.engine.template = variables -> "Q";
        cli.run("run", "--chat", "-p", "Hi");
        assertArrayEquals(
                new int[] {FakeTokenizer.BOS, 'Q'}, cli.engine.requests.get(1).prompt());
    }

    @Test
    void promptLongerThanTheContextIsALimitError() {
        cli.engine.context = 3;
        TestCli.Result result = cli.run("run", "-p", "Once");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[LIMIT-001]\n"), result.err());
    }

    /// Tokenizing takes some forty times the memory of the text.
    @Test
    void aTextThatCannotFitIsRefusedBeforeItIsTokenized() {
        cli.stdin = "a".repeat(1 << 21).getBytes(StandardCharsets.UTF_8);
        TestCli.Result result = cli.run("run");
        assertEquals(1, result.status());
        assertTrue(result.err().startsWith("tenon: The text of 2097152 characters has at least "), result.err());
        assertTrue(result.err().endsWith("[LIMIT-001]\n"), result.err());
    }

    @Test
    void saysWhyTheTextStopped() {
        assertEquals("", cli.run("run", "-p", "Hi").err());
        assertEquals(
                "(stopped: the limit of 3 tokens is reached; -n sets it)\n",
                cli.run("run", "-p", "Hi", "-n", "3").err());
        assertEquals(
                "(stopped at a stop text: #, w)\n",
                cli.run("run", "-p", "Hi", "-r", "#", "-r", "w").err());
        cli.engine.context = 10;
        assertEquals(
                "(stopped: the context of 10 tokens is full; -c sets its size)\n",
                cli.run("run", "-p", "Hi").err());
        assertEquals("", cli.run("run", "-p", "Hi", "--quiet").err());
    }
}
