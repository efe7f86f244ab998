package dev.tenon.itest.framework;

import dev.tenon.platform.server.anthropic.MessagesEndpoint;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
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
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// The page `docs/fields.md`: the fields that the server's end points know, as their tables say.
final class FieldsPage {
    private static final FieldTable SAMPLING = SamplingFields.TABLE;

    private FieldsPage() {}

    /// {@return the page}
    ///
    /// @param renew the command that makes it
    static String text(String renew) {
        Map<String, FieldTable> tables = new LinkedHashMap<>();
        tables.put("/v1/chat/completions", ChatEndpoint.FIELDS);
        tables.put("/v1/completions", CompletionsEndpoint.FIELDS);
        tables.put("/v1/responses", ResponsesEndpoint.FIELDS);
        tables.put("/v1/embeddings", EmbeddingsEndpoint.FIELDS);
        tables.put("/v1/messages", MessagesEndpoint.FIELDS);
        tables.put("/completion", CompletionEndpoint.FIELDS);
        tables.put("/infill", InfillEndpoint.FIELDS);
        tables.put("/v1/rerank", RerankEndpoint.FIELDS);
        tables.put("/tokenize", TextEndpoints.TOKENIZE);
        tables.put("/detokenize", TextEndpoints.DETOKENIZE);
        tables.put("/v1/models/load", LoadEndpoint.FIELDS);
        tables.put("/api/generate", GenerateEndpoint.FIELDS);
        tables.put("/api/chat", dev.tenon.platform.server.ollama.ChatEndpoint.FIELDS);
        tables.put("`options` of `/api/…`", Options.FIELDS);
        tables.put("/api/embed", EmbedEndpoint.FIELDS);
        tables.put("/api/embeddings", EmbedEndpoint.OLDER_FIELDS);
        tables.put("/api/show", ShowEndpoint.FIELDS);
        tables.put("/api/pull", PullEndpoint.FIELDS);
        tables.put("/api/create", CreateEndpoint.FIELDS);
        tables.put("/api/copy", CopyEndpoint.FIELDS);
        tables.put("/api/delete", DeleteEndpoint.FIELDS);

        StringBuilder page = new StringBuilder("""
                # Fields of requests

                The fields that the [server](server.md#fields) knows. Made of the code by:

                ```
                %s
                ```

                | | works | accepted, changes nothing | refused |
                | --- | --- | --- | --- |
                """.formatted(renew));
        row(page, "*sampling*", SAMPLING, "");
        tables.forEach((name, table) -> {
            boolean samples = table.used().containsAll(SAMPLING.used());
            row(
                    page,
                    name.startsWith("`") ? name : "`" + name + "`",
                    samples ? without(table) : table,
                    samples ? "*sampling*, " : "");
        });
        return page.toString();
    }

    private static FieldTable without(FieldTable table) {
        Map<String, String> refused = new TreeMap<>(table.refused());
        refused.keySet().removeAll(SAMPLING.refused().keySet());
        return new FieldTable(
                new TreeSet<>(minus(table.used(), SAMPLING.used())),
                new TreeSet<>(minus(table.ignored(), SAMPLING.ignored())),
                refused,
                table.notes());
    }

    private static Collection<String> minus(Collection<String> all, Collection<String> some) {
        return all.stream().filter(name -> !some.contains(name)).toList();
    }

    private static void row(StringBuilder page, String name, FieldTable table, String more) {
        page.append("| ")
                .append(name)
                .append(" | ")
                .append(more)
                .append(list(table.used(), table.notes()))
                .append(" | ")
                .append(list(table.ignored(), Map.of()))
                .append(" | ")
                .append(list(table.refused().keySet(), table.refused()))
                .append(" |\n");
    }

    private static String list(Collection<String> names, Map<String, String> notes) {
        return new TreeSet<>(names)
                .stream()
                        .map(name ->
                                "`" + name + "`" + (notes.containsKey(name) ? " (" + note(notes.get(name)) + ")" : ""))
                        .collect(Collectors.joining(", "));
    }

    /// {@return a note without the full stop of a sentence}
    private static String note(String text) {
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }
}
