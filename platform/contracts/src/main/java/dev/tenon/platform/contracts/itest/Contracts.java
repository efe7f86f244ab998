package dev.tenon.platform.contracts.itest;

import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.chat.ReplyFormatProvider;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.media.encoder.MediaEncoder;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.contracts.framework.HandedBundle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.osgi.framework.Constants;

/// Runs the contract of each service that a bundle offers.
public final class Contracts {
    /// Choices for the contracts.
    ///
    /// @param device id of the device, or empty
    /// @param settings how it is opened
    /// @param rounds how often devices and plans are opened and closed
    /// @param large whether sizes of real models are tested, too
    /// @param wanted ids of the formats that a backend is tested with; all if empty
    /// @param layouts whether it knows the formats by their layouts alone
    /// @param arguments of samplers, logits processors, constraints and proposers of tokens, templates of formats
    ///     of replies, and references of registries, by their ids
    public record Choices(
            String device,
            Map<String, String> settings,
            int rounds,
            boolean large,
            Set<String> wanted,
            boolean layouts,
            Map<String, String> arguments) {}

    private final List<Backend> backends;
    private final List<QuantFormat> formats;
    private final List<KernelProvider> kernels;
    private final Choices choices;
    private final Consumer<ContractRun.Case> onCase;
    private final List<String> title = new ArrayList<>();
    private final List<ContractRun> runs = new ArrayList<>();

    /// @param backends those that are installed
    /// @param formats those that are installed, by name
    /// @param kernels those that are installed
    /// @param choices how they are run
    /// @param onCase hears of each case as it ends
    public Contracts(
            List<Backend> backends,
            List<QuantFormat> formats,
            List<KernelProvider> kernels,
            Choices choices,
            Consumer<ContractRun.Case> onCase) {
        this.backends = backends;
        this.formats = formats;
        this.kernels = kernels;
        this.choices = choices;
        this.onCase = onCase;
    }

    /// {@return what came out so far}
    public Report report() {
        return new Report(title, runs);
    }

    /// Runs the contract of a backend.
    ///
    /// @param backend an installed or a handed one
    /// @throws BackendException (`BACKEND-001`) if it is not available here
    public void backend(Backend backend) {
        select(backend);
        run("backend " + backend.id(), SelectedBackendContract.class);
    }

    private void select(Backend backend) {
        Probe probe = backend.probe();
        if (!probe.available()) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend " + backend.id() + " is not available here: " + probe.reason());
        }
        List<QuantFormat> chosen = formats.stream()
                .filter(f -> choices.wanted().isEmpty()
                        ? TestFormats.holdsWeights(f)
                        : choices.wanted().contains(f.id()))
                .flatMap(f -> choices.layouts() ? LayoutOnly.of(f).stream() : Stream.of(f))
                .toList();
        title.add("backend " + backend.id() + ": " + probe.reason());
        title.add("formats " + chosen.stream().map(QuantFormat::id).collect(Collectors.joining(" ")));
        SelectedBackendContract.select(new SelectedBackendContract.Selection(
                backend, choices.device(), choices.settings(), chosen, choices.rounds(), choices.large()));
    }

    /// Runs the contracts for what a handed bundle offers.
    ///
    /// @param bundle the bundle
    /// @param model makes the model that an architecture is tested with
    /// @param file metadata and tensors of the file that models are made of: where the bundle offers
    ///     its architecture or encoder, the bundle's others are not tested
    /// @throws TenonException (`ITEST-001`) if it offers nothing that a contract covers
    public void bundle(HandedBundle bundle, Function<ModelArchitecture, TinyModel> model, Optional<ModelSource> file) {
        List<ServiceContract> contracts = Arrays.stream(ServiceContract.values())
                .filter(each -> !bundle.services(each.service()).isEmpty())
                .toList();
        if (contracts.isEmpty()) {
            List<String> offers = bundle.offers();
            throw new TenonException(
                    ErrorCode.ITEST_NOTHING,
                    bundle.title()
                            + " offers no " + ServiceContract.list() + ", and only these have contracts; "
                            + (offers.isEmpty()
                                    ? "it offers no services. Is @Component missing, or a service that a"
                                            + " component refers to?"
                                    : "it offers " + String.join(", ", offers)));
        }
        title.add(bundle.title() + ": " + String.join(", ", bundle.offers()));
        List<KernelProvider> kernels = bundle.services(KernelProvider.class);
        List<QuantFormat> ownFormats = bundle.services(QuantFormat.class);
        List<QuantFormat> known = withOwn(ownFormats);
        String fileOf = file.map(source -> source.metadata().requiredString("general.architecture"))
                .orElse("");
        String encoderOf = file.flatMap(source -> source.metadata().string("clip.projector_type"))
                .orElse("");
        List<MediaEncoder> encoders = bundle.services(MediaEncoder.class);
        boolean isEncoder = encoders.stream().anyMatch(each -> each.id().equals(encoderOf));
        for (ServiceContract contract : contracts) {
            switch (contract) {
                case FORMAT -> ownFormats.forEach(this::format);
                case KERNEL -> kernels.forEach(provider -> kernels(provider, known));
                case ARCHITECTURE ->
                    fitting(
                                    "architecture",
                                    isEncoder ? List.of() : bundle.services(ModelArchitecture.class),
                                    ModelArchitecture::id,
                                    fileOf)
                            .forEach(each -> architecture(each, model.apply(each), kernels));
                case ENCODER ->
                    fitting("encoder", encoders, MediaEncoder::id, encoderOf)
                            .forEach(each ->
                                    encoder(each, file.filter(of -> each.id().equals(encoderOf))));
                case BACKEND -> bundle.services(Backend.class).forEach(this::backend);
                case TOKENIZER ->
                    bundle.services(TokenizerProvider.class).forEach(provider -> tokenizer(provider, file));
                case SAMPLER -> bundle.services(SamplerProvider.class).forEach(this::sampler);
                case PROCESSOR -> bundle.services(LogitsProcessorProvider.class).forEach(this::processor);
                case CONSTRAINT -> bundle.services(ConstraintProvider.class).forEach(this::constraint);
                case REGISTRY -> bundle.services(ModelRegistry.class).forEach(this::registry);
                case PROPOSER -> bundle.services(TokenProposerProvider.class).forEach(this::proposer);
                case REPLY -> bundle.services(ReplyFormatProvider.class).forEach(this::reply);
                case COMMAND -> commands(bundle, bundle.services(TenonCommand.class));
                case ENDPOINT -> bundle.services(EndpointProvider.class).forEach(this::endpoints);
                case LISTENER -> bundle.services(BundleChangeListener.class).forEach(this::listener);
                case EXPORTER -> bundle.services(MetricsExporter.class).forEach(this::exporter);
                case SETTINGS -> bundle.services(BundleSettings.class).forEach(this::settings);
            }
        }
        onBackends(ownFormats, kernels, known);
    }

    private void format(QuantFormat format) {
        SelectedFormatContract.select(format);
        run("format " + format.id(), SelectedFormatContract.class);
    }

    private void kernels(KernelProvider provider, List<QuantFormat> known) {
        SelectedKernelContract.select(new SelectedKernelContract.Selection(provider, known));
        run("kernels " + names(provider), SelectedKernelContract.class);
    }

    private void architecture(ModelArchitecture architecture, TinyModel model, List<KernelProvider> kernels) {
        SelectedArchitectureContract.select(
                new SelectedArchitectureContract.Selection(architecture, model, choosable(), kernels));
        run("architecture " + architecture.id(), SelectedArchitectureContract.class);
    }

    private void encoder(MediaEncoder encoder, Optional<ModelSource> file) {
        SelectedEncoderContract.select(new SelectedEncoderContract.Selection(encoder, file));
        run("encoder " + encoder.id(), SelectedEncoderContract.class);
    }

    private void tokenizer(TokenizerProvider provider, Optional<ModelSource> file) {
        SelectedTokenizerContract.select(new SelectedTokenizerContract.Selection(
                provider,
                file.map(ModelSource::metadata)
                        .filter(metadata ->
                                metadata.string("tokenizer.ggml.model").equals(Optional.of(provider.model())))));
        run("tokenizer " + provider.model(), SelectedTokenizerContract.class);
    }

    private void sampler(SamplerProvider provider) {
        SelectedSamplerContract.select(
                new SelectedSamplerContract.Selection(provider, new RuleArgument(provider.id(), choices.arguments())));
        String name = provider.id().isEmpty() ? provider.getClass().getSimpleName() : provider.id();
        run("sampler " + name, SelectedSamplerContract.class);
    }

    private void processor(LogitsProcessorProvider provider) {
        SelectedProcessorContract.select(new SelectedProcessorContract.Selection(
                provider, new RuleArgument(provider.id(), choices.arguments())));
        run("logits processor " + provider.id(), SelectedProcessorContract.class);
    }

    private void constraint(ConstraintProvider provider) {
        SelectedConstraintContract.select(new SelectedConstraintContract.Selection(
                provider, new RuleArgument(provider.id(), choices.arguments())));
        run("constraint " + provider.id(), SelectedConstraintContract.class);
    }

    private void proposer(TokenProposerProvider provider) {
        SelectedProposerContract.select(
                new SelectedProposerContract.Selection(provider, new RuleArgument(provider.id(), choices.arguments())));
        run("proposer of tokens " + provider.id(), SelectedProposerContract.class);
    }

    private void reply(ReplyFormatProvider provider) {
        ReplyFormatContract.select(new ReplyFormatContract.Selection(provider, choices.arguments()));
        run("format of replies " + provider.id(), ReplyFormatContract.class);
    }

    private void registry(ModelRegistry registry) {
        SelectedRegistryContract.select(new SelectedRegistryContract.Selection(registry, choices.arguments()));
        run("registry " + registry.id(), SelectedRegistryContract.class);
    }

    private void endpoints(EndpointProvider provider) {
        SelectedEndpointContract.select(provider);
        run("end points " + provider.id(), SelectedEndpointContract.class);
    }

    private void listener(BundleChangeListener listener) {
        SelectedListenerContract.select(listener);
        run("listener " + listener.getClass().getSimpleName(), SelectedListenerContract.class);
    }

    private void exporter(MetricsExporter exporter) {
        SelectedExporterContract.select(exporter);
        run("exporter " + exporter.getClass().getSimpleName(), SelectedExporterContract.class);
    }

    private void settings(BundleSettings settings) {
        SelectedSettingsContract.select(settings);
        run("settings of " + settings.owner(), SelectedSettingsContract.class);
    }

    private void commands(HandedBundle bundle, List<TenonCommand> commands) {
        List<Object> names = bundle.properties(TenonCommand.class, TenonCommand.NAME);
        List<Object> scopes = bundle.properties(TenonCommand.class, Constants.SERVICE_SCOPE);
        Set<Object> others = bundle.propertiesOfOthers(TenonCommand.class, TenonCommand.NAME);
        for (int i = 0; i < commands.size(); i++) {
            CommandContract.select(new CommandContract.Selection(commands.get(i), names.get(i), scopes.get(i), others));
            run("command " + names.get(i), CommandContract.class);
        }
    }

    private <T> List<T> fitting(String kind, List<T> offered, Function<T, String> id, String fileOf) {
        List<T> fit = offered.stream().filter(a -> id.apply(a).equals(fileOf)).toList();
        if (fit.isEmpty()) {
            return offered;
        }
        offered.stream()
                .filter(a -> !fit.contains(a))
                .forEach(a -> title.add(kind + " " + id.apply(a) + " is not tested: the file is of " + fileOf));
        return fit;
    }

    /// Models in the bundle's formats, on each installed backend that can work here and that `auto` may choose: with
    /// the bundle's kernels, or, if it has none, with those that are made of its layouts.
    private void onBackends(List<QuantFormat> ownFormats, List<KernelProvider> ownKernels, List<QuantFormat> known) {
        Set<String> ids = new LinkedHashSet<>();
        ownFormats.forEach(format -> ids.add(format.id()));
        ownKernels.forEach(provider -> provider.kernels().forEach(kernel -> ids.add(kernel.format())));
        List<QuantFormat> tested = known.stream()
                .filter(f -> ids.contains(f.id()) && TestFormats.holdsWeights(f))
                .toList();
        if (tested.isEmpty()) {
            return;
        }
        List<KernelProvider> used = ownKernels.isEmpty() ? kernels : ownKernels;
        for (Backend backend : choosable()) {
            SelectedNumbersContract.select(
                    new SelectedNumbersContract.Selection(backend, tested, used, choices.large()));
            run(String.join(" ", ids) + " on backend " + backend.id(), SelectedNumbersContract.class);
        }
    }

    /// The backends that can work here and that `auto` may choose.
    private List<Backend> choosable() {
        return backends.stream()
                .filter(backend -> backend.rank() >= 0 && backend.probe().available())
                .toList();
    }

    /// All formats; a handed one takes the place of an installed one of the same name.
    private List<QuantFormat> withOwn(List<QuantFormat> own) {
        Map<String, QuantFormat> all = new LinkedHashMap<>();
        formats.forEach(format -> all.put(format.id(), format));
        own.forEach(format -> all.put(format.id(), format));
        return List.copyOf(all.values());
    }

    private static String names(KernelProvider provider) {
        return provider.kernels().stream().map(Kernel::name).collect(Collectors.joining(" "));
    }

    /// Runs suites: parts of a backend's contract, and what needs none.
    ///
    /// @param suites which
    /// @param backend an installed one; null if no suite needs it
    /// @param serve options of `serve` for the server's suite
    /// @throws BackendException (`BACKEND-001`) if the backend is not available here
    public void suites(List<Suite> suites, Backend backend, List<String> serve) {
        if (backend != null) {
            select(backend);
        }
        for (Suite suite : suites) {
            String what = suite.needsBackend() ? "backend " + backend.id() + ", suite " + suite : "suite " + suite;
            switch (suite) {
                case GGUF -> {
                    GgufContract.select(formats);
                    run(what, suite, GgufContract.class);
                    for (QuantFormat format : formats) {
                        SelectedFormatContract.select(format);
                        run(what + ", format " + format.id(), suite, SelectedFormatContract.class);
                    }
                }
                case SERVER -> {
                    ServerContract.select(serve);
                    run(what, suite, ServerContract.class);
                }
                default ->
                    runs.add(ContractRun.of(what, suite.toString(), SelectedBackendContract.class, suite::has, onCase));
            }
        }
    }

    private void run(String what, Suite suite, Class<?> contract) {
        runs.add(ContractRun.of(what, suite.toString(), contract, declaring -> true, onCase));
    }

    private void run(String what, Class<?> contract) {
        runs.add(ContractRun.of(what, contract, onCase));
    }
}
