package dev.tenon.platform.cli.model;

import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.chat.MediaPrompts.Encoded;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.MediaOptions;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon logits`: the model's logits for given tokens, to compare them with others.
@Command(
        name = "logits",
        sortOptions = false,
        description = {
            "Writes the logits after the last token as raw little-endian float32.",
            "Uses exactly the given token ids, at positions from 0, and adds no BOS token; or a text with what the"
                    + " vocabulary adds, in which <__media__> stands for each picture and sound."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon logits -m model.gguf --ids 1,2,3 -o out.f32",
            "  tenon logits -m model.gguf --ids 1,2,3 --all -o out.f32",
            "  tenon logits -m model.gguf --image fox.png -p \"<__media__>What is it?\" -o out.f32",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=logits",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class LogitsCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Spec
    private CommandSpec spec;

    @ArgGroup(exclusive = true, multiplicity = "1")
    private Prompt prompt;

    @Mixin
    private MediaOptions media;

    /// The two ways to give tokens.
    static final class Prompt {
        @Option(
                names = "--ids",
                required = true,
                split = ",",
                paramLabel = "ID",
                description = "Token ids, separated by commas.")
        int[] ids;

        @Option(
                names = {"-p", "--prompt"},
                required = true,
                paramLabel = "TEXT",
                description = "A text, with <__media__> in the place of each --image and --audio, in their order.")
        String text;
    }

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "The file to write; - for standard output.")
    private String output;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Replace the file if it exists, without asking.")
    private boolean overwrite;

    @Option(names = "--all", description = "Write the logits after every token, row by row.")
    private boolean all;

    @Mixin
    private ModelOptions model;

    @Override
    public Integer call() {
        if (prompt.text == null && media.given()) {
            throw new ParameterException(spec.commandLine(), "--image and --audio need -p, with a place for each");
        }
        List<MediaPart> parts = media.parts();
        String text = prompt.text == null ? "" : MediaOptions.placedExactly(prompt.text, parts.size());
        LoadRequest request = model.request(console, model.name(), media.given());
        Path[] inputs = media.inputs(request.path());
        boolean toFile = !output.equals("-");
        Path target = Path.of(output);
        boolean replace = toFile && console.mayReplace(target, overwrite);
        if (toFile) {
            OutputFile.checkStream(target, replace, inputs);
        }
        try (LoadedModel loaded = console.load(engine, request);
                Session session = loaded.newSession()) {
            Encoded encoded = prompt.text == null
                    ? new Encoded(ids(loaded), List.of())
                    : MediaPrompts.encode(loaded, text, true, parts);
            if (toFile) {
                try (OutputFile file = OutputFile.openStream(target, replace, inputs)) {
                    evaluate(session, encoded, file.bytes());
                    file.complete();
                } catch (UncheckedIOException e) {
                    throw OutputFile.failed(target, e.getCause());
                }
            } else {
                console.out().flush();
                evaluate(session, encoded, console.outBytes());
            }
            int width = loaded.outputs().values().iterator().next();
            console.note((all ? encoded.tokens().length : 1) + " x " + width + " float32 written to " + output);
        }
        return 0;
    }

    private int[] ids(LoadedModel loaded) {
        int vocabulary = loaded.config().vocabularySize();
        for (int id : prompt.ids) {
            if (id < 0 || id >= vocabulary) {
                throw new ParameterException(
                        spec.commandLine(),
                        "Invalid value for option '--ids': " + id + " is not a token; expected 0 to "
                                + (vocabulary - 1));
            }
        }
        return prompt.ids;
    }

    private void evaluate(Session session, Encoded encoded, OutputStream out) {
        session.evaluate(
                encoded.tokens(), encoded.media(), all ? Rows.ALL : Rows.LAST, (index, row) -> write(out, row));
    }

    private static void write(OutputStream out, float[] row) {
        try {
            out.write(ResultOutput.littleEndian(row));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
