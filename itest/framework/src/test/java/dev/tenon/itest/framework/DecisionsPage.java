package dev.tenon.itest.framework;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The page `docs/decisions/README.md`: a line for each decision, with what superseded it, and the numbers that are
/// missing.
final class DecisionsPage {
    private static final Path FOLDER = Path.of("../../docs/decisions");
    private static final Pattern TITLE = Pattern.compile("# (\\d+)\\. (.+)");
    private static final Pattern SUPERSEDED = Pattern.compile("(?m)^\\*\\*Superseded\\*\\* (.+)$");

    private DecisionsPage() {}

    /// {@return the page}
    ///
    /// @param renew the command that makes it
    static String text(String renew) throws IOException {
        TreeMap<Integer, String> lines = new TreeMap<>();
        for (Path file : files()) {
            String text = Files.readString(file);
            Matcher title = TITLE.matcher(text.lines().findFirst().orElse(""));
            String name = file.getFileName().toString();
            if (!title.matches() || !name.startsWith("%04d-".formatted(Integer.parseInt(title.group(1))))) {
                throw new IllegalStateException(name + " does not begin with '# NUMBER. TITLE', of the file's number");
            }
            Matcher superseded = SUPERSEDED.matcher(text);
            String line = "- %s. [%s](%s)%s%n"
                    .formatted(
                            title.group(1),
                            title.group(2),
                            name,
                            superseded.find() ? "; superseded " + superseded.group(1) : "");
            if (lines.put(Integer.parseInt(title.group(1)), line) != null) {
                throw new IllegalStateException("Two decisions have the number " + title.group(1));
            }
        }
        List<Integer> missing = new ArrayList<>();
        for (int number = 1; number < lines.lastKey(); number++) {
            if (!lines.containsKey(number)) {
                missing.add(number);
            }
        }
        return """
                # Decisions

                Each choice that someone could question: context, decision, why, cost, and how to undo it. Made by:

                ```
                %s
                ```

                %s
                Numbers that are missing (%s) were never used, or their decision was taken back with what it was about: the history has it.
                """.formatted(
                        renew,
                        String.join("", lines.values()),
                        missing.stream().map(String::valueOf).collect(Collectors.joining(", ")));
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> !file.getFileName().toString().equals("README.md"))
                    .sorted()
                    .toList();
        }
    }
}
