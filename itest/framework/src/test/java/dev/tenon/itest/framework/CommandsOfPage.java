package dev.tenon.itest.framework;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The commands of a distribution, as `help --markdown` prints them.
///
/// @param rows the options and parameters of each command, without those that every command has
record CommandsOfPage(Map<String, List<String>> rows) {
    private static final String TITLE = "## tenon ";
    private static final Pattern SHARED = Pattern.compile("`(--[a-z-]+)`");
    /// An option or parameter that names what is read.
    private static final Pattern READ = Pattern.compile(
            "- `(?!.*(--output|--report|--json-metrics) )(?:[^`]* )?(FILE|JAR|BUNDLE|MODEL|IN|FOLDER)`: .*");

    private static final Pattern NUMBER = Pattern.compile("- `[^`]* (N|N,N|PP,TG)`: .*");

    /// Reads the page.
    static CommandsOfPage of(String page) {
        List<String> lines = page.lines().toList();
        List<String> common = lines.subList(lines.indexOf("## Options of several commands"), lines.size());
        Map<String, List<String>> rows = new LinkedHashMap<>();
        List<String> own = new ArrayList<>();
        for (String line : lines) {
            if (line.startsWith("## ")) {
                own = new ArrayList<>();
                if (line.startsWith(TITLE)) {
                    rows.put(line.substring(TITLE.length()), own);
                }
            } else if (line.startsWith("- `")) {
                own.add(line);
            } else if (line.startsWith("Also [")) {
                for (String name :
                        SHARED.matcher(line).results().map(m -> m.group(1)).toList()) {
                    common.stream()
                            .filter(row -> row.matches("- `[^`]*" + name + "[ `,].*"))
                            .forEach(own::add);
                }
            }
        }
        return new CommandsOfPage(rows);
    }

    /// {@return the names of the commands, those below others too}
    List<String> names() {
        return List.copyOf(rows.keySet());
    }

    /// {@return the kinds of faults that a command can meet}
    List<String> kinds(String command) {
        List<String> options = rows.get(command);
        Stream<String> read = options.stream().anyMatch(row -> READ.matcher(row).matches())
                ? Stream.of("missing", "garbage")
                : Stream.of();
        Stream<String> number =
                options.stream().anyMatch(row -> NUMBER.matcher(row).matches()) ? Stream.of("range") : Stream.of();
        return Stream.of(Stream.of("full"), read, number)
                .flatMap(kinds -> kinds)
                .toList();
    }

    /// {@return the command that a shell's line calls}
    Optional<String> called(String line) {
        return rows.keySet().stream()
                .filter(name -> (line + " ").contains("tenon " + name + " "))
                .max(Comparator.comparingInt(String::length));
    }
}
