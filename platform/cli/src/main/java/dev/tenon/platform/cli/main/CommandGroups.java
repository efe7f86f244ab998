package dev.tenon.platform.cli.main;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import picocli.CommandLine.Help;

/// The order of commands in `tenon --help`: by what people do, experts' commands last.
enum CommandGroups {
    USE(
            "Use",
            "run",
            "chat",
            "serve",
            "embed",
            "rerank",
            "config",
            "devices",
            "doctor",
            "self-check",
            "explain",
            "completion"),
    MODELS("Models", "pull", "list", "show", "cp", "rm", "inspect", "quantize"),
    MEASURE("Measure", "bench", "tune", "perplexity"),
    EXTEND("Extend", "bundles", "new", "dev"),
    OTHER("Other"),
    DEVELOP("Develop", "itest", "compare", "logits", "encode", "tokenize", "synth", "nv");

    private static final int GAP = 2;
    private static final int STEP = 100;

    private final String title;
    private final List<String> names;

    CommandGroups(String title, String... names) {
        this.title = title;
        this.names = List.of(names);
    }

    private static CommandGroups of(String command) {
        Predicate<CommandGroups> has = group -> group.names.contains(command);
        return Arrays.stream(values()).filter(has).findFirst().orElse(OTHER);
    }

    /// {@return a number that orders commands; commands of one number are ordered by name}
    ///
    /// @param command its name
    static int rank(String command) {
        CommandGroups group = of(command);
        return group.ordinal() * STEP + group.names.indexOf(command) + 1;
    }

    /// {@return the list of commands}
    ///
    /// @param help of the command `tenon`, whose commands are in the order of [#rank]
    static String list(Help help) {
        int width = help.subcommands().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(1);
        Map<CommandGroups, List<Map.Entry<String, Help>>> groups = new LinkedHashMap<>();
        for (Map.Entry<String, Help> command : help.subcommands().entrySet()) {
            groups.computeIfAbsent(of(command.getKey()), group -> new ArrayList<>())
                    .add(command);
        }
        StringBuilder text = new StringBuilder();
        groups.forEach((group, commands) -> {
            Help.TextTable table = Help.TextTable.forColumns(
                    help.colorScheme(),
                    new Help.Column(width + GAP, GAP, Help.Column.Overflow.SPAN),
                    new Help.Column(
                            help.commandSpec().usageMessage().width() - width - GAP, GAP, Help.Column.Overflow.WRAP));
            for (Map.Entry<String, Help> command : commands) {
                String[] description =
                        command.getValue().commandSpec().usageMessage().description();
                table.addRowValues(
                        help.colorScheme().commandText(command.getKey()),
                        help.colorScheme().text(description.length == 0 ? "" : clause(description[0])));
            }
            text.append(String.format("%n%s:%n%s", group.title, table));
        });
        return text.toString();
    }

    /// The first clause; the command's own help has the rest.
    private static String clause(String text) {
        String first = text.split("[.:;] ", 2)[0];
        return first.endsWith(".") ? first : first + ".";
    }
}
