package dev.tenon.platform.cli.model;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.MediaFile;
import dev.tenon.platform.cli.options.MediaOptions;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Locale;
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

/// `tenon encode`: the rows that a model reads of pictures and sounds, to compare them with others.
@Command(
        name = "encode",
        sortOptions = false,
        description = {
            "Writes the rows that a model reads of pictures and sounds as raw little-endian float32, in the order of"
                    + " the prompt."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon encode -m model.gguf --image fox.png -o rows.f32",
            "  tenon encode -m model.gguf --mmproj mmproj.gguf --audio fox.wav -o rows.f32",
            "  tenon encode -m model.gguf --image fox.jpg --pixels fox.u8 -o rows.f32",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=encode",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class EncodeCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Mixin
    private MediaOptions media;

    @Option(
            names = "--pixels",
            paramLabel = "FILE",
            description = "Also write the decoded pictures, upright and before they are scaled, as bytes of red, green"
                    + " and blue, row by row; several one after the other.")
    private Path pixels;

    @Mixin
    private ResultOutput output;

    @Mixin
    private ModelOptions model;

    @Override
    public Integer call() throws IOException {
        if (!media.given()) {
            throw new TenonException(ErrorCode.USAGE, "There is nothing to encode. Give --image or --audio.");
        }
        LoadRequest request = model.request(console, model.name(), true);
        Path[] inputs = media.inputs(request.path());
        output.check(console, inputs);
        boolean replace = pixels != null && output.mayReplace(console, pixels);
        if (pixels != null) {
            OutputFile.checkStream(pixels, replace, inputs);
        }
        try (LoadedModel loaded = console.load(engine, request)) {
            if (pixels == null) {
                output.write(console, rows -> write(loaded, rows, OutputStream.nullOutputStream()), inputs);
                return 0;
            }
            try (OutputFile file = OutputFile.openStream(pixels, replace, inputs)) {
                output.write(console, rows -> write(loaded, rows, file.bytes()), inputs);
                file.complete();
            }
        }
        return 0;
    }

    private void write(LoadedModel loaded, OutputStream rows, OutputStream samples) throws IOException {
        for (MediaFile file : media.files()) {
            MediaFile.Decoded decoded = file.decode();
            if (decoded.picture() != null && pixels != null) {
                samples.write(decoded.picture().rgb());
            }
            long start = System.nanoTime();
            PromptMedia encoded = decoded.encode(loaded);
            double millis = (System.nanoTime() - start) / 1e6;
            int width = 0;
            for (int i = 0; i < encoded.rows(); i++) {
                float[] row = encoded.row(i);
                width = row.length;
                rows.write(ResultOutput.littleEndian(row));
            }
            console.note(String.format(
                    Locale.ROOT,
                    "%s: %s -> %d rows of %d in %d tokens, %.1f ms",
                    file.path(),
                    decoded.size(),
                    encoded.rows(),
                    width,
                    encoded.tokens().length,
                    millis));
        }
    }
}
