package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.server.anthropic.MessagesEndpoint;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.llamacpp.CompletionEndpoint;
import dev.tenon.platform.server.llamacpp.InfillEndpoint;
import dev.tenon.platform.server.llamacpp.LoadEndpoint;
import dev.tenon.platform.server.llamacpp.RerankEndpoint;
import dev.tenon.platform.server.llamacpp.TextEndpoints;
import dev.tenon.platform.server.ollama.CopyEndpoint;
import dev.tenon.platform.server.ollama.CreateEndpoint;
import dev.tenon.platform.server.ollama.DeleteEndpoint;
import dev.tenon.platform.server.ollama.EmbedEndpoint;
import dev.tenon.platform.server.ollama.GenerateEndpoint;
import dev.tenon.platform.server.ollama.Options;
import dev.tenon.platform.server.ollama.PullEndpoint;
import dev.tenon.platform.server.ollama.ShowEndpoint;
import dev.tenon.platform.server.openai.ChatEndpoint;
import dev.tenon.platform.server.openai.CompletionsEndpoint;
import dev.tenon.platform.server.openai.EmbeddingsEndpoint;
import dev.tenon.platform.server.openai.ResponsesEndpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The page about the server names the fields that the code knows, in the right column.
class ServerPageTests {
    private static final Pattern FIELD = Pattern.compile("`([a-z_0-9]+)`");

    @Test
    void eachFieldStandsInItsColumn() throws Exception {
        assertRow("chat", ChatEndpoint.FIELDS);
        assertRow("completions", CompletionsEndpoint.FIELDS);
        assertAlone("responses", ResponsesEndpoint.FIELDS);
        assertAlone("messages", MessagesEndpoint.FIELDS);
        assertAlone("embeddings", EmbeddingsEndpoint.FIELDS);
        assertAlone("api/generate", GenerateEndpoint.FIELDS);
        assertAlone("api/chat", dev.tenon.platform.server.ollama.ChatEndpoint.FIELDS);
        assertAlone("options", Options.FIELDS);
        assertAlone("api/embed", EmbedEndpoint.FIELDS);
        assertAlone("api/embeddings", EmbedEndpoint.OLDER_FIELDS);
        assertAlone("api/show", ShowEndpoint.FIELDS);
        assertAlone("api/pull", PullEndpoint.FIELDS);
        assertAlone("api/create", CreateEndpoint.FIELDS);
        assertAlone("api/copy", CopyEndpoint.FIELDS);
        assertAlone("api/delete", DeleteEndpoint.FIELDS);
        assertAlone("models/load", LoadEndpoint.FIELDS);
        assertRow("completion", CompletionEndpoint.FIELDS);
        assertCells(List.of("infill", "completion", "sampling"), InfillEndpoint.FIELDS);
        assertAlone("rerank", RerankEndpoint.FIELDS);
        assertAlone("tokenize", TextEndpoints.TOKENIZE);
        assertAlone("detokenize", TextEndpoints.DETOKENIZE);
    }

    private static void assertRow(String name, FieldTable table) throws Exception {
        assertCells(List.of(name, "sampling"), table);
    }

    private static void assertAlone(String name, FieldTable table) throws Exception {
        assertCells(List.of(name), table);
    }

    private static void assertCells(List<String> rows, FieldTable table) throws Exception {
        assertEquals(new TreeSet<>(table.used()), cells(rows, 2), rows + " works");
        assertEquals(new TreeSet<>(table.ignored()), cells(rows, 3), rows + " ignored");
        assertEquals(new TreeSet<>(table.refused().keySet()), cells(rows, 4), rows + " refused");
    }

    /// {@return the fields of rows of the page}
    private static Set<String> cells(List<String> rows, int column) throws Exception {
        Set<String> names = new TreeSet<>();
        List<String> lines = new ArrayList<>(Files.readAllLines(Path.of("../../docs/server.md")));
        lines.removeIf(line -> rows.stream().noneMatch(row -> line.startsWith("| " + row + " |")));
        assertEquals(rows.size(), lines.size(), rows::toString);
        for (String line : lines) {
            Matcher matcher = FIELD.matcher(line.split("\\|")[column].replace("(as `n`)", ""));
            while (matcher.find()) {
                names.add(matcher.group(1));
            }
        }
        return names;
    }
}
