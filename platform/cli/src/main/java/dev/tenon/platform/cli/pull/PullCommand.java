package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.hub.HubReference;
import dev.tenon.platform.hub.ModelFiles;
import dev.tenon.platform.hub.ModelPull;
import dev.tenon.platform.hub.ModelReference;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon pull`: downloads a model.
@Command(
        name = "pull",
        description = {
            "Downloads a model from the hub, another registry or a URL; resumes an interrupted download.",
            "With a model that sees or hears comes the encoder for that, its companion (mmproj), except from a URL.",
            "Models are kept in ~/.cache/tenon/models, or where TENON_MODELS points.",
            "HF_TOKEN gives access to restricted repositories."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon pull org/repo-GGUF",
            "  tenon pull org/repo-GGUF:Q8_0",
            "  tenon pull https://example.org/model.gguf --sha256 0123abcd...",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=pull",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class PullCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "SOURCE",
            description =
                    "owner/repo[:quant] on the hub (default quant: Q4_K_M), ollama:NAME[:TAG], ID:MODEL of a bundle's"
                            + " registry, or an http(s) URL.")
    private String source;

    @Option(names = "--no-mmproj", description = "Leave out the companion of a model that sees or hears.")
    private boolean noCompanion;

    @Option(names = "--sha256", paramLabel = "HEX", description = "The expected checksum of a file from a URL.")
    private String sha256;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "The file or folder to write to (default: the models folder).")
    private String output;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Download the file even if it exists, and replace it without asking.")
    private boolean overwrite;

    Duration pause = ModelPull.PAUSE;
    Duration stall = HttpGet.PATIENCE;

    /// Finds a model that another command needs and that is not in the folder of models: where its registry has it on
    /// this machine, or, if the user wants that, by downloading it.
    ///
    /// @param console of that command
    /// @param name what the user gave
    /// @return the file where the registry has it; otherwise empty
    /// @throws TenonException what [ModelPull] says
    /// @throws IOException if it cannot be stored
    public static Optional<Path> find(Console console, String name) throws IOException {
        ModelReference reference = ModelReference.of(name).orElseThrow();
        ModelPull pull = new ModelPull(console.registries(), console::setting, new ConsolePull(console, false));
        Optional<Path> there = pull.inPlace(reference);
        if (there.isEmpty() && console.agrees("Model " + name + " is not here. Download it?")) {
            pull.pull(reference, ModelPull.Target.in(ModelFiles.folder(console.setting("models"))));
        }
        return there;
    }

    @Override
    public Integer call() throws IOException {
        if (sha256 != null && !sha256.matches("[0-9a-fA-F]{64}")) {
            throw usage("Invalid value for option '--sha256': expected 64 hexadecimal digits");
        }
        Optional<Path> given = output();
        ModelPull.Target target = new ModelPull.Target(
                ModelFiles.folder(console.setting("models")),
                given.orElse(null),
                given.isEmpty() || isFolder(),
                sha256,
                overwrite,
                !noCompanion);
        ModelPull pull =
                new ModelPull(console.registries(), console::setting, new ConsolePull(console, true), pause, stall);
        Optional<ModelReference> reference = ModelReference.of(source);
        List<Path> files = reference.isPresent()
                ? pull.pull(reference.get(), target)
                : pull.pull(
                        ModelPull.web(source)
                                .orElseThrow(() -> usage("'" + source
                                        + "' is neither owner/repo[:quant], a registry's ID:MODEL nor an http(s) URL")),
                        target);
        String name = reference.isPresent()
                ? source
                : HubReference.parts(files.getFirst().getFileName().toString()).getFirst();
        console.note(
                CompanionFile.isNamed(files.getFirst().getFileName().toString())
                        ? "It is a companion: models of its folder that it fits use it."
                        : "Use it with: tenon run -m " + (given.isPresent() ? files.getFirst() : name));
        return 0;
    }

    private Optional<Path> output() {
        try {
            return Optional.ofNullable(output).map(Path::of);
        } catch (InvalidPathException e) {
            throw usage("Invalid value for option '--output': " + e.getMessage());
        }
    }

    private boolean isFolder() {
        return output.endsWith("/") || output.endsWith(File.separator) || Files.isDirectory(Path.of(output));
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
