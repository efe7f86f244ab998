package dev.tenon.platform.cli.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.terminal.Colors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;

class CliTests {
    @TempDir
    Path folder;

    @Test
    void onlyTheCalledCommandIsMade() {
        TestCli cli = new TestCli(folder);
        List<String> seen = new ArrayList<>();
        cli.add("third", () -> {
            seen.addAll(cli.made);
            return new Third();
        });
        TestCli.Result result = cli.run("third");
        assertEquals(7, result.status(), result.err());
        assertEquals(List.of("third"), seen);
        assertTrue(cli.made.isEmpty(), "commands are given back");
    }

    @Test
    void helpListsCommandsOfOtherBundlesToo() {
        TestCli cli = new TestCli(folder);
        cli.add("third", Third::new);
        TestCli.Result result = cli.run("--help");
        assertEquals(0, result.status(), result.err());
        for (CommandSource source : cli.sources) {
            assertTrue(result.out().contains("  " + source.name()), source.name() + " in " + result.out());
        }
        assertTrue(result.out().contains("Says hello from afar."));
        assertTrue(cli.made.isEmpty());
    }

    @Test
    void helpListsCommandsInGroupsOf80Columns() {
        TestCli cli = new TestCli(folder);
        cli.add("third", Third::new);
        String help = cli.run("--help").out();
        List<String> groups = help.lines().filter(l -> l.matches("\\w+:")).toList();
        assertEquals(List.of("Use:", "Models:", "Measure:", "Other:", "Develop:", "Examples:"), groups, help);
        assertTrue(help.matches("(?s).*\nOther:\n  third +Says hello from afar.\n.*"), help);
        assertTrue(help.matches("(?s).*\nDevelop:\n  logits .*"), help);
        for (CommandSource source : cli.sources) {
            String text = cli.run(source.name(), "--help").out() + help;
            assertTrue(text.lines().allMatch(line -> line.length() <= 80), text);
        }
    }

    @Test
    void aWrongChoiceListsTheRightOnes() {
        TestCli cli = new TestCli(folder);
        String type = cli.run("run", "-ctk", "FOO", "-p", "x").err();
        assertTrue(type.contains("expected one of [F32, F16, Q8_0] but was 'FOO'"), type);
        String shell = cli.run("completion", "ksh").err();
        assertTrue(shell.contains("[bash, zsh, fish]"), shell);
        String setting = cli.run("run", "--set", "foo", "-p", "x").err();
        assertTrue(setting.contains("option '--set' (NAME=VALUE): expected NAME=VALUE but was foo."), setting);
    }

    @Test
    void noArgumentsShowTheHelp() {
        TestCli.Result result = new TestCli(folder).run();
        assertEquals(0, result.status());
        assertTrue(result.out().startsWith("Usage: tenon"), result.out());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run",
                "chat",
                "inspect",
                "devices",
                "doctor",
                "explain",
                "perplexity",
                "logits",
                "tokenize",
                "pull",
                "completion",
                "list",
                "show",
                "rm",
                "cp"
            })
    void everyCommandHasHelpWithExamples(String name) {
        TestCli.Result result = new TestCli(folder).run(name, "--help");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.out().startsWith("Usage: tenon " + name), result.out());
        assertTrue(result.out().contains("Examples:"), result.out());
        assertTrue(result.out().contains("  tenon " + name), result.out());
        assertTrue(result.out().contains("--quiet"), result.out());
        assertEquals("", result.err());
    }

    @Test
    void helpIsACommandToo() {
        TestCli cli = new TestCli(folder);
        assertEquals(cli.run("--help").out(), cli.run("help").out());
        assertEquals(cli.run("run", "--help").out(), cli.run("help", "run").out());
    }

    @Test
    void thePageOfCommandsHasEachOptionOfACommandOnce() {
        String page = new TestCli(folder).run("help", "--markdown").out();
        assertTrue(page.contains("\n## tenon run\n"), page);
        assertTrue(page.contains("- `-n, --predict, --n-predict N`: "), page);
        assertEquals(2, page.split("- `-m, --model FILE`: ").length, "a shared option stands once: " + page);
        assertFalse(page.contains("- `--markdown"), "a hidden option: " + page);
    }

    @Test
    void theManualPageHasEachOptionOfACommandOnceAndNoForeignRequests() {
        String page = new TestCli(folder).run("help", "--man").out();
        assertTrue(page.startsWith(".TH TENON 1 \"\" \"tenon 1.2.3\"\n.SH NAME\ntenon \\- Runs GGUF"), page);
        assertTrue(page.contains("\n.SS tenon run\nAnswers a question"), page);
        assertTrue(page.contains("\n.TP\n.B \\-n, \\-\\-predict, \\-\\-n\\-predict N\nMaximum"), page);
        assertEquals(2, page.split("\\.B \\\\-m, \\\\-\\\\-model FILE").length, "a shared option stands once: " + page);
        List<String> requests = page.lines()
                .filter(line -> line.startsWith(".") || line.startsWith("'"))
                .map(line -> line.split(" ")[0])
                .distinct()
                .sorted()
                .toList();
        assertEquals(List.of(".B", ".I", ".PP", ".SH", ".SS", ".TH", ".TP", ".fi", ".nf"), requests);
    }

    @Test
    void helpOfRunShowsDefaults() {
        String help = new TestCli(folder).run("run", "--help").out().replaceAll("\\s+", " ");
        assertTrue(help.contains("else 512"), help);
        assertTrue(help.contains("(default: -1)"), help);
        assertTrue(help.contains("else 0.8)"), help);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--version",
                "--help",
                "help --markdown",
                "help --man",
                "run --help",
                "run -p Once",
                "chat",
                "inspect --json %s",
                "inspect %s",
                "devices",
                "devices --json",
                "doctor --json",
                "explain",
                "tokenize -p Once",
                "logits --ids 1,2 -o -"
            })
    void outputThatIsLostIsAnExitStatus(String line) throws IOException {
        TestCli cli = new TestCli(folder);
        Path model = folder.resolve("m.gguf");
        try (InputStream in = CliTests.class.getResourceAsStream("/golden/malformed/ok_model.gguf")) {
            Files.copy(in, model);
        }
        cli.stdin = "Hello\n".getBytes(StandardCharsets.UTF_8);
        String[] args = line.formatted(model).split(" ");
        cli.outputFails = "No space left on device";
        TestCli.Result full = cli.run(args);
        assertEquals(1, full.status(), full.err());
        assertEquals(
                "tenon: Standard output cannot be written: No space left on device. Free space, or send it elsewhere."
                        + " [IO-001]\n",
                full.err());
        cli.outputFails = "Broken pipe";
        TestCli.Result closed = cli.run(args);
        assertEquals(141, closed.status());
        assertEquals("", closed.err(), "nobody reads any more");
        assertTrue(cli.made.isEmpty(), "commands are given back");
    }

    @Test
    void aGenerationEndsWhenNobodyReads() {
        TestCli cli = new TestCli(folder);
        cli.outputFails = "Broken pipe";
        assertEquals(141, cli.run("run", "-p", "Once").status());
        assertEquals(1, cli.engine.requests.size(), "the prompt is shown with the first token");
        assertEquals(141, cli.run("run", "-p", "Once", "--no-display-prompt").status());
        assertEquals(2, cli.engine.requests.size());
    }

    @Test
    void versionIsShown() {
        assertEquals("tenon 1.2.3\n", new TestCli(folder).run("--version").out());
    }

    @Test
    void unknownOptionIsOneLineWithASuggestion() {
        TestCli.Result result = new TestCli(folder).run("run", "--tempp", "1");
        assertEquals(2, result.status());
        assertEquals(1, result.errLines(), result.err());
        assertTrue(result.err().startsWith("tenon: Unknown option"), result.err());
        assertTrue(result.err().contains("--temp"), result.err());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        assertEquals("", result.out());
    }

    @Test
    void swappedLettersFindTheirOption() {
        TestCli.Result result = new TestCli(folder).run("run", "--tmep", "1");
        assertEquals(
                "tenon: Unknown option '--tmep'. Did you mean --temp? See 'tenon run --help'. [CLI-001]\n",
                result.err());
        String other = new TestCli(folder).run("run", "--xyzzyxyz=5").err();
        assertEquals("tenon: Unknown option '--xyzzyxyz'. See 'tenon run --help'. [CLI-001]\n", other);
    }

    @Test
    void unknownCommandIsAUsageErrorWithASuggestion() {
        TestCli.Result result = new TestCli(folder).run("inspekt", "x");
        assertEquals(2, result.status());
        assertEquals(1, result.errLines(), result.err());
        assertTrue(
                result.err().startsWith("tenon: 'tenon' has no command 'inspekt'. Did you mean inspect"), result.err());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
        String argument = new TestCli(folder).run("devices", "x").err();
        assertEquals("tenon: Unexpected argument 'x'. See 'tenon devices --help'. [CLI-001]\n", argument);
    }

    @Test
    void badNumberIsAUsageError() {
        TestCli.Result result = new TestCli(folder).run("run", "-n", "many");
        assertEquals(2, result.status());
        assertEquals(1, result.errLines(), result.err());
        assertTrue(result.err().endsWith("[CLI-001]\n"), result.err());
    }

    @Test
    void missingModelIsOneLineWithItsCode() {
        TestCli.Result result = new TestCli(folder).run("run", "-m", "nowhere.gguf", "-p", "x");
        assertEquals(1, result.status());
        assertEquals("tenon: nowhere.gguf does not exist. Check the path. [IO-001]\n", result.err());
    }

    @Test
    void noModelAtAllIsAUsageError() {
        TestCli cli = new TestCli(folder);
        cli.settings.remove("model");
        TestCli.Result result = cli.run("run", "-p", "x");
        assertEquals(2, result.status());
        assertTrue(result.err().startsWith("tenon: No model is given"), result.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--help", "run --help", "help run", "--man --help", "completion bash"})
    void whatDependsOnNothingElseIsKept(String line) {
        TestCli cli = new TestCli(folder);
        TestCli.Result result = cli.run(line.isEmpty() ? new String[] {} : line.split(" "));
        assertEquals(result.status(), cli.kept.status());
        assertEquals(result.out(), cli.kept.out());
        assertEquals(result.err(), cli.kept.err());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"list", "run -n x", "run -n -1", "run -m none.gguf x", "rnu", "run --tmep 0", "completion sh"})
    void whatDependsOnMoreIsNotKept(String line) {
        TestCli cli = new TestCli(folder);
        cli.run(line.split(" "));
        assertNull(cli.kept);
    }

    @Test
    void stackTraceComesOnlyWithDebug() {
        assertTrue(new TestCli(folder)
                .run("run", "-m", "nowhere.gguf", "--debug")
                .err()
                .contains("\tat "));
        TestCli cli = new TestCli(folder);
        cli.settings.put("debug", "1");
        assertTrue(cli.run("run", "-m", "nowhere.gguf").err().contains("\tat "));
    }

    @Test
    void unexpectedErrorIsOneLineToo() {
        TestCli cli = new TestCli(folder);
        cli.engine.answer = text -> {
            throw new IllegalStateException("broken\nin two lines");
        };
        TestCli.Result result = cli.run("run", "-p", "x");
        assertEquals(1, result.status());
        assertEquals(1, result.errLines(), result.err());
        assertTrue(result.err().contains("IllegalStateException: broken."), result.err());
        assertTrue(result.err().endsWith("[CLI-003]\n"), result.err());
    }

    @Test
    void whatFailsWhileTheProcessIsEndingIsNoNews() {
        TestCli cli = new TestCli(folder);
        cli.engine.answer = text -> {
            cli.ending = true;
            cli.settings.put("debug", "1");
            throw new IllegalStateException("the bundle is gone");
        };
        TestCli.Result result = cli.run("run", "-p", "x");
        assertEquals(1, result.status());
        assertEquals("", result.err());
    }

    @Test
    void aCommandThatCannotBeMadeWhileTheProcessIsEndingIsNoNewsEither() {
        TestCli cli = new TestCli(folder);
        cli.sources.clear();
        cli.add("run", () -> {
            cli.ending = true;
            throw new NoClassDefFoundError("a class of an uninstalled bundle");
        });
        TestCli.Result result = cli.run("run", "-p", "x");
        assertEquals(1, result.status());
        assertEquals("", result.err());
    }

    @Test
    void commandWithoutEngineSaysSo() {
        TestCli cli = new TestCli(folder);
        cli.withEngine = false;
        TestCli.Result result = cli.run("run", "-p", "x");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[ENV-003]\n"), result.err());
    }

    @Test
    void twoCommandsOfOneNameAreRefusedWithBothOrigins() {
        TestCli cli = new TestCli(folder);
        cli.add("run", Third::new);
        TestCli.Result result = cli.run("run");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("the test and the test"), result.err());
        assertTrue(result.err().endsWith("[CFG-002]\n"), result.err());
    }

    @Test
    void aNameOfTwoWordsIsACommandBelowAnother() {
        TestCli cli = new TestCli(folder);
        cli.add("doctor third", Third::new);
        TestCli.Result result = cli.run("doctor", "third");
        assertEquals(7, result.status(), result.err());
        assertTrue(cli.run("doctor", "--help").out().contains("Says hello from afar."));
        assertTrue(cli.run("doctor").out().contains("passed"), "the upper command stays what it was");
        assertTrue(cli.made.isEmpty(), "commands are given back");
    }

    @Test
    void brokenCommandDoesNotHideTheOthers() {
        TestCli cli = new TestCli(folder);
        cli.add("broken", () -> {
            throw new IllegalStateException("no luck");
        });
        TestCli.Result result = cli.run("--help");
        assertEquals(0, result.status());
        assertTrue(result.out().contains("inspect"));
        assertTrue(result.err().contains("'broken'") && result.err().contains("no luck"), result.err());
    }

    @Test
    void nothingIsColouredWithoutTerminal() {
        TestCli.Result result = new TestCli(folder).run("run", "--help");
        assertFalse(result.out().contains("\u001b["), result.out());
    }

    @Test
    void wordsOfOtherProgramsLeadToOurs() throws IOException {
        TestCli cli = new TestCli(folder);
        assertEquals(cli.run("list").out(), cli.run("ls").out());
        assertEquals(cli.run("list", "--help").out(), cli.run("help", "ls").out());
        assertEquals("tenon 1.2.3\n", cli.run("version").out());
        for (String[] each : new String[][] {
            {"remove", "Did you mean rm?"},
            {"delete", "Did you mean rm?"},
            {"download", "Did you mean pull?"},
            {"ps", "GET /api/ps of a server"},
            {"stop", "Ctrl-C ends a command"},
            {"lsit", "Did you mean list?"},
            {"chta", "Did you mean chat?"},
            {"sing", "has no command 'sing'. See"},
        }) {
            TestCli.Result result = cli.run(each[0]);
            assertEquals(2, result.status());
            assertTrue(result.err().contains(each[1]), result.err());
        }
    }

    @Test
    void coloursFollowOptionSettingAndEnvironment() {
        assertEquals(Colors.AUTO, Colors.choose(null, Map.of(), List.of()));
        assertEquals(Colors.NEVER, Colors.choose("auto", Map.of("NO_COLOR", "1"), List.of()));
        assertEquals(Colors.NEVER, Colors.choose("", Map.of("TERM", "dumb"), List.of()));
        assertEquals(Colors.ALWAYS, Colors.choose("always", Map.of("NO_COLOR", "1"), List.of()));
        assertEquals(Colors.NEVER, Colors.choose("always", Map.of(), List.of("run", "--no-color")));
        TestCli cli = new TestCli(folder);
        cli.settings.put("color", "always");
        assertTrue(cli.run("run", "--help").out().contains("\u001b["));
        cli.settings.put("color", "pink");
        TestCli.Result result = cli.run("run", "--help");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[CFG-001]\n"), result.err());
    }

    @Command(name = "third", description = "Says hello from afar.")
    static class Third implements TenonCommand {
        @Override
        public Integer call() {
            return 7;
        }
    }
}
