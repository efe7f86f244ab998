package dev.tenon.platform.cli.main;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The page `docs/commands.md`: every command with its options and examples, as picocli knows them.
/// Options of several commands are listed once, at the end.
final class CommandsPage {
    /// An option of so many commands is shared.
    private static final int SHARED = 2;

    private final CommandLine root;
    private final Map<String, Integer> uses = new HashMap<>();

    /// Reads the commands.
    ///
    /// @param root the command `tenon` with all commands below it
    CommandsPage(CommandLine root) {
        this.root = root;
        commands(root)
                .skip(1)
                .flatMap(CommandsPage::options)
                .forEach(option -> uses.merge(row(option), 1, Integer::sum));
    }

    /// Prints the page.
    ///
    /// @param out where to
    void print(PrintWriter out) {
        out.println("""
                # Commands

                This page is made by `./tenon help --markdown > docs/commands.md` from the commands of all bundles; a test compares it.

                `tenon COMMAND --help` prints the same on a terminal. Exit status: 0, 2 for wrong usage, 130 and 143 after Ctrl-C and SIGTERM,
                141 if the reader of standard output has gone, 1 for everything else that fails ([errors.md](errors.md)). Every command has
                these options:
                """);
        table(out, options(root.getCommandSpec()).map(CommandsPage::row).toList());
        Set<String> shared = new LinkedHashSet<>();
        commands(root).skip(1).forEach(spec -> command(spec, out, shared));
        out.println("\n## Options of several commands\n");
        table(out, shared);
    }

    private void command(CommandSpec spec, PrintWriter out, Set<String> shared) {
        out.println("\n## " + spec.qualifiedName() + "\n");
        out.println(text(spec.usageMessage().description()));
        List<String> own = Stream.concat(spec.positionalParameters().stream(), options(spec))
                .map(CommandsPage::row)
                .filter(row -> !isShared(row))
                .toList();
        if (!own.isEmpty()) {
            out.println();
            table(out, own);
        }
        List<OptionSpec> others =
                options(spec).filter(option -> isShared(row(option))).toList();
        if (!others.isEmpty()) {
            out.println("\nAlso ["
                    + others.stream().map(o -> "`" + o.longestName() + "`").collect(Collectors.joining(" "))
                    + "](#options-of-several-commands).");
            others.forEach(option -> shared.add(row(option)));
        }
        if (spec.usageMessage().footer().length > 0) {
            out.println("\n```\n"
                    + Arrays.stream(spec.usageMessage().footer())
                            .map(String::strip)
                            .collect(Collectors.joining("\n"))
                    + "\n```");
        }
    }

    private static void table(PrintWriter out, Collection<String> rows) {
        out.println("| | |\n| --- | --- |");
        rows.forEach(out::println);
    }

    private boolean isShared(String row) {
        return uses.getOrDefault(row, 0) >= SHARED;
    }

    private static Stream<CommandSpec> commands(CommandLine line) {
        return Stream.concat(
                Stream.of(line.getCommandSpec()),
                line.getSubcommands().values().stream().flatMap(CommandsPage::commands));
    }

    private static Stream<OptionSpec> options(CommandSpec spec) {
        return spec.options().stream().filter(option -> !option.hidden() && !option.inherited());
    }

    private static String row(ArgSpec arg) {
        String label = arg.arity().max() > 0 ? arg.paramLabel() : "";
        String name = arg instanceof OptionSpec option
                ? String.join(", ", option.names()) + (label.isEmpty() ? "" : " " + label)
                : label;
        return "| `" + name + "` | " + text(arg.renderedDescription()) + " |";
    }

    private static String text(String... lines) {
        return String.format(String.join(" ", lines)).replace("|", "\\|").strip();
    }
}
