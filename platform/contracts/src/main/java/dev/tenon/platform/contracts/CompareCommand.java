package dev.tenon.platform.contracts;

import dev.tenon.api.device.Backend;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.contracts.compare.CompareReport;
import dev.tenon.platform.contracts.compare.Comparison;
import dev.tenon.platform.contracts.compare.FileWeights;
import dev.tenon.platform.contracts.compare.Side;
import dev.tenon.platform.contracts.compare.Tolerances;
import dev.tenon.platform.contracts.framework.FreshFramework;
import dev.tenon.platform.contracts.framework.HandedBundle;
import dev.tenon.platform.core.control.Definitions;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon compare`: finds the first op in which two backends, or two versions of a bundle, differ.
@Command(
        name = "compare",
        sortOptions = false,
        description = {
            "Runs the same prompt on two backends, or with two versions of a bundle, and names the first op"
                    + " whose outputs differ by more than rounding explains.",
            "The backend 'reference' is float64 arithmetic in plain Java: slow but exact.",
            "Exit status 1 if an op diverges."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon compare -m model.gguf --backend cuda --backend cpu-vector",
            "  tenon compare -m tiny.gguf --backend cpu-vector --backend reference --strict",
            "  tenon compare -m model.gguf --bundle my-format-1.0.jar --bundle my-format-1.1.jar --json"
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=compare",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class CompareCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<Backend> backends;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<QuantFormat> formats;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<ModelArchitecture> architectures;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<KernelProvider> kernels;

    @Reference(cardinality = ReferenceCardinality.MULTIPLE)
    List<TokenizerProvider> tokenizers;

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            description = "Model: a GGUF file, or the name of a pulled model (default: the configured one).")
    private String model;

    @Option(
            names = {"-p", "--prompt"},
            paramLabel = "TEXT",
            defaultValue = "Once upon a time",
            description = "The prompt (default: ${DEFAULT-VALUE}).")
    private String prompt;

    @Option(names = "--ids", split = ",", paramLabel = "ID", description = "Token ids instead of a prompt.")
    private int[] ids;

    @Option(
            names = "--backend",
            paramLabel = "ID",
            description = "A backend; given twice, the two sides (default: the best that is available).")
    private List<String> wanted = new ArrayList<>();

    @Option(
            names = "--bundle",
            paramLabel = "JAR",
            description = "A bundle; given twice, the two sides have one each; given once, the second side has it, or"
                    + " both where there are two backends. Tried in a fresh process beside the distribution's bundles.")
    private List<Path> bundles = new ArrayList<>();

    @Option(
            names = "--strict",
            description = "Allow float32 rounding only: for backends that do not round activations more coarsely.")
    private boolean strict;

    @Option(names = "--all", description = "Print a line for every op.")
    private boolean all;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--here", description = "Try the jars in this process, beside those of deploy/.")
    private boolean here;

    @Override
    public Integer call() {
        if (wanted.size() > 2 || bundles.size() > 2) {
            throw new ParameterException(spec.commandLine(), "Give --backend and --bundle at most twice each");
        }
        if (wanted.size() < 2 && bundles.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "Give two sides to compare: --backend twice, or --bundle");
        }
        bundles.forEach(HandedBundle::check);
        Path file = console.model(model);
        if (!bundles.isEmpty() && !here) {
            console.out().flush();
            return FreshFramework.run(arguments(file));
        }
        List<Parts> parts = parts();
        List<QuantFormat> known = new ArrayList<>(formats);
        parts.forEach(side -> known.addAll(side.formats()));
        try (GgufFile gguf = GgufReader.open(file, TensorTypes.of(distinct(known)))) {
            int[] tokens = ids == null ? encode(gguf) : ids;
            CompareReport report = compare(
                    gguf, tokens, parts.getFirst().side(gguf), parts.getLast().side(gguf));
            gguf.requireUnchanged();
            console.out().print(json ? report.json() + "\n" : report.table(all));
            console.out().flush();
            return report.same() ? 0 : 1;
        }
    }

    private CompareReport compare(GgufFile gguf, int[] tokens, Side left, Side right) {
        String name = gguf.path().getFileName().toString();
        Comparison comparison = new Comparison(left, right, tokens, new Tolerances(!strict));
        Optional<String> graphs = comparison.graphsDiffer();
        List<Comparison.Step> steps = new ArrayList<>();
        if (graphs.isEmpty()) {
            try (Progress progress = console.progress("compare", 2L * comparison.size(), "ops")) {
                steps.addAll(comparison.unfused(progress::to));
                if (steps.stream().noneMatch(Comparison.Step::diverges)) {
                    steps.addAll(comparison.fused(op -> progress.to(comparison.size() + op)));
                }
            }
        }
        return new CompareReport(name, tokens.length, left.label(), right.label(), graphs, steps);
    }

    /// What one side takes in place of what is installed.
    private record Parts(
            String label,
            Optional<Backend> backend,
            List<QuantFormat> formats,
            List<ModelArchitecture> architectures,
            List<KernelProvider> kernels) {
        Side side(GgufFile gguf) {
            String id = gguf.metadata().requiredString("general.architecture");
            ModelArchitecture architecture = architectures.stream()
                    .filter(a -> a.id().equals(id))
                    .findFirst()
                    .orElseThrow(() -> new UnsupportedModelException(
                            ErrorCode.MODEL_ARCHITECTURE,
                            gguf.path().getFileName() + " has architecture '" + id + "', which no bundle here offers;"
                                    + " install one that does"));
            ModelSource source = new ModelSource(
                    gguf.metadata(),
                    gguf.tensors().stream().collect(Collectors.toMap(t -> t.name(), Function.identity())));
            Graph graph = Definitions.of(
                            architecture, source, gguf.path().getFileName().toString())
                    .graph()
                    .withOutputs(List.of(Graph.LOGITS))
                    .expanded();
            return new Side(label, graph, new FileWeights(gguf, formats), backend, "", kernels);
        }
    }

    private List<Parts> parts() {
        List<Parts> parts = new ArrayList<>();
        for (int side = 0; side < 2; side++) {
            HandedBundle handed = bundle(side);
            List<Backend> own = services(handed, Backend.class);
            Optional<Backend> backend =
                    backend(wanted.isEmpty() ? "" : wanted.get(Math.min(side, wanted.size() - 1)), own);
            String label = (handed == null ? "" : handed.title() + " on ")
                    + backend.map(b -> b.id() + ": " + b.probe().reason())
                            .orElse(Side.REFERENCE + ": float64 arithmetic in plain Java");
            parts.add(new Parts(
                    label,
                    backend,
                    first(services(handed, QuantFormat.class), formats),
                    first(services(handed, ModelArchitecture.class), architectures),
                    first(services(handed, KernelProvider.class), kernels)));
        }
        return parts;
    }

    /// {@return a side's bundle, or null if it has only what is installed}
    private HandedBundle bundle(int side) {
        boolean ofBoth = bundles.size() == 1 && wanted.size() == 2;
        int index = ofBoth ? 0 : side - (2 - bundles.size());
        return index < 0 ? null : HandedBundle.start(bundles.get(index));
    }

    /// {@return those of a bundle, in front of the installed ones}
    private static <T> List<T> first(List<T> own, List<T> installed) {
        List<T> both = new ArrayList<>(own);
        both.addAll(installed);
        return both;
    }

    private static <T> List<T> services(HandedBundle handed, Class<T> type) {
        return handed == null ? List.of() : handed.services(type);
    }

    private Optional<Backend> backend(String id, List<Backend> own) {
        if (id.equals(Side.REFERENCE)) {
            return Optional.empty();
        }
        List<Backend> candidates = id.isEmpty() && !own.isEmpty() ? own : first(own, backends);
        Comparator<Backend> best = Comparator.comparingInt(Backend::rank);
        Optional<Backend> found = candidates.stream()
                .filter(b -> id.isEmpty() ? b.probe().available() : b.id().equals(id))
                .max(id.isEmpty() ? best : best.thenComparing(b -> own.contains(b)));
        if (found.isEmpty() || !found.get().probe().available()) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    (id.isEmpty() ? "No backend" : "Backend " + id)
                            + found.map(b -> " is not available here: "
                                            + b.probe().reason())
                                    .orElse(" is not installed; there are "
                                            + candidates.stream()
                                                    .map(Backend::id)
                                                    .collect(Collectors.joining(", "))
                                            + " and " + Side.REFERENCE));
        }
        return found;
    }

    private int[] encode(GgufFile gguf) {
        String kind = gguf.metadata().requiredString("tokenizer.ggml.model");
        return tokenizers.stream()
                .filter(t -> t.model().equals(kind))
                .findFirst()
                .orElseThrow(() -> new UnsupportedModelException(
                        ErrorCode.MODEL_TOKENIZER,
                        "No tokenizer of kind " + kind + " is installed; give token ids with --ids"))
                .create(gguf.metadata())
                .encode(prompt, true, true);
    }

    private static List<QuantFormat> distinct(List<QuantFormat> all) {
        return List.copyOf(all.stream()
                .collect(Collectors.toMap(QuantFormat::ggmlType, Function.identity(), (first, second) -> first))
                .values());
    }

    /// This command line for another process with another working directory.
    private List<String> arguments(Path file) {
        List<String> arguments = new ArrayList<>(List.of("compare", "--here"));
        arguments.addAll(List.of("-m", file.toAbsolutePath().toString(), "-p", prompt));
        if (ids != null) {
            String list =
                    java.util.Arrays.stream(ids).mapToObj(Integer::toString).collect(Collectors.joining(","));
            arguments.addAll(List.of("--ids", list));
        }
        wanted.forEach(id -> arguments.addAll(List.of("--backend", id)));
        bundles.forEach(
                jar -> arguments.addAll(List.of("--bundle", jar.toAbsolutePath().toString())));
        if (strict) {
            arguments.add("--strict");
        }
        if (all) {
            arguments.add("--all");
        }
        if (json) {
            arguments.add("--json");
        }
        if (console.quiet()) {
            arguments.add("--quiet");
        }
        return arguments;
    }
}
