package dev.tenon.platform.serve;

import dev.tenon.api.config.Setting;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelDefaults;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.cli.options.SpeculationOptions;
import dev.tenon.platform.core.control.BundleControl;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.control.SamplingNumber;
import dev.tenon.platform.server.HandOver;
import dev.tenon.platform.server.ServerBuilder;
import dev.tenon.platform.server.TenonServer;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.folder.FolderStore;
import dev.tenon.platform.server.http.HttpLimits;
import dev.tenon.platform.server.models.ChatDefaults;
import dev.tenon.platform.server.models.KeepAlive;
import dev.tenon.platform.server.models.ModelSpec;
import dev.tenon.platform.server.models.Preset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon serve`: answers HTTP requests.
@Command(
        name = "serve",
        sortOptions = false,
        description = {
            "Answers HTTP requests with models: the wires of OpenAI, Anthropic and Ollama, at http://127.0.0.1:8080.",
            "Options go over the settings of the same names, such as serve.port or TENON_SERVE_PORT."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon serve",
            "  tenon serve -m model.gguf --port 9000 --parallel 8",
            "  tenon serve --models-dir models --models-memory 16384",
            "  tenon serve -m model.gguf --host 0.0.0.0 --api-key-file keys.txt",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=serve",
        configurationPid = ServeSettings.PID)
public final class ServeCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Reference(
            cardinality = ReferenceCardinality.OPTIONAL,
            policy = ReferencePolicy.DYNAMIC,
            policyOption = ReferencePolicyOption.GREEDY)
    volatile BundleControl bundles;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "[NAME[,NAME]=]FILE",
            description = "Model that is always loaded, and what requests call it; may be repeated (default: the"
                    + " configured one, unless there is --models-dir).")
    private List<String> models = List.of();

    @Option(names = "--models-dir", paramLabel = "DIR", description = "Folder of models that are loaded on demand.")
    private String modelsDir;

    @Option(names = "--host", paramLabel = "ADDRESS", description = "Address to listen at (default: 127.0.0.1).")
    private String host;

    @Option(names = "--port", paramLabel = "N", description = "Port to listen on; 0: a free one (default: 8080).")
    private String port;

    @Option(names = "--api-key-file", paramLabel = "FILE", description = "Keys of clients, one a line.")
    private String keyFile;

    @Option(names = "--no-key", description = "Listen where others reach the server, without keys.")
    private boolean noKey;

    @Option(names = "--allowed-hosts", paramLabel = "NAMES", description = "Further names of the server.")
    private String allowedHosts;

    @Option(names = "--cors-origins", paramLabel = "ORIGINS", description = "Origins whose pages may ask.")
    private String origins;

    @Option(
            names = {"-np", "--parallel"},
            paramLabel = "N",
            description = "Sequences of a model that generate at the same time (default: 4).")
    private String parallel;

    @Option(
            names = {"-c", "--context"},
            paramLabel = "N",
            description = "Context length of a sequence in tokens (default: the configured one, else the model's).")
    private String context;

    @Option(names = "--queue", paramLabel = "N", description = "Requests of a model that may wait (default: 256).")
    private String queue;

    @Option(
            names = "--models-memory",
            paramLabel = "MIB",
            description = "Memory that loaded models take at most; 0: no limit (default: 0).")
    private String memory;

    @Option(
            names = "--keep-alive",
            paramLabel = "SECONDS",
            description = "How long a model loaded on demand stays loaded; -1: for ever (default: 300).")
    private String keepAlive;

    @Option(names = "--embeddings", description = "Let models that generate also embed texts.")
    private boolean embeddings;

    @Option(
            names = "--reasoning-budget",
            paramLabel = "N",
            description = "Most tokens of the reasoning of a reply; 0: none, -1: no limit (default: -1).")
    private String reasoningBudget;

    @Option(
            names = "--reasoning-budget-message",
            paramLabel = "TEXT",
            description = "What stands at the end of reasoning that the budget ends.")
    private String reasoningMessage;

    @Option(
            names = "--slot-save-path",
            paramLabel = "FOLDER",
            description = "Folder in which POST /slots keeps what was computed of prompts.")
    private String slotFolder;

    @Option(
            names = "--drain-timeout",
            paramLabel = "SECONDS",
            description = "Time that running requests have to end at SIGTERM or Ctrl-C (default: 30).")
    private String drain;

    @Option(names = "--tls-key-store", paramLabel = "FILE", description = "Key store for TLS.")
    private String keyStore;

    @Option(names = "--backend", paramLabel = "ID", description = "Backend (default: the configured one).")
    private String backend = "";

    @Option(
            names = "--lora",
            paramLabel = "FILE[=SCALE]",
            mapFallbackValue = "1",
            description =
                    "LoRA adapter of the one model that is given, and the factor on what it adds (default: 1); may"
                            + " be repeated. Requests choose by their order.")
    private Map<Path, Float> adapters = new LinkedHashMap<>();

    @Option(
            names = "--mmproj",
            paramLabel = "FILE",
            description = ModelOptions.COMPANION + " (default: none). A file needs exactly one -m.")
    private String companion;

    @Mixin
    private SpeculationOptions speculation;

    private volatile Map<String, Object> config = Map.of();
    private final Serving serving = new Serving(this::builder, this::drainTimes, this::watched);

    /// Takes the configuration; a change takes effect while the server runs.
    ///
    /// @param values the configuration
    @Activate
    @Modified
    void configure(Map<String, Object> values) {
        Map<String, Object> before = config;
        config = Map.copyOf(values);
        if (!config.equals(before)) {
            serving.reload();
        }
    }

    /// Ends with the last running request when the bundle stops; the next version of it, if there is one, serves
    /// already.
    @Deactivate
    void leave() {
        serving.leave(console != null && console.isSucceeded());
    }

    @Override
    public Integer call() throws InterruptedException {
        Runnable end = () -> Thread.ofVirtual().start(() -> serving.end(false));
        Runnable later = () -> Thread.ofVirtual().start(() -> serving.end(true));
        try (Console.Interrupt interrupt = console.onInterrupt(end);
                Console.Interrupt termination = console.onTermination(later);
                Console.Interrupt reload = console.onReload(serving::reload)) {
            console.out().println("Listening at " + serving.start(() -> HandOver.of(console.offered())));
            console.out().flush();
            console.offer(() -> serving.handOver().parts());
            if (interrupt.happened() || termination.happened()) {
                end.run(); // it came before there was anything to end
            }
            serving.run();
        }
        return 0;
    }

    private Serving.DrainTimes drainTimes() {
        return new Serving.DrainTimes(
                Duration.ofSeconds(number(ServeSettings.DRAIN_DELAY, null)),
                Duration.ofSeconds(number(ServeSettings.DRAIN, drain)));
    }

    /// {@return the files that are read at the start and whose changes take effect}
    private List<Path> watched() {
        return Stream.of(value(ServeSettings.KEYS, keyFile), value(ServeSettings.TLS, keyStore))
                .filter(file -> !file.isEmpty())
                .map(Path::of)
                .toList();
    }

    private ServerBuilder builder() {
        String keys = value(ServeSettings.KEYS, keyFile);
        String store = value(ServeSettings.TLS, keyStore);
        long seconds = number(ServeSettings.KEEP_ALIVE, keepAlive);
        ServerBuilder builder = TenonServer.builder(Engines.require(engine))
                .host(value(ServeSettings.HOST, host))
                .port((int) number(ServeSettings.PORT, port))
                .withoutKey(noKey || value(ServeSettings.NO_KEY, null).equals("on"))
                .keys(keys.isEmpty() ? ApiKeys.none() : ApiKeys.read(Path.of(keys)))
                .hosts(list(ServeSettings.HOSTS, allowedHosts))
                .origins(list(ServeSettings.ORIGINS, origins))
                .parallel((int) number(ServeSettings.PARALLEL, parallel))
                .context((int) number(ServeSettings.CONTEXT, context))
                .queue((int) number(ServeSettings.QUEUE, queue))
                .modelMemory(number(ServeSettings.MEMORY, memory) << 20)
                .keepAlive(Duration.ofSeconds(seconds))
                .chatDefaults(new ChatDefaults(
                        (int) number(ServeSettings.REASONING_BUDGET, reasoningBudget),
                        value(ServeSettings.REASONING_MESSAGE, reasoningMessage),
                        efforts(),
                        value(ServeSettings.CALLER_HEADER, null).equals("on")))
                .embeddings(embeddings || value(ServeSettings.EMBEDDINGS, null).equals("on"))
                .metricsWithoutKey(value(ServeSettings.OPEN_METRICS, null).equals("on"))
                .endpointEnd(drainTimes().limit())
                .bundles(() -> bundles)
                .metricsPrefix(value(ServeSettings.METRICS, null))
                .limits(HttpLimits.defaults()
                        .withBodyBytes(
                                (int) number(ServeSettings.BODY, null) << 10,
                                (int) number(ServeSettings.MEDIA, null) << 10)
                        .withConnectionsPerAddress((int) number(ServeSettings.CONNECTIONS, null)))
                .tls(store.isEmpty() ? null : Path.of(store), value(ServeSettings.TLS_PASSWORD, null));
        String folder = value(ServeSettings.MODELS_DIR, modelsDir);
        if (!folder.isEmpty()) {
            BiFunction<String, Path, ModelSpec> found = (name, file) -> spec(List.of(name), request(file));
            FolderStore source = new FolderStore(Path.of(folder), found, ModelRegistries.of(engine), console::setting);
            source.models(); // a folder that cannot be read is told at once
            builder.store(source);
        }
        builder.slotFolder(folder(ServeSettings.SLOTS, slotFolder));
        builder.mediaUrls(list(ServeSettings.MEDIA_URLS, null), folder(ServeSettings.MEDIA_FOLDER, null));
        String manage = value(ServeSettings.MANAGE, null);
        if (!manage.equals("auto")) {
            builder.manage(manage.equals("on"));
        }
        List<String> all = models.isEmpty() ? texts(value(ServeSettings.MODELS, null), ";") : models;
        boolean standard = all.isEmpty() && folder.isEmpty();
        if (!adapters.isEmpty() && all.size() != 1 && !standard) {
            throw new TenonException(ErrorCode.USAGE, "--lora needs exactly one -m, whose adapters they are.");
        }
        String encoder = value(ServeSettings.MMPROJ, companion);
        if (!ModelOptions.isRule(encoder) && (all.size() > 1 || !folder.isEmpty())) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "--mmproj " + encoder + " needs exactly one model, whose encoder it is. With several, give auto.");
        }
        Set<String> names = new HashSet<>();
        for (String given : standard ? Collections.<String>singletonList(null) : all) {
            int sign = given == null ? -1 : given.indexOf('=');
            LoadRequest request = withAdapters(request(console.model(sign < 0 ? given : given.substring(sign + 1))));
            List<String> called = sign > 0 ? List.of(given.substring(0, sign).split(",")) : List.of(name(request));
            for (int i = 2; !Collections.disjoint(names, called); i++) {
                called = List.of(name(request) + "-" + i);
            }
            names.addAll(called);
            called.stream().filter(name -> !ModelSpec.isName(name)).findFirst().ifPresent(name -> {
                throw new TenonException(
                        ErrorCode.USAGE,
                        "'" + name + "' is no name of a model; expected letters, digits and . _ : / @ + -");
            });
            builder.model(spec(called, request));
        }
        return builder;
    }

    /// {@return the folder that a setting names, which is there; null if it names none}
    private Path folder(Setting setting, String given) {
        String folder = value(setting, given);
        if (!folder.isEmpty() && !Files.isDirectory(Path.of(folder))) {
            throw new TenonException(
                    ErrorCode.CONFIG, setting.name() + " is " + folder + ", which is no folder. Make it first.");
        }
        return folder.isEmpty() ? null : Path.of(folder);
    }

    private Map<String, Integer> efforts() {
        Map<String, Integer> efforts = new LinkedHashMap<>();
        for (String pair : list(ServeSettings.EFFORTS, null)) {
            if (!pair.matches("[a-z]+=(-1|\\d{1,9})")) {
                throw new TenonException(
                        ErrorCode.CONFIG,
                        ServeSettings.EFFORTS.name() + " has '" + pair
                                + "'; expected a name and tokens, such as low=1024.");
            }
            efforts.put(pair.substring(0, pair.indexOf('=')), Integer.parseInt(pair.substring(pair.indexOf('=') + 1)));
        }
        return efforts;
    }

    private LoadRequest request(Path file) {
        LoadRequest request =
                speculation.in(LoadRequest.builder(file).backend(backend).build(), console);
        return ModelOptions.withCompanion(request, value(ServeSettings.MMPROJ, companion));
    }

    private LoadRequest withAdapters(LoadRequest request) {
        LoadRequest.Builder with = request.toBuilder();
        ModelOptions.addAdapters(adapters, with);
        return with.build();
    }

    /// {@return a name for the file of a model, made of its own}
    private static String name(LoadRequest request) {
        String name = request.path().getFileName().toString().replaceFirst("(?i)\\.gguf$", "");
        String plain = name.replaceAll("[^A-Za-z0-9._:/@+-]", "-");
        return plain.matches("[A-Za-z0-9].*") ? plain : "model-" + plain;
    }

    /// @param names the name, then further ones
    private static ModelSpec spec(List<String> names, LoadRequest request) {
        ModelDefaults defaults = ModelDefaults.of(request.path());
        SamplingParams standard = SamplingParams.defaults();
        SamplingParams own = SamplingNumber.builder(standard, number -> defaults.sampling(number, standard))
                .build();
        Duration kept = defaults.text("keep-alive")
                .map(text -> KeepAlive.parse(text.strip())
                        .orElseThrow(() -> new TenonException(
                                ErrorCode.CONFIG,
                                "keep-alive beside " + request.path() + " is '" + text
                                        + "'; expected seconds, or a duration such as 5m.")))
                .orElse(null);
        Preset preset = kept == null ? Preset.none() : new Preset(List.of(), Map.of(), kept, List.of());
        return new ModelSpec(names.getFirst(), names.subList(1, names.size()), request, own, preset);
    }

    private String value(Setting setting, String option) {
        Map<String, String> options = new LinkedHashMap<>();
        if (option != null) {
            options.put(setting.name(), option);
        }
        return ServeSettings.value(setting, options, config).checked();
    }

    private long number(Setting setting, String option) {
        return Long.parseLong(value(setting, option));
    }

    private List<String> list(Setting setting, String option) {
        return texts(value(setting, option), ",");
    }

    private static List<String> texts(String list, String separator) {
        return Arrays.stream(list.split(separator))
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .toList();
    }
}
