package dev.tenon.platform.contracts;

import dev.tenon.api.device.Backend;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.GoldenLogits;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.contracts.framework.FreshFramework;
import dev.tenon.platform.contracts.framework.HandedBundle;
import dev.tenon.platform.contracts.itest.CaseProgress;
import dev.tenon.platform.contracts.itest.Contracts;
import dev.tenon.platform.contracts.itest.GoldenFile;
import dev.tenon.platform.contracts.itest.Report;
import dev.tenon.platform.contracts.itest.Suite;
import dev.tenon.platform.contracts.itest.TinyModel;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon itest`: the contracts that bundles keep, run on this machine.
@Command(
        name = "itest",
        sortOptions = false,
        description = {
            "Runs contract tests on this machine: of what a bundle's jar offers (formats, kernels,"
                    + " architectures, backends, rules, commands and so on), of an installed backend, or suites by name.",
            "Suites of a backend: ops (numbers), schedule (batches, fusion), capture (steps that run again), queue"
                    + " (threads, limits, errors); others: gguf (files), server (HTTP at loopback).",
            "A jar is tried in a fresh process beside the distribution's bundles, without deploy/ and etc/.",
            "Exit status 1 if a test fails or the jar does not run."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon itest my-format.jar",
            "  tenon itest my-model.jar --model tiny.gguf --golden tiny.json --report itest.xml",
            "  tenon itest my-rules.jar --argument no-repeat=3",
            "  tenon itest --backend cuda --formats Q6_K,F16 --report itest.txt",
            "  tenon itest --backend cuda --suite all --report cuda.json",
            "  tenon itest --suite gguf,server"
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=itest",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ItestCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<Backend> backends;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<QuantFormat> formats;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<KernelProvider> kernels;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "JAR", arity = "0..*", description = "Bundles to test.")
    private List<Path> jars = List.of();

    @Option(names = "--backend", paramLabel = "ID", description = "An installed backend to test, as in tenon devices.")
    private String backend;

    @Option(
            names = "--suite",
            paramLabel = "NAME",
            split = ",",
            description = "What to run: ops, schedule, capture, queue (with --backend), gguf, server, or all.")
    private List<String> suites = List.of();

    @Option(names = "--device", paramLabel = "ID", defaultValue = "", description = "Its device (default: the first).")
    private String device;

    @Option(
            names = "--formats",
            paramLabel = "ID",
            split = ",",
            description = "Weight formats that a backend is tested with (default: all).")
    private Set<String> wanted = Set.of();

    @Option(
            names = "--layouts",
            description =
                    "Test a backend with the kernels that it makes of these formats' layouts, in place of its own.")
    private boolean layouts;

    @Option(
            names = "--model",
            paramLabel = "FILE",
            description =
                    "A GGUF file of an architecture of the jar, whose metadata and shapes are taken for its contract"
                            + " (default: a tiny model with the keys that GGUF defines for decoders); a small companion"
                            + " file of an encoder of the jar (default: one with the usual keys); a file of a tokenizer of"
                            + " the jar, whose vocabulary is taken (default: one of bytes); of the server's"
                            + " suite: what it serves (default: the configured model).")
    private Path model;

    @Option(
            names = "--golden",
            paramLabel = "FILE",
            description = "Logits that the model of --model gives, from another implementation. JSON:"
                    + " {\"sequences\": [{\"ids\": [1, 2], \"logits\": [0.5, -1.25]}]}.")
    private Path golden;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "1000",
            description = "How many times plans and devices are opened and closed; steps run again ten times as often"
                    + " (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 1_000_000)
    private int rounds;

    @Option(names = "--large", description = "Also test sizes of real models; takes minutes on a CPU.")
    private boolean large;

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Setting for the backend's device; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--argument",
            paramLabel = "ID=ARG",
            description = "What the jar's sampler, logits processor, constraint or proposer of tokens of an id is told"
                    + " (default: nothing, if it takes that), a chat template, or its file, that its format of replies of"
                    + " an id knows, or a model of its registry of an id; may be repeated.")
    private Map<String, String> told = new LinkedHashMap<>();

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Also write the report to a file (replaced if it exists): JUnit XML if its name ends in .xml,"
                    + " counts as JSON if in .json, else text.")
    private Path report;

    @Option(names = "--here", description = "Try the jars in this process, beside those of deploy/.")
    private boolean here;

    @Override
    public Integer call() throws Exception {
        List<Suite> chosen = chosen();
        if (jars.isEmpty() == (backend == null && chosen.isEmpty())) {
            throw new ParameterException(spec.commandLine(), "Give either jars or --backend ID or --suite NAME");
        }
        if (backend == null && chosen.stream().anyMatch(Suite::needsBackend)) {
            throw new ParameterException(
                    spec.commandLine(), "--suite " + String.join(",", suites) + " needs --backend ID");
        }
        if (golden != null && model == null) {
            throw new ParameterException(spec.commandLine(), "--golden needs the --model whose logits it holds");
        }
        jars.forEach(HandedBundle::check);
        if (report != null) {
            List<Path> inputs = new ArrayList<>(jars);
            if (model != null) {
                inputs.add(model);
            }
            OutputFile.checkStream(report, true, inputs.toArray(Path[]::new));
        }
        if (!jars.isEmpty() && !here) {
            console.out().flush();
            return FreshFramework.run(arguments());
        }
        List<QuantFormat> sorted =
                formats.stream().sorted(Comparator.comparing(QuantFormat::id)).toList();
        List<HandedBundle> handed = jars.stream().map(HandedBundle::start).toList();
        // The model may be in a format of the jars.
        List<QuantFormat> known = new ArrayList<>(sorted);
        handed.forEach(bundle -> known.addAll(bundle.services(QuantFormat.class)));
        List<GoldenLogits> cases = golden == null ? List.of() : GoldenFile.read(golden);
        try (GgufFile file = model == null || !chosen.isEmpty() ? null : GgufReader.open(model, TensorTypes.of(known));
                CaseProgress progress = new CaseProgress(console)) {
            Contracts contracts = new Contracts(
                    backends,
                    sorted,
                    kernels,
                    new Contracts.Choices(device, settings, rounds, large, wanted, layouts, told),
                    progress);
            if (!chosen.isEmpty()) {
                contracts.suites(chosen, backend == null ? null : installed(), served(chosen));
            } else if (backend != null) {
                contracts.backend(installed());
            }
            for (HandedBundle bundle : handed) {
                contracts.bundle(
                        bundle,
                        architecture -> file == null ? TinyModel.of(architecture) : TinyModel.of(file, known, cases),
                        Optional.ofNullable(file).map(given -> Definitions.source(given, 0, 0)));
            }
            progress.close();
            return done(contracts.report());
        }
    }

    private List<Suite> chosen() {
        return suites.stream()
                .flatMap(name -> Suite.named(name)
                        .orElseThrow(() -> new ParameterException(
                                spec.commandLine(),
                                "There is no suite '" + name + "'; suites: " + Suite.names() + ", all"))
                        .stream())
                .distinct()
                .toList();
    }

    /// What the server's suite serves, and on what.
    private List<String> served(List<Suite> chosen) {
        if (!chosen.contains(Suite.SERVER)) {
            return List.of();
        }
        Path file = console.model(model == null ? null : model.toString());
        List<String> arguments =
                new ArrayList<>(List.of("-m", file.toAbsolutePath().toString()));
        if (backend != null) {
            arguments.addAll(List.of("--backend", backend));
        }
        return arguments;
    }

    private int done(Report result) {
        console.out().print(result.text());
        console.out().flush();
        if (report != null) {
            result.write(report);
        }
        return result.passed() ? 0 : 1;
    }

    private Backend installed() {
        return backends.stream()
                .filter(b -> b.id().equals(backend))
                .findFirst()
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        "Backend '" + backend + "' is not installed; installed backends: "
                                + backends.stream().map(Backend::id).sorted().collect(Collectors.joining(", "))));
    }

    /// This command line for another process with another working directory.
    private List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of("itest", "--here", "--device", device));
        arguments.addAll(List.of("--rounds", String.valueOf(rounds)));
        if (large) {
            arguments.add("--large");
        }
        if (console.quiet()) {
            arguments.add("--quiet");
        }
        if (!wanted.isEmpty()) {
            arguments.addAll(List.of("--formats", String.join(",", wanted)));
        }
        if (model != null) {
            arguments.addAll(List.of("--model", model.toAbsolutePath().toString()));
        }
        if (golden != null) {
            arguments.addAll(List.of("--golden", golden.toAbsolutePath().toString()));
        }
        if (report != null) {
            arguments.addAll(List.of("--report", report.toAbsolutePath().toString()));
        }
        told.forEach((id, value) -> arguments.addAll(List.of("--argument", id + "=" + value)));
        settings.forEach((name, value) -> arguments.addAll(List.of("--set", name + "=" + value)));
        jars.forEach(jar -> arguments.add(jar.toAbsolutePath().toString()));
        return arguments;
    }
}
