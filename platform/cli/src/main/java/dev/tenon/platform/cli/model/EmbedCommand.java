package dev.tenon.platform.cli.model;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.chat.MediaPrompts.Encoded;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.MediaFile;
import dev.tenon.platform.cli.options.MediaOptions;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.TextLength;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
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

/// `tenon embed`: vectors of texts.
@Command(
        name = "embed",
        sortOptions = false,
        description = {
            "Makes a vector of each text, to compare texts by their meaning.",
            "Texts are arguments, or lines of a file (-f) or of standard input.",
            "Pictures and sounds stand in the places <__media__> of all texts together; without texts each is one."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon embed \"A fox ran by.\" \"A dog barked.\"",
            "  tenon embed -m model.gguf -f texts.txt --format npy -o vectors.npy",
            "  tenon embed -m model.gguf --image fox.png --image dog.png --format json",
            "  tenon embed -m model.gguf --prefix \"search_query: \" \"red foxes\"",
            "  cat texts.txt | tenon embed --format json",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=embed",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class EmbedCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Parameters(
            arity = "0..*",
            paramLabel = "TEXT",
            description = "A text; the first one may be the model instead, as -m.")
    private List<String> arguments;

    @Option(
            names = {"-f", "--file"},
            paramLabel = "FILE",
            description = "Read the texts from a file, one a line.")
    private Path file;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private VectorFormat format;

    @Option(
            names = "--pooling",
            paramLabel = "HOW",
            description = "How tokens' vectors become one: mean, cls or last (default: as the model's file says).")
    private PoolingOption pooling;

    @Option(names = "--no-normalize", description = "Do not scale vectors to length 1.")
    private boolean raw;

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            defaultValue = "",
            description = "Put this before each text, as some models ask for.")
    private String prefix;

    @Mixin
    private MediaOptions media;

    @Mixin
    private TextsInAStep batch;

    @Mixin
    private ResultOutput output;

    @Mixin
    private ModelOptions model;

    /// The names of `--pooling`.
    enum PoolingOption {
        mean(Pooling.MEAN),
        cls(Pooling.CLS),
        last(Pooling.LAST);

        private final Pooling pooling;

        PoolingOption(Pooling pooling) {
            this.pooling = pooling;
        }
    }

    @Override
    public Integer call() throws IOException {
        if (format == VectorFormat.npy && !output.isFile() && console.outIsTerminal()) {
            throw new TenonException(
                    ErrorCode.USAGE, "--format npy is not text for a terminal. Name a file (-o), or use a pipe.");
        }
        List<MediaPart> parts = media.parts();
        TextArguments given = TextArguments.read(
                console, model.name(), arguments, file, Collections.nCopies(parts.size(), MediaFile.MARK));
        List<String> texts = given.texts().stream().map(prefix::concat).toList();
        if (media.given()) {
            MediaOptions.placedExactly(String.join("\n", texts), parts.size());
        }
        LoadRequest request = batch.in(model.request(console, given.model(), media.given()).toBuilder())
                .outputs(pooling == null ? Graph.EMBEDDING : Graph.HIDDEN)
                .build();
        Path[] inputs = file == null ? media.inputs(request.path()) : media.inputs(request.path(), file);
        output.check(console, inputs);
        try (LoadedModel loaded = console.load(engine, request)) {
            List<float[]> vectors = loaded.embed(embedding(loaded, texts, parts));
            String name = loaded.config().name();
            output.write(console, out -> format.write(name, vectors, out), inputs);
            console.note(vectors.size() + " x " + vectors.getFirst().length + " numbers written to " + output.name());
        }
        return 0;
    }

    private EmbeddingRequest embedding(LoadedModel loaded, List<String> texts, List<MediaPart> parts) {
        EmbeddingRequest.Builder request = EmbeddingRequest.builder().normalize(!raw);
        if (pooling != null) {
            request.pooling(pooling.pooling);
        }
        int first = 0;
        for (String text : texts) {
            TextLength.check(loaded, text);
            int end = first + (parts.isEmpty() ? 0 : MediaOptions.marks(text));
            Encoded encoded = first < end
                    ? MediaPrompts.encode(
                            loaded, MediaOptions.placed(text, end - first), true, parts.subList(first, end))
                    : new Encoded(loaded.tokenizer().encode(text, true, false));
            if (encoded.tokens().length == 0) {
                throw new TenonException(
                        ErrorCode.USAGE, "'" + InspectCommand.shorten(text) + "' has no tokens. Leave it out.");
            }
            request.text(encoded.tokens(), encoded.media());
            first = end;
        }
        return request.build();
    }
}
