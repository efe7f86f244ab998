package dev.tenon.itest.nv.tegra;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.backend.nv.tegra.emulator.replay.StreamReplay;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamFile;
import dev.tenon.backend.nv.tegra.sys.BoardProvider;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.files.OutputFile;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon nv`: command streams of the emulated Orin. There is no such command where the emulator, a bundle
/// that the distribution does not contain, is not installed.
@Command(
        name = "nv",
        description =
                "Records the command stream of the emulated Orin while a model generates, shows it, or replays it.",
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon nv record -o story.tnvs -p \"Once upon a time\" -n 4",
            "  tenon nv dump story.tnvs | less",
            "  tenon nv replay story.tnvs",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=nv",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class NvCommand implements TenonCommand {
    /// Setting of the emulated board: the file that its GPU's commands are recorded to.
    private static final String RECORD = "emulated.record";

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    /// Only where the emulator is installed does the component runtime offer the command.
    @Reference(target = "(board.id=emulated)")
    BoardProvider board;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "Missing command: record, dump or replay");
    }

    @Command(
            name = "record",
            description = "Generates with a model on the emulated Orin and writes the command stream.")
    int record(
            @Option(
                            names = {"-o", "--output"},
                            required = true,
                            paramLabel = "FILE",
                            description = "The file to write.")
                    Path output,
            @Option(
                            names = {"-m", "--model"},
                            paramLabel = "MODEL",
                            description = "Model file (default: the configured one).")
                    String model,
            @Option(
                            names = {"-p", "--prompt"},
                            paramLabel = "TEXT",
                            defaultValue = "Once upon a time",
                            description = "Prompt (default: ${DEFAULT-VALUE}).")
                    String prompt,
            @Option(
                            names = {"-n", "--n-predict"},
                            paramLabel = "N",
                            defaultValue = "2",
                            description = "Tokens to generate (default: ${DEFAULT-VALUE}).")
                    @Range(min = 1)
                    int count,
            @Option(
                            names = {"-y", "--overwrite"},
                            description = "Replace the file if it exists, without asking.")
                    boolean overwrite,
            @Option(
                            names = "--set",
                            paramLabel = "NAME=VALUE",
                            description = "Setting of the backend; may be repeated.")
                    Map<String, String> more)
            throws IOException {
        Map<String, String> settings = new LinkedHashMap<>(more == null ? Map.of() : more);
        settings.put(RECORD, output.toString());
        Path read = console.model(model);
        OutputFile.check(output, overwrite, read);
        LoadRequest request = LoadRequest.builder(read)
                .backend("nv-tegra")
                .device("emulated")
                .contextLength(512)
                .maxSequences(1)
                .settings(settings)
                .build();
        try (LoadedModel loaded = console.load(engine, request);
                Session session = loaded.newSession()) {
            int[] ids = loaded.tokenizer().encode(prompt, true, true);
            session.generate(
                    GenerationRequest.builder()
                            .prompt(ids)
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(count)
                            .ignoreEndOfGeneration(true)
                            .build(),
                    text -> {
                        console.out().print(text);
                        console.out().flush();
                    });
            console.out().println();
        }
        console.note(Files.size(output) + " bytes written to " + output);
        return 0;
    }

    @Command(name = "dump", description = "Prints a stream: command words and launch descriptors, one per line.")
    int dump(@Parameters(paramLabel = "FILE", description = "A file written by `record`.") Path file) {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            StreamFile.dump(in, console.out()::println);
        } catch (IOException e) {
            throw failed(file, "shown", e);
        }
        return 0;
    }

    @Command(
            name = "replay",
            description = {
                "Executes a stream on the emulated GPU and compares every launch and page.",
                "Exit status 1 if there is a difference."
            })
    int replay(@Parameters(paramLabel = "FILE", description = "A file written by `record`.") Path file) {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            return StreamReplay.run(in, console.out()::println) ? 0 : 1;
        } catch (IOException e) {
            throw failed(file, "replayed", e);
        }
    }

    private static TenonException failed(Path file, String what, IOException e) {
        String text = e instanceof NoSuchFileException
                ? " does not exist. Check the path."
                : " cannot be " + what + ": " + e.getMessage();
        return new TenonException(ErrorCode.IO, file + text, e);
    }
}
