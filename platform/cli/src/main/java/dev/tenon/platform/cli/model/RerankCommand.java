package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.text.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon rerank`: documents by how well they answer a query.
@Command(
        name = "rerank",
        sortOptions = false,
        description = {
            "Sorts documents by how well they answer a query, the best first.",
            "Documents are arguments, or lines of a file (-f) or of standard input."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon rerank -m model.gguf --query \"red foxes\" \"A fox.\" \"A dog.\"",
            "  tenon rerank model.gguf --query \"red foxes\" -f texts.txt --format json",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=rerank",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class RerankCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(
            arity = "0..*",
            paramLabel = "DOCUMENT",
            description = "A document; the first one may be the model instead, as -m.")
    private List<String> arguments;

    @Option(names = "--query", required = true, paramLabel = "TEXT", description = "What is looked for.")
    private String query;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the documents from a file, one a line.")
    private Path file;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Format format;

    @Mixin
    private TextsInAStep batch;

    @Mixin
    private ResultOutput output;

    @Mixin
    private ModelOptions model;

    /// How the order is written.
    enum Format {
        /// Score, number from 1, beginning of the document.
        text,
        /// Score and number from 1, after a line with their names.
        csv,
        /// An array of objects, with whole documents.
        json
    }

    /// A document and its score.
    ///
    /// @param number from 1, as it was given
    private record Scored(int number, float score, String document) {}

    @Override
    public Integer call() throws IOException {
        TextArguments given = TextArguments.read(console, model.name(), arguments, file, List.of());
        LoadRequest request = batch.in(model.request(console, given.model()).toBuilder())
                .outputs(Graph.SCORES)
                .build();
        Path[] inputs = file == null ? new Path[] {request.path()} : new Path[] {request.path(), file};
        output.check(console, inputs);
        try (LoadedModel loaded = console.load(engine, request)) {
            RerankRequest.Builder documents = RerankRequest.builder(query);
            given.texts().forEach(documents::document);
            float[] scores = loaded.rerank(documents.build());
            List<Scored> order = IntStream.range(0, scores.length)
                    .mapToObj(i -> new Scored(i + 1, scores[i], given.texts().get(i)))
                    .sorted(Comparator.comparing(Scored::score).reversed())
                    .toList();
            output.write(console, out -> write(order, out), inputs);
        }
        return 0;
    }

    private void write(List<Scored> order, OutputStream out) throws IOException {
        StringBuilder text = new StringBuilder();
        switch (format) {
            case json -> text.append(json(order)).append('\n');
            case csv -> {
                text.append("score,number\n");
                order.forEach(each -> text.append(each.score())
                        .append(',')
                        .append(each.number())
                        .append('\n'));
            }
            case text ->
                order.forEach(each -> text.append(String.format(
                        Locale.ROOT,
                        "%10.4f %5d  %s%n",
                        each.score(),
                        each.number(),
                        InspectCommand.shorten(each.document()))));
        }
        out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static String json(List<Scored> order) {
        return Json.line(json -> {
            json.writeStartArray();
            for (Scored each : order) {
                json.writeStartObject();
                json.writeNumberField("score", each.score());
                json.writeNumberField("number", each.number());
                json.writeStringField("document", each.document());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
