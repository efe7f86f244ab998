package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What the arguments mean: a model, a question, a prompt, or a chat.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class RunArgumentsTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
    }

    private String chatOf(int request) {
        int[] prompt = cli.engine.requests.get(request).prompt();
        return new FakeTokenizer(false).decode(prompt);
    }

    @Test
    void aQuestionIsAnsweredThroughTheTemplate() {
        TestCli.Result result = cli.run("run", "Why is the sky blue?");
        assertEquals(0, result.status(), result.err());
        assertEquals(" there was a fox.\n", result.out());
        assertEquals(cli.model, cli.engine.loads.getFirst().path());
        cli.run("run", "--chat", "-p", "Why is the sky blue?");
        assertEquals(chatOf(1), chatOf(0));
    }

    @Test
    void aModelWithoutTemplateContinuesTheQuestion() {
        cli.engine.template = null;
        assertEquals("Once there was a fox.\n", cli.run("run", "Once").out());
        assertEquals("Once there was a fox.\n", cli.run("run", "--raw", "Once").out());
    }

    @Test
    void aModelMayHaveATemplateAndContinueAllTheSame() throws IOException {
        Files.writeString(folder.resolve("story.properties"), "chat = false\n");
        assertEquals("Once there was a fox.\n", cli.run("run", "Once").out());
        assertEquals(
                " there was a fox.\n", cli.run("run", "--chat", "-p", "Once").out());
    }

    @Test
    void rawContinuesTheQuestion() {
        assertEquals("Once there was a fox.\n", cli.run("run", "--raw", "Once").out());
    }

    @Test
    void theFirstArgumentMayBeAModel() throws IOException {
        Path file = Files.writeString(folder.resolve("other.gguf"), "fake");
        Path pulled = folder.resolve("models/org/repo/tiny-Q4_K_M.gguf");
        Files.createDirectories(pulled.getParent());
        Files.writeString(pulled, "fake");
        assertEquals(0, cli.run("run", file.toString(), "Hi").status());
        assertEquals(file, cli.engine.loads.getFirst().path());
        for (String name : List.of("tiny-Q4_K_M", "org/repo", "org/repo:q4_k_m", "hf:org/repo")) {
            assertEquals(" there was a fox.\n", cli.run("run", name, "Hi").out());
            assertEquals(pulled, cli.engine.loads.getLast().path());
        }
        assertEquals(
                "Once upon a time there was a fox.\n",
                cli.run("run", "org/repo").out());
        assertEquals(pulled, cli.engine.loads.getLast().path());
        assertEquals(
                "Hi there was a fox.\n", cli.run("run", "org/repo", "-p", "Hi").out());
        assertEquals(0, cli.run("run", "-m", "org/repo", "Hi").status());
        assertEquals(pulled, cli.engine.loads.getLast().path());
    }

    @Test
    void nameOfAPulledModelIsFound() throws IOException {
        Path repo = Files.createDirectories(folder.resolve("models/org/repo"));
        Path pulled = Files.writeString(repo.resolve("tiny-Q4_K_M.gguf"), "fake");
        for (String name : new String[] {"tiny-Q4_K_M", "tiny-Q4_K_M.gguf", "hf:org/repo", "hf:org/repo:q4_k_m"}) {
            assertEquals(0, cli.run("run", "-m", name, "-p", "x").status(), name);
            assertEquals(pulled, cli.engine.loads.removeFirst().path(), name);
        }
        TestCli.Result missing = cli.run("run", "-m", "hf:org/repo:Q8_0", "-p", "x");
        assertEquals(1, missing.status());
        assertTrue(missing.err().contains("tenon pull hf:org/repo:Q8_0"), missing.err());
    }

    @Test
    void aMissingModelIsNotTakenForAQuestion() {
        TestCli.Result file = cli.run("run", "nowhere.gguf");
        assertEquals(1, file.status());
        assertTrue(file.err().contains("nowhere.gguf does not exist"), file.err());
        TestCli.Result hub = cli.run("run", "org/none", "Hi");
        assertEquals(1, hub.status());
        assertTrue(hub.err().contains("tenon pull org/none"), hub.err());
    }

    private void atATerminal() {
        cli.inTerminal = true;
        cli.outTerminal = true;
        cli.typed = List.of("Hi\r", "\u0004");
    }

    @Test
    void withoutAQuestionAChatStartsOnATerminal() {
        atATerminal();
        TestCli.Result result = cli.run("run", "-m", cli.model.toString(), "-sys", "Be brief.", "-n", "7");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.out().contains(" there"), result.out());
        assertTrue(result.err().contains("/help lists the commands"), result.err());
        assertEquals(1, cli.engine.requests.size());
        assertTrue(chatOf(0).contains("Be brief.\nuser\nHi\n"), chatOf(0));
        assertEquals(7, cli.engine.requests.getFirst().maxNewTokens());
    }

    @Test
    void aModelThatContinuesSaysWhatToTypeOnATerminal() throws IOException {
        atATerminal();
        cli.engine.template = null;
        TestCli.Result result = cli.run("run", cli.model.toString());
        assertEquals(2, result.status(), result.err());
        assertTrue(result.err().contains("tenon run " + cli.model + " \"Once upon a time\""), result.err());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        assertTrue(cli.engine.requests.isEmpty());
        Files.writeString(folder.resolve("story.properties"), "prompt = Long ago\n");
        assertEquals("Long ago there was a fox.\n", cli.run("run").out());
    }

    @Test
    void noChatStartsWhereAPromptIsThere() {
        atATerminal();
        assertEquals("Once there was a fox.\n", cli.run("run", "-p", "Once").out());
        assertEquals(" there was a fox.\n", cli.run("run", "Why?").out());
        assertEquals(
                "Once upon a time there was a fox.\n", cli.run("run", "--raw").out());
        cli.outTerminal = false;
        assertEquals("Once upon a time there was a fox.\n", cli.run("run").out());
    }

    @Test
    void argumentsThatContradictAreRefused() {
        for (String[] args : new String[][] {
            {"run", "why", "is"}, {"run", "-m", "story.gguf", "why", "is"}, {"run", "why?", "-p", "x"}
        }) {
            TestCli.Result result = cli.run(args);
            assertEquals(2, result.status(), result.err());
            assertEquals(1, result.errLines(), result.err());
            assertTrue(result.err().contains("'" + (args[1].equals("-m") ? "is" : args[1]) + "'"), result.err());
            assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        }
        assertTrue(cli.engine.loads.isEmpty());
    }
}
