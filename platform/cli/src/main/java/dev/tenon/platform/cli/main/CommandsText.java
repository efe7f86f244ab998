package dev.tenon.platform.cli.main;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// A text about all commands, as picocli knows them: every command with its options and examples.
/// Options of several commands stand once, at the end.
abstract class CommandsText {
    /// What an exit status means.
    static final String STATUS = "0, 2 for wrong usage, 130 and 143 after Ctrl-C and SIGTERM,"
            + " 141 if the reader of standard output has gone, 1 for everything else that fails";

    private static final String SHARED_TITLE = "Options of several commands";
    /// An option of so many commands is shared.
    private static final int SHARED = 2;

    private final CommandLine root;
    private final Map<String, Integer> uses = new HashMap<>();

    /// Reads the commands.
    ///
    /// @param root the command `tenon` with all commands below it
    CommandsText(CommandLine root) {
        this.root = root;
        commands(root)
                .skip(1)
                .flatMap(CommandsText::options)
                .forEach(option -> uses.merge(key(option), 1, Integer::sum));
    }

    /// Prints the text.
    ///
    /// @param out where to
    final void print(PrintWriter out) {
        begin(root.getCommandSpec(), out);
        options(options(root.getCommandSpec()).toList(), out);
        commandsTitle(out);
        Map<String, OptionSpec> shared = new LinkedHashMap<>();
        commands(root).skip(1).forEach(spec -> command(spec, out, shared));
        sharedTitle(SHARED_TITLE, out);
        options(shared.values(), out);
    }

    private void command(CommandSpec spec, PrintWriter out, Map<String, OptionSpec> shared) {
        title(spec.qualifiedName(), text(spec.usageMessage().description()), out);
        List<ArgSpec> own = Stream.concat(spec.positionalParameters().stream(), options(spec))
                .filter(arg -> !isShared(arg))
                .toList();
        if (!own.isEmpty()) {
            options(own, out);
        }
        List<OptionSpec> others = options(spec).filter(this::isShared).toList();
        if (!others.isEmpty()) {
            others(others.stream().map(OptionSpec::longestName).toList(), out);
            others.forEach(option -> shared.putIfAbsent(key(option), option));
        }
        if (spec.usageMessage().footer().length > 0) {
            examples(
                    Arrays.stream(spec.usageMessage().footer())
                            .map(String::strip)
                            .toList(),
                    out);
        }
    }

    /// Prints what comes before the options of all commands.
    abstract void begin(CommandSpec root, PrintWriter out);

    abstract void commandsTitle(PrintWriter out);

    abstract void title(String command, String description, PrintWriter out);

    abstract void options(Iterable<? extends ArgSpec> args, PrintWriter out);

    /// Prints the names of options that are described at the end.
    abstract void others(List<String> names, PrintWriter out);

    abstract void examples(List<String> lines, PrintWriter out);

    abstract void sharedTitle(String title, PrintWriter out);

    private boolean isShared(ArgSpec arg) {
        return arg instanceof OptionSpec option && uses.getOrDefault(key(option), 0) >= SHARED;
    }

    private static String key(OptionSpec option) {
        return name(option) + text(option.renderedDescription());
    }

    private static Stream<CommandSpec> commands(CommandLine line) {
        return Stream.concat(
                Stream.of(line.getCommandSpec()),
                line.getSubcommands().values().stream().flatMap(CommandsText::commands));
    }

    private static Stream<OptionSpec> options(CommandSpec spec) {
        return spec.options().stream().filter(option -> !option.hidden() && !option.inherited());
    }

    /// {@return an option's names and the name of its value, or the name of a parameter}
    static String name(ArgSpec arg) {
        String label = arg.arity().max() > 0 ? arg.paramLabel() : "";
        return arg instanceof OptionSpec option
                ? Arrays.stream(option.names()).collect(Collectors.joining(", ")) + (label.isEmpty() ? "" : " " + label)
                : label;
    }

    /// {@return picocli's lines as one text}
    static String text(String... lines) {
        return String.format(String.join(" ", lines)).strip();
    }
}
