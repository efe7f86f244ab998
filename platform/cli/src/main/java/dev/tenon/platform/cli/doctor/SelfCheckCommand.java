package dev.tenon.platform.cli.doctor;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.DoctorCheck;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelDefaults;
import dev.tenon.platform.cli.terminal.CliErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon self-check`: what `tenon doctor` checks, and whether the installation is whole and
/// computes what it should.
@Command(
        name = "self-check",
        description = {
            "Checks an installation: what 'tenon doctor' checks, each file against the digest that it was shipped with,"
                    + " the cache, and that the embedded model continues a prompt as it should.",
            "Exit status 1 if a check fails."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon self-check", "  tenon self-check --json"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=self-check",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class SelfCheckCommand implements TenonCommand {
    /// The key beside the embedded model for what it writes.
    private static final String GREEDY = "greedy";
    private static final int TOKENS = 16;

    private static final String CONTINUATION = "continuation";
    private static final String CODE_IO = " [" + ErrorCode.IO + "]";

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Reference(policyOption = ReferencePolicyOption.GREEDY)
    List<DoctorCheck> checks = List.of();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() {
        Diagnosis diagnosis = new Diagnosis(console, engine);
        DoctorReport report = diagnosis.run(checks);
        Path home = Path.of(console.setting("home").orElse(""));
        InstalledFiles.check(home, report);
        cache(report);
        continuation(home, report);
        return diagnosis.print(report, json);
    }

    private static void cache(DoctorReport report) {
        String folder = System.getProperty("tenon.cache", "");
        if (folder.isEmpty()) {
            report.warn(
                    "cache",
                    "no folder can be used, so starts take longer" + CODE_IO,
                    "Set HOME or XDG_CACHE_HOME to a folder that only you can write to.");
        } else if (Files.isWritable(Path.of(folder))) {
            report.pass("cache", folder);
        } else {
            report.fail("cache", folder + " cannot be written" + CODE_IO, "Make it writable, or delete it.");
        }
    }

    /// Whether the embedded model continues its prompt with the text that is written down beside
    /// it, each token being the likeliest one.
    private void continuation(Path home, DoctorReport report) {
        List<Path> models = embedded(home.resolve("models"));
        if (models.isEmpty()) {
            report.warn(
                    CONTINUATION,
                    "there is no embedded model in " + home.resolve("models") + CODE_IO,
                    "Install it again, or try a model of your own: tenon run -m FILE.");
        }
        for (Path model : models) {
            try (LoadedModel loaded = console.load(engine, LoadRequest.of(model));
                    Session session = loaded.newSession()) {
                compare(loaded, session, ModelDefaults.of(model), report);
            } catch (TenonException e) {
                report.fail(CONTINUATION, CliErrors.text(e), "See 'tenon explain " + e.code() + "'.");
            }
        }
    }

    private static List<Path> embedded(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".gguf")
                            && ModelDefaults.of(file).text(GREEDY).isPresent())
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, folder + " cannot be read: " + e.getMessage() + ".", e);
        }
    }

    private static void compare(LoadedModel loaded, Session session, ModelDefaults model, DoctorReport report) {
        String expected = model.text(GREEDY).orElseThrow();
        int[] prompt = loaded.tokenizer().encode(model.text("prompt").orElse(""), true, true);
        StringBuilder text = new StringBuilder();
        session.generate(GenerationRequest.of(prompt, SamplingParams.greedy(), TOKENS), text::append);
        String found = text.toString().strip();
        String by = Stream.concat(
                        Stream.of(loaded.backend()),
                        loaded.report().kernels().stream()
                                .flatMap(each -> Stream.of(each.kernel().split(", "))))
                .distinct()
                .collect(Collectors.joining(", "));
        if (!expected.isBlank() && found.startsWith(expected)) {
            report.pass(CONTINUATION, "\"" + expected + "\", as it should be, by " + by);
        } else {
            report.fail(
                    CONTINUATION,
                    "\"" + found + "\", expected \"" + expected + "\", by " + by + " [" + ErrorCode.BACKEND_FAILED
                            + "]",
                    "Take another backend with TENON_BACKEND; 'tenon compare' finds where they part.");
        }
    }
}
