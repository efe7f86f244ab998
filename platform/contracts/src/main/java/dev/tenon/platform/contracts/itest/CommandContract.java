package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.TenonCommand;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Constants;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/// What every command has to keep to. It is looked at and not run: what it does is its own.
///
/// JUnit makes the object, so what it is about comes through [#select]; one run at a time.
final class CommandContract {
    /// What to test.
    ///
    /// @param command an object of the command
    /// @param name the service's property [TenonCommand#NAME]
    /// @param scope the service's property `service.scope`
    /// @param others those of all other commands
    record Selection(TenonCommand command, Object name, Object scope, Set<Object> others) {}

    /// Options that the command line gives to all.
    private static final List<String> GIVEN = List.of("-h", "--help", "-q", "--quiet", "--no-color", "--debug");

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    private CommandSpec spec() {
        return new CommandLine(selection.command()).getCommandSpec();
    }

    @Test
    void theServiceHasTheNameOfTheCommand() {
        Command command = selection.command().getClass().getAnnotation(Command.class);
        assertNotNull(command, () -> selection.command().getClass().getName() + " has no picocli.CommandLine.Command");
        assertNotNull(selection.name(), "the service has no property " + TenonCommand.NAME);
        String[] words = selection.name().toString().split(" ");
        assertEquals(command.name(), words[words.length - 1], "the last word of the property " + TenonCommand.NAME);
    }

    @Test
    void noOtherCommandHasItsName() {
        assertFalse(
                selection.name() != null && selection.others().contains(selection.name()),
                () -> "a command of another bundle is called " + selection.name());
    }

    @Test
    void itSaysWhatItDoes() {
        assertTrue(spec().usageMessage().description().length > 0, "Command.description is empty");
    }

    @Test
    void allItsArgumentsAreDescribed() {
        for (ArgSpec argument : spec().args()) {
            assertTrue(argument.hidden() || argument.description().length > 0, () -> argument + " has no description");
        }
    }

    @Test
    void optionsOfAllCommandsAreNotDeclaredAgain() {
        GIVEN.forEach(name -> assertFalse(spec().optionsMap().containsKey(name), () -> name + " is there for all"));
    }

    @Test
    void eachCallHasAnObjectOfItsOwn() {
        assertEquals(Constants.SCOPE_PROTOTYPE, selection.scope(), "the scope of the service");
    }
}
