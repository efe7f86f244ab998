package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
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
            "Uses exactly the given token ids, at positions from 0; no BOS token is added."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon logits -m model.gguf --ids 1,2,3 -o out.f32",
            "  tenon logits -m model.gguf --ids 1,2,3 --all -o out.f32",
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

    @Option(
            names = "--ids",
            required = true,
            split = ",",
            paramLabel = "ID",
            description = "Token ids, separated by commas.")
    private int[] ids;

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
        LoadRequest request = model.request(console);
        boolean toFile = !output.equals("-");
        Path target = Path.of(output);
        boolean replace = toFile && console.mayReplace(target, overwrite);
        if (toFile) {
            OutputFile.checkStream(target, replace, request.path());
        }
        try (LoadedModel loaded = console.load(engine, request);
                Session session = loaded.newSession()) {
            int vocabulary = loaded.config().vocabularySize();
            for (int id : ids) {
                if (id < 0 || id >= vocabulary) {
                    throw new ParameterException(
                            spec.commandLine(),
                            "Invalid value for option '--ids': " + id + " is not a token; expected 0 to "
                                    + (vocabulary - 1));
                }
            }
            if (toFile) {
                try (OutputFile file = OutputFile.openStream(target, replace, request.path())) {
                    evaluate(session, file.bytes());
                    file.complete();
                } catch (UncheckedIOException e) {
                    throw OutputFile.failed(target, e.getCause());
                }
            } else {
                console.out().flush();
                evaluate(session, console.outBytes());
            }
            int width = loaded.outputs().values().iterator().next();
            console.note((all ? ids.length : 1) + " x " + width + " float32 written to " + output);
        }
        return 0;
    }

    private void evaluate(Session session, OutputStream out) {
        session.evaluate(ids, all ? Rows.ALL : Rows.LAST, (index, row) -> write(out, row));
    }

    private static void write(OutputStream out, float[] row) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * row.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(row);
        try {
            out.write(bytes.array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
