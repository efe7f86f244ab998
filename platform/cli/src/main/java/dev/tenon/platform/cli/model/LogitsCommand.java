package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
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

    @Option(names = "--all", description = "Write the logits after every token, row by row.")
    private boolean all;

    @Mixin
    private ModelOptions model;

    @Override
    public Integer call() {
        try (LoadedModel loaded = console.load(engine, model.request(console));
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
            try (OutputStream out = open()) {
                session.evaluate(ids, all ? Rows.ALL : Rows.LAST, (index, row) -> write(out, row));
            } catch (IOException e) {
                throw cannotWrite(e);
            } catch (UncheckedIOException e) {
                throw cannotWrite(e.getCause());
            }
            console.note((all ? ids.length : 1) + " x " + vocabulary + " float32 written to " + output);
        }
        return 0;
    }

    private OutputStream open() throws IOException {
        if (!output.equals("-")) {
            return new BufferedOutputStream(Files.newOutputStream(Path.of(output)), 1 << 16);
        }
        console.out().flush();
        return new java.io.FilterOutputStream(console.outBytes()) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                out.write(bytes, offset, length);
            }

            @Override
            public void close() throws IOException {
                flush(); // standard output stays open
            }
        };
    }

    private TenonException cannotWrite(IOException e) {
        return new TenonException(ErrorCode.IO, output + " cannot be written: " + e.getMessage() + ".", e);
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
