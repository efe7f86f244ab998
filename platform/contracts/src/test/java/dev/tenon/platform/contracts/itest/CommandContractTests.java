package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.cli.TenonCommand;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

class CommandContractTests {
    @Command(name = "hello", description = "Says hello.")
    static class Hello implements TenonCommand {
        @Option(names = "--name", description = "Whom.")
        String name;

        @Override
        public Integer call() {
            return 0;
        }
    }

    @Command(name = "hello")
    static class Wrong implements TenonCommand {
        @Option(names = {"-q", "--name"})
        String name;

        @Override
        public Integer call() {
            return 0;
        }
    }

    private static Set<String> failures(TenonCommand command, Object name, Object scope, Set<Object> others) {
        CommandContract.select(new CommandContract.Selection(command, name, scope, others));
        Set<String> failed = new TreeSet<>();
        ContractRun run = ContractRun.of("a command", CommandContract.class, test -> {});
        run.cases().stream()
                .filter(test -> test.outcome() != ContractRun.Outcome.PASSED)
                .forEach(test -> failed.add(test.method()));
        assertEquals(6, run.cases().size());
        return failed;
    }

    @Test
    void aCommandThatKeepsToAllPasses() {
        assertEquals(Set.of(), failures(new Hello(), "hello", "prototype", Set.of("serve", "run")));
        assertEquals(Set.of(), failures(new Hello(), "doctor hello", "prototype", Set.of("hello")));
    }

    @Test
    void whatIsWrongIsFound() {
        assertEquals(
                new TreeSet<>(List.of(
                        "allItsArgumentsAreDescribed",
                        "eachCallHasAnObjectOfItsOwn",
                        "itSaysWhatItDoes",
                        "noOtherCommandHasItsName",
                        "optionsOfAllCommandsAreNotDeclaredAgain",
                        "theServiceHasTheNameOfTheCommand")),
                failures(new Wrong(), "hallo", "singleton", Set.of("hallo")));
        assertEquals(
                Set.of("theServiceHasTheNameOfTheCommand", "eachCallHasAnObjectOfItsOwn"),
                failures(new Hello(), null, null, Set.of()));
    }
}
