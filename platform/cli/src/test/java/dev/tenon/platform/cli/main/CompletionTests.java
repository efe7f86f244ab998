package dev.tenon.platform.cli.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.platform.cli.TenonCommand;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

class CompletionTests {
    @TempDir
    Path folder;

    @Command(name = "below", description = "Is tested.")
    static final class Below implements TenonCommand {
        @Option(names = "--deep", description = "Nothing.")
        private boolean deep;

        @Parameters(index = "0", arity = "0..1", description = "Anything.")
        private String from;

        @Parameters(index = "1", arity = "0..1", description = "One of ${COMPLETION-CANDIDATES}.")
        private Thread.State state;

        @Override
        public Integer call() {
            return 0;
        }
    }

    @Command(name = "third", description = "Has commands below it.")
    static final class Group implements TenonCommand {
        @Override
        public Integer call() {
            return 0;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bash", "zsh", "fish"})
    void completionKnowsCommandsOptionsAndChoices(String shell) {
        TestCli cli = new TestCli(folder);
        cli.add("third", Below::new);
        TestCli.Result result = cli.run("completion", shell);
        assertEquals(0, result.status(), result.err());
        for (String word : List.of("third", "perplexity", "no-fuse", "cache-type-k", "Q8_0")) {
            assertTrue(result.out().contains(word), word + " in " + result.out());
        }
        assertTrue(cli.made.isEmpty(), "commands are given back");
    }

    @Test
    void fishGetsEachOptionWithItsCommand() {
        List<String> lines =
                new TestCli(folder).run("completion", "fish").out().lines().toList();
        assertTrue(
                lines.contains("complete -c tenon -n '__fish_seen_subcommand_from run' -o ctk -l cache-type-k -r -f"
                        + " -a 'F32 F16 Q8_0' -d 'Type of cached keys: F32, F16, Q8_0'"),
                String.join("\n", lines));
        assertTrue(lines.stream().allMatch(l -> l.matches("complete -c tenon .* -d '([^'\\\\]|\\\\.)*'")));
    }

    private String script(String shell) throws IOException {
        TestCli cli = new TestCli(folder);
        cli.engine.backends.add((Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, args) -> "cpu-fake"));
        cli.add("third", Group::new);
        cli.add("third below", Below::new);
        return Files.writeString(
                        folder.resolve("script"), cli.run("completion", shell).out())
                .toString();
    }

    /// {@return the first words of what a shell prints}
    private static Set<String> words(String... command) throws Exception {
        assumeTrue(
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(place -> Files.isExecutable(Path.of(place, command[0]))),
                command[0] + " is not here");
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        process.outputWriter().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return printed.lines()
                .map(line -> line.strip().split("\\s")[0])
                .filter(word -> !word.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @CsvSource({
        "third b, below",
        "third below --de, --debug --deep",
        "third below d W, WAITING",
        "completion z, zsh",
        "explain CFG, CFG-001 CFG-002",
        "completion '', bash fish zsh",
        "run -ctk Q, Q8_0",
        "run --backend c, cpu-fake",
        "run --backend '', auto cpu-fake",
        "perp, perplexity"
    })
    void theShellsOfferWhatFits(String typed, String offered) throws Exception {
        Set<String> expected = new TreeSet<>(List.of(offered.split(" ")));
        String complete = "source " + script("bash") + "; COMP_WORDS=(tenon " + typed + "); "
                + "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _complete_tenon; printf '%s\\n' \"${COMPREPLY[@]}\"";
        assertEquals(expected, words("bash", "--norc", "-c", complete), "bash");
        String line = "tenon " + typed.replace("''", "");
        assertEquals(
                expected,
                words("fish", "-N", "-c", "source " + script("fish") + "; complete -C '" + line + "'"),
                "fish");
    }

    /// Models are files, and so is what most options name.
    @Test
    void bashOffersFilesWhereNothingElseFits() throws IOException {
        String script = Files.readString(Path.of(script("bash")));
        assertTrue(script.contains("complete -F _complete_tenon -o default tenon"), script);
        assertFalse(script.contains("+o default"), script);
    }
}
