package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.openai.ChatEndpoint;
import dev.tenon.platform.server.openai.CompletionsEndpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The page about the server names the fields that the code knows, in the right column.
class ServerPageTests {
    @Test
    void eachFieldStandsInItsColumn() throws Exception {
        assertRow("chat", ChatEndpoint.FIELDS);
        assertRow("completions", CompletionsEndpoint.FIELDS);
    }

    private static void assertRow(String name, FieldTable table) throws Exception {
        assertEquals(new TreeSet<>(table.used()), cells(name, 2), name + " works");
        assertEquals(new TreeSet<>(table.ignored()), cells(name, 3), name + " ignored");
        assertEquals(new TreeSet<>(table.refused().keySet()), cells(name, 4), name + " refused");
    }

    /// {@return the fields of a row of the page, with those of sampling}
    private static Set<String> cells(String row, int column) throws Exception {
        Set<String> names = new TreeSet<>();
        List<String> lines = new ArrayList<>(Files.readAllLines(Path.of("../../docs/server.md")));
        lines.removeIf(line -> !line.startsWith("| " + row + " |") && !line.startsWith("| sampling |"));
        assertEquals(2, lines.size(), row);
        for (String line : lines) {
            java.util.regex.Matcher matcher = java.util.regex.Pattern.compile("`([a-z_]+)`")
                    .matcher(line.split("\\|")[column].replaceAll("\\(as `n`\\)", ""));
            while (matcher.find()) {
                names.add(matcher.group(1));
            }
        }
        return names;
    }
}
