package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChatCommandTests {
    @TempDir
    Path folder;

    private TestCli cli;
    private int answers;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
        cli.engine.answer = text -> "Answer " + ++answers + ".";
    }

    private TestCli.Result chat(String lines, String... args) {
        cli.stdin = lines.getBytes(StandardCharsets.UTF_8);
        String[] all = new String[args.length + 1];
        all[0] = "chat";
        System.arraycopy(args, 0, all, 1, args.length);
        return cli.run(all);
    }

    @Test
    void eachLineIsAMessage() {
        TestCli.Result result = chat("Hello\n\nAgain\r\n");
        assertEquals(0, result.status(), result.err());
        assertEquals("Answer 1.\nAnswer 2.\n", result.out());
        assertEquals("", result.err());
    }

    @Test
    void lastLineNeedsNoLineEnd() {
        assertEquals("Answer 1.\n", chat("Hello").out());
    }

    @Test
    void exitEndsTheChat() {
        assertEquals("Answer 1.\n", chat("Hello\n/exit\nAgain\n").out());
    }

    @Test
    void regenAnswersAnewWithOtherRandomNumbers() {
        assertEquals(
                "Answer 1.\nAnswer 2.\n", chat("Hello\n/regen\n", "-s", "5").out());
        assertEquals(5, cli.engine.requests.get(0).sampling().seed());
        assertNotEquals(5, cli.engine.requests.get(1).sampling().seed());
    }

    @Test
    void helpListsTheCommands() {
        String out = chat("/help\n").out();
        for (String command : new String[] {"/help", "/clear", "/regen", "/save", "/system", "/exit", "Ctrl-C"}) {
            assertTrue(out.contains(command), out);
        }
    }

    @Test
    void unknownCommandIsSaidAndNotSent() {
        TestCli.Result result = chat("/hlep\n");
        assertEquals(0, cli.engine.requests.size());
        assertTrue(result.err().contains("Unknown command /hlep"), result.err());
    }

    @Test
    void conversationIsSaved() throws IOException {
        Path file = folder.resolve("talk.md");
        chat("Hello\n/save " + file + "\n", "-sys", "Be kind.");
        assertEquals("""
                ## system

                Be kind.

                ## user

                Hello

                ## assistant

                Answer 1.

                """, Files.readString(file));
    }

    @Test
    void savingReplacesNoFileUnasked() throws IOException {
        Path file = Files.writeString(folder.resolve("talk.md"), "precious");
        TestCli.Result result = chat("Hello\n/save " + file + "\n");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("exists already") && result.err().endsWith("[IO-001]\n"), result.err());
        assertEquals("precious", Files.readString(file));
    }

    @Test
    void systemCommandStartsAnew() {
        chat("Hello\n/system Be brief.\nHi\n");
        int[] expected = new FakeTokenizer(false).encode("system\nBe brief.<|im_end|>\n", false, true);
        int[] sent = cli.engine.requests.get(1).prompt();
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], sent[i], "token " + i);
        }
    }

    @Test
    void messageThatIsTooLongIsRefusedAndTheChatGoesOn() {
        cli.engine.context = 60;
        TestCli.Result result =
                chat("Hello\nA message that does not fit, however much leaves for it: it is alone.\nHi\n");
        assertEquals("Answer 1.\nAnswer 2.\n", result.out());
        assertTrue(result.err().contains("the context holds 60"), result.err());
        assertTrue(result.err().contains("[LIMIT-001]\n"), result.err());
        assertEquals(1, result.status());
    }

    @Test
    void fullContextLosesTheOldestTurnsAndIsSaid() {
        cli.engine.context = 200;
        TestCli.Result result = chat("Hello\n".repeat(30));
        assertEquals(0, result.status(), result.err());
        assertEquals(30, result.out().lines().count());
        assertTrue(
                result.err().startsWith("(the context is full: the oldest 2 turns left the conversation)\n"),
                result.err());
        assertEquals("", chat("Hello\n".repeat(30), "--quiet").err());
    }

    @Test
    void saysWhyAnAnswerStopped() {
        assertEquals(
                "(stopped: the limit of 3 tokens is reached; -n sets it)\n",
                chat("Hello\n", "-n", "3").err());
        assertEquals("(stopped at a stop text: s)\n", chat("Hello\n", "-r", "s").err());
        cli.engine.context = 25;
        assertEquals(
                "(stopped: the context of 25 tokens is full; -c sets its size)\n",
                chat("One\n").err());
    }

    @Test
    void lineThatIsNotUtf8IsRefused() {
        cli.stdin = new byte[] {'a', '\n', (byte) 0xC3, '\n'};
        TestCli.Result result = cli.run("chat");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("line 2 of standard input"), result.err());
        assertTrue(result.err().endsWith("[CLI-002]\n"), result.err());
    }

    @Test
    void modelWithoutTemplateIsRefused() {
        cli.engine.template = null;
        TestCli.Result result = chat("Hello\n");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[MODEL-009]\n"), result.err());
    }
}
