package dev.tenon.platform.cli.main;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/// The page `docs/commands.md`.
final class CommandsPage extends CommandsText {
    /// Reads the commands.
    ///
    /// @param root the command `tenon` with all commands below it
    CommandsPage(CommandLine root) {
        super(root);
    }

    @Override
    void begin(CommandSpec root, PrintWriter out) {
        out.println("""
                # Commands

                This page is made by `./tenon help --markdown > docs/commands.md` from the commands of all bundles; a test compares it.

                `tenon COMMAND --help` prints the same on a terminal, as does `man tenon` where `bin/` of the distribution is on the PATH.
                Exit status: %s ([errors.md](errors.md)).
                Every command has these options:""".formatted(STATUS));
    }

    @Override
    void commandsTitle(PrintWriter out) {
        // Each has a title of its own.
    }

    @Override
    void title(String command, String description, PrintWriter out) {
        out.println("\n## " + command + "\n");
        out.println(description);
    }

    @Override
    void options(Iterable<? extends ArgSpec> args, PrintWriter out) {
        out.println();
        args.forEach(arg -> out.println("- `" + name(arg) + "`: " + text(arg.renderedDescription())));
    }

    @Override
    void others(List<String> names, PrintWriter out) {
        out.println("\nAlso [" + names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(" "))
                + "](#options-of-several-commands).");
    }

    @Override
    void examples(List<String> lines, PrintWriter out) {
        out.println("\n```\n" + String.join("\n", lines) + "\n```");
    }

    @Override
    void sharedTitle(String title, PrintWriter out) {
        out.println("\n## " + title);
    }
}
