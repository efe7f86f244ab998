package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.TextInput;
import dev.tenon.platform.cli.text.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon tokenize`: a text as the model sees it.
@Command(
        name = "tokenize",
        sortOptions = false,
        description = "Shows the tokens of a text (-p, -f, or standard input).",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon tokenize -p \"Once upon a time\"",
            "  tenon tokenize -m model.gguf -f letter.txt --ids",
            "  tenon tokenize -p \"<|im_start|>\" --no-special --json",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=tokenize",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class TokenizeCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Option(
            names = {"-p", "--prompt"},
            paramLabel = "TEXT",
            description = "The text.")
    private String prompt;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the text from a file.")
    private Path file;

    @Option(names = "--ids", description = "Print only the ids, as [1, 2, 3].")
    private boolean ids;

    @Option(names = "--json", description = "Print JSON: ids and pieces.")
    private boolean json;

    @Option(names = "--no-bos", description = "Do not add the tokens that the vocabulary puts at the start.")
    private boolean noBos;

    @Option(
            names = {"--no-special", "--no-parse-special"},
            description = "Treat control tokens in the text as plain text.")
    private boolean noSpecial;

    @Mixin
    private ModelOptions model;

    @Override
    public Integer call() throws IOException {
        String text = prompt != null
                ? prompt
                : file != null ? TextInput.file(file) : TextInput.all(console.in(), "standard input");
        try (LoadedModel loaded = console.load(engine, model.request(console))) {
            Tokenizer tokenizer = loaded.tokenizer();
            int[] tokens = tokenizer.encode(text, !noBos, !noSpecial);
            if (json) {
                console.out().println(json(tokenizer, tokens));
            } else if (ids) {
                console.out()
                        .println(Arrays.stream(tokens)
                                .mapToObj(Integer::toString)
                                .collect(Collectors.joining(", ", "[", "]")));
            } else {
                for (int token : tokens) {
                    console.out()
                            .printf(
                                    "%6d -> '%s'%n",
                                    token,
                                    InspectCommand.shorten(tokenizer.decode(new int[] {token})
                                            + (tokenizer.isControl(token) ? tokenizer.piece(token) : "")));
                }
                console.note(tokens.length + " tokens");
            }
        }
        return 0;
    }

    private static String json(Tokenizer tokenizer, int[] tokens) {
        return Json.line(json -> {
            json.writeStartObject();
            json.writeArrayFieldStart("ids");
            for (int token : tokens) {
                json.writeNumber(token);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("pieces");
            for (int token : tokens) {
                json.writeString(tokenizer.piece(token));
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }
}
