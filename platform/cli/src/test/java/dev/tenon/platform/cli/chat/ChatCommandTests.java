package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    void reasoningIsShownOnATerminalOnly() {
        cli.engine.answer = text -> "<think>\nHm.\n</think>\n\nYes.";
        assertEquals("Yes.\n", chat("Hello\n").out());
        cli.outTerminal = true;
        String shown = chat("Hello\n").out();
        assertTrue(shown.contains("Hm.") && shown.indexOf("Hm.") < shown.indexOf("Yes."), shown);
        assertFalse(shown.contains("think>"), shown);
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
        assertEquals(out, chat("/?\n").out());
        for (String command : new String[] {
            "/help",
            "/clear",
            "/retry",
            "/edit",
            "/set NAME VALUE",
            "/show",
            "/save [-f] FILE",
            "/load FILE",
            "/system",
            "/exit",
            "Ctrl-C"
        }) {
            assertTrue(out.contains(command), out);
        }
    }

    @Test
    void unknownCommandIsSaidAndNotSent() {
        TestCli.Result result = chat("/hlep\n");
        assertEquals(0, cli.engine.requests.size());
        assertEquals("Unknown command /hlep. Did you mean /help? /help lists them.\n", result.err());
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
    void savingReplacesAFileWhereThatIsAskedFor() throws IOException {
        Path file = Files.writeString(folder.resolve("talk.md"), "old");
        TestCli.Result result = chat("Hello\n/save -f " + file + "\n/save -f \n");
        assertEquals(0, result.status(), result.err());
        assertEquals("Saved to " + file + ".\nSomething is missing: /save [-f] FILE\n", result.err());
        assertEquals("## user\n\nHello\n\n## assistant\n\nAnswer 1.\n\n", Files.readString(file));
    }

    private TestCli.Result type(String... lines) {
        cli.inTerminal = true;
        cli.outTerminal = true;
        cli.typed = Stream.concat(Stream.of(lines), Stream.of("\u0004")).toList();
        return cli.run("chat");
    }

    /// A question would take the command after it as its answer.
    @Test
    void savingOverAFileAsksNothingOnATerminal() throws IOException {
        Path file = Files.writeString(folder.resolve("talk.md"), "precious");
        TestCli.Result result = type("Hello\r", "/save " + file + "\r", "/system\r");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.err().contains("To replace it: /save -f " + file), result.err());
        assertTrue(result.out().contains("There is no system message."), result.out());
        assertEquals("precious", Files.readString(file));
    }

    @Test
    void commandsThatFailAreNoMessagesThatFailed() {
        TestCli.Result result = type("/load " + folder.resolve("missing") + "\r", "Hello\r");
        assertTrue(result.err().contains("[IO-001]"), result.err());
        assertFalse(result.err().contains("message failed"), result.err());
    }

    @Test
    void aMessageThatIsTooLongCanBeMadeShorter() {
        cli.engine.context = 60;
        String typed = "A message that does not fit, however much leaves for it: it is alone.";
        TestCli.Result result = type(typed + "\r", "\u0001Hi \u000b\r"); // to the start, and cut what follows
        assertTrue(result.err().contains("[LIMIT-001]"), result.err());
        assertEquals(1, cli.engine.requests.size());
        assertTrue(sent(0).contains("user\nHi<|im_end|>"), sent(0));
    }

    @Test
    void aModelThatContinuesTextsIsSaidToGiveNoAnswers() throws IOException {
        String note = "it was not made to answer";
        assertFalse(chat("Hello\n").err().contains(note));
        Files.writeString(folder.resolve("story.properties"), "chat = false\n");
        assertTrue(chat("Hello\n").err().contains(note));
        assertTrue(cli.run("run", "--chat", "-p", "Hello").err().contains(note));
        assertFalse(cli.run("run", "-p", "Hello").err().contains(note));
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

    private String sent(int request) {
        StringBuilder text = new StringBuilder();
        FakeTokenizer tokenizer = new FakeTokenizer(false);
        for (int token : cli.engine.requests.get(request).prompt()) {
            text.append(tokenizer.piece(token));
        }
        return text.toString();
    }

    @Test
    void messagesOfSeveralLines() {
        chat("""
                One \\
                and two
                \"""
                Three
                /four
                \"""
                \"""/exit\"""
                """);
        assertEquals(3, cli.engine.requests.size());
        assertTrue(sent(0).contains("user\nOne \nand two<|im_end|>"), sent(0));
        assertTrue(sent(1).contains("user\nThree\n/four<|im_end|>"), sent(1));
        assertTrue(sent(2).contains("user\n/exit<|im_end|>"), sent(2));
    }

    @Test
    void settingsAreChangedByTheNamesOfTheOptions() {
        TestCli.Result result =
                chat("/set temp 0.25\n/set top_k 7\n/set predict 3\n/set seed -1\nHello\n/show\n", "-s", "5");
        SamplingParams sampling = cli.engine.requests.getFirst().sampling();
        assertEquals(0.25f, sampling.temperature());
        assertEquals(7, sampling.topK());
        assertEquals(0.95f, sampling.topP());
        assertNotEquals(5, sampling.seed());
        assertEquals(3, cli.engine.requests.getFirst().maxNewTokens());
        assertTrue(
                result.out().matches("(?s)Ans\n.*context +27 of 4096 tokens, 1 turn\n.*predict +3\ntemp +0.25\n.*"),
                result.out());
    }

    @Test
    void wrongSettingsAreSaidAndChangeNothing() {
        TestCli.Result result = chat(
                "/set temp hot\n/set temp -1\n/set temp 5000\n/set tmp 1\n/set temp\n/set\n/set logit-bias 999+1\nHello\n",
                "--temp",
                "0.5");
        assertEquals("""
                Invalid value for 'temp': 'hot' is not a number.
                Invalid value for 'temp': -1; expected 0 to 100.
                Invalid value for 'temp': 5000; expected 0 to 100.
                There is no setting 'tmp'. Did you mean temp? /show lists them.
                Something is missing: /set NAME VALUE; /show lists the settings.
                Something is missing: /set NAME VALUE
                Invalid value for 'logit-bias': 999 is not a token; expected 0 to 258.
                """, result.err());
        assertEquals(0.5f, cli.engine.requests.getFirst().sampling().temperature());
    }

    @Test
    void systemMessageIsShownAndNotLost() {
        TestCli.Result result =
                chat("/system\nHello\n/system Be brief.\n/system\n/system \"\"\n/system\n", "-sys", "Be kind.");
        assertEquals("Be kind.\nAnswer 1.\nBe brief.\nThere is no system message.\n", result.out());
    }

    @Test
    void lastMessageIsEdited() {
        TestCli.Result result = chat("/edit Hi\nHello\n/edit Good day\n/edit\n");
        assertEquals("There is no message yet.\nSomething is missing: /edit TEXT\n", result.err());
        assertEquals("Answer 1.\nAnswer 2.\n", result.out());
        assertTrue(sent(1).startsWith("Good day<|im_end|>"), sent(1));
    }

    @Test
    void failedRetryKeepsTheConversation() throws IOException {
        cli.engine.context = 60;
        Path file = folder.resolve("talk.md");
        chat("Hello\n/edit A message that does not fit, however much leaves for it: it is alone.\n/save " + file
                + "\n");
        assertEquals("## user\n\nHello\n\n## assistant\n\nAnswer 1.\n\n", Files.readString(file));
    }

    @Test
    void savedConversationGoesOn() {
        Path file = folder.resolve("talk.md");
        chat("\"\"\"\nOne\n\n## user\n\"\"\"\nTwo\n/save " + file + "\n", "-sys", "Be kind.");
        TestCli.Result result = chat("/load " + file + "\nThree\n");
        assertEquals("Loaded from " + file + ": 2 turns.\n", result.err());
        assertEquals(
                "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nOne\n\n## user<|im_end|>\n"
                        + "<|im_start|>assistant\nAnswer 1.<|im_end|>\n<|im_start|>user\nTwo<|im_end|>\n"
                        + "<|im_start|>assistant\nAnswer 2.<|im_end|>\n<|im_start|>user\nThree<|im_end|>\n"
                        + "<|im_start|>assistant\n",
                sent(2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Hello", "## user\n\nHi\n\n", "## assistant\n\nHi\n\n", "## system\n\nA\n## system\n\nB"})
    void fileThatIsNoSavedChatIsRefused(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("talk.md"), text);
        TestCli.Result result = chat("/load " + file + "\nHello\n");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("is no saved chat") && result.err().endsWith("[IO-001]\n"), result.err());
    }
}
