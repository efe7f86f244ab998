package dev.tenon.platform.bench.tune;

import dev.tenon.api.config.Knob;
import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.Interval;
import dev.tenon.platform.bench.measure.MachineLock;
import dev.tenon.platform.bench.suite.programs.TenonProcess;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Engines;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.tuned.TunedFolder;
import dev.tenon.platform.core.tuned.TunedIdentity;
import dev.tenon.platform.core.tuned.TunedModel;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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

/// `tenon tune`: searches for settings with which a model is faster than with the defaults.
@Command(
        name = "tune",
        sortOptions = false,
        description = {
            "Searches for backend settings with which a model is faster on this device than with the defaults, by the"
                    + " time of whole steps, in turns with the defaults.",
            "What is confirmed beyond the noise is kept and used when a model of this shape is loaded; otherwise the"
                    + " defaults stay. Ctrl-C ends the search and keeps what was confirmed."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon tune -m model.gguf --budget 10m",
            "  tenon tune -m model.gguf -p 0 -n 128",
            "  tenon tune -m model.gguf --table --backend cuda",
            "  tenon tune --reset",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=tune",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class TuneCommand implements TenonCommand {
    private static final int INTERRUPTED = 130;
    private static final int SPARE_TOKENS = 64;
    private static final int LEAST_ROOM = 256;
    private static final int COMPILERS = 4;
    private static final int MOST_TOKENS = 1 << 20;

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ModelOptions options;

    @Option(
            names = {"-p", "--n-prompt"},
            paramLabel = "N",
            defaultValue = "128",
            description = "Prompt tokens of the work that is to be fast; 0: none (default: ${DEFAULT-VALUE}).")
    @Range(max = MOST_TOKENS)
    private int prompt;

    @Option(
            names = {"-n", "--n-gen"},
            paramLabel = "N",
            defaultValue = "128",
            description = "Generated tokens of that work; 0: none (default: ${DEFAULT-VALUE}).")
    @Range(max = MOST_TOKENS)
    private int generated;

    @Option(
            names = "--budget",
            paramLabel = "TIME",
            defaultValue = "5m",
            description = "How long to search, such as 90s, 5m or 1h (default: ${DEFAULT-VALUE}).")
    private String budget;

    @Option(names = "--table", description = "Measure seven settings of matrix-vector kernels; keep nothing.")
    private boolean table;

    @Option(names = "--wait", description = "Wait for another process that measures, instead of failing.")
    private boolean wait;

    @Option(names = "--again", description = "Also try what hung, failed or computed something else before.")
    private boolean again;

    @Option(names = "--reset", description = "Forget what was found: for the model that -m names, or all.")
    private boolean reset;

    @Option(names = "--worker", hidden = true, description = "Measure what standard input says.")
    private boolean worker;

    /// What is tuned.
    private record Subject(TunedIdentity identity, Backend backend, String title) {}

    @Override
    public Integer call() throws IOException {
        if (prompt == 0 && generated == 0) {
            throw usage("Nothing to tune: -p and -n are 0");
        }
        long nanos = nanos(budget);
        if (reset && options.name() == null) {
            int removed = folder(engine).removeAll();
            console.out().println(removed + " results of 'tenon tune' removed");
            return 0;
        }
        Workload workload = new Workload(prompt, generated);
        LoadRequest request = request();
        if (worker) {
            new TuneWorker(Engines.require(engine), request, workload)
                    .run(
                            new BufferedReader(new InputStreamReader(console.in(), StandardCharsets.UTF_8)),
                            console.out());
            return 0;
        }
        Subject subject = subject(request);
        if (reset) {
            boolean removed = folder(engine).remove(subject.identity);
            console.out().println((removed ? "Removed what" : "Nothing") + " was tuned for " + subject.title);
            return 0;
        }
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        if (load > Runtime.getRuntime().availableProcessors()) {
            console.note(String.format(
                    "The machine is busy (load %.1f): candidates that are thrown out may be sound.", load));
        }
        ProcessRig rig = new ProcessRig(this::program, COMPILERS, ProcessRig.Limits.USUAL);
        try (rig;
                MachineLock alone = MachineLock.take(MachineLock.file(), "tune", wait, console::note);
                Console.Interrupt interrupt = console.onInterrupt(rig::stop)) {
            if (table) {
                new TuneTable(subject.backend.settings()).print(rig, workload, console.out());
                return 0;
            }
            return tune(rig, subject, request, workload, nanos);
        } catch (Interrupted e) {
            return INTERRUPTED;
        }
    }

    private LoadRequest request() {
        LoadRequest request = options.request(console);
        Map<String, String> settings = new HashMap<>(request.settings());
        settings.put("tuned", "off");
        return request.toBuilder()
                .settings(settings)
                .contextLength(prompt + Math.max(generated, LEAST_ROOM) + SPARE_TOKENS)
                .maxSequences(1)
                .build();
    }

    /// Loads the model once, to see where it runs.
    private Subject subject(LoadRequest request) {
        try (LoadedModel model = console.load(engine, request)) {
            if (!(model instanceof TunedModel tuned)) {
                throw new IllegalStateException(model.getClass() + " is no model of the platform");
            }
            Backend backend = engine.backends().stream()
                    .filter(each -> each.id().equals(model.backend()))
                    .findFirst()
                    .orElseThrow();
            String title = request.path().getFileName() + " on " + model.backend() + ", "
                    + model.device().name();
            return new Subject(tuned.tunedIdentity(), backend, title);
        }
    }

    private int tune(ProcessRig rig, Subject subject, LoadRequest request, Workload workload, long nanos)
            throws IOException {
        TunedFolder folder = folder(engine);
        Optional<TunedSettings> before =
                folder.find(subject.identity).filter(kept -> kept.identity().equals(subject.identity));
        Map<String, String> failed =
                again ? Map.of() : before.map(TunedSettings::failed).orElse(Map.of());
        List<Knob> knobs = knobs(subject.backend, request, workload);
        console.out()
                .printf(
                        "%s: prompts of %d tokens, %d generated; at most %d s%n",
                        subject.title, prompt, generated, TimeUnit.NANOSECONDS.toSeconds(nanos));
        failed.forEach((settings, how) -> console.out().printf("%-44s not tried again: %s%n", settings, how));
        console.out().flush();
        Tuner tuner = new Tuner(
                rig,
                knobs,
                workload,
                TuneSettings.width(System.getenv()),
                nanos,
                System::nanoTime,
                failed,
                this::print);
        Tuner.Result result = tuner.run();
        keep(folder, subject.identity, result, before);
        return result.end().equals("interrupted") ? INTERRUPTED : 0;
    }

    /// Those that the user leaves open and that can matter.
    private List<Knob> knobs(Backend backend, LoadRequest request, Workload workload) {
        List<Knob> open = new ArrayList<>();
        List<SettingValue> values =
                engine instanceof EngineControl control ? control.settings(request.settings()) : List.of();
        for (Knob knob : backend.knobs()) {
            boolean given = values.stream()
                            .filter(value -> value.owner().equals(backend.id())
                                    || value.owner().equals("platform"))
                            .anyMatch(value -> value.setting().name().equals(knob.setting())
                                    && !value.value().equals(value.setting().defaultValue()))
                    || knob.setting().equals("threads") && request.threads() > 0;
            if (given) {
                console.note(knob.setting() + " is given, and not tuned.");
            } else if (!workload.concerns(knob)) {
                console.note(knob.setting() + " matters for prompts only, and is not tuned with -p 0.");
            } else if (!knob.values().isEmpty()) {
                open.add(knob);
            }
        }
        if (open.isEmpty()) {
            throw new TenonException(
                    ErrorCode.BACKEND_UNSUPPORTED,
                    "Backend " + backend.id() + " leaves nothing to tune. Choose another with --backend, or give fewer"
                            + " settings.");
        }
        return open;
    }

    private void print(Candidate candidate, String verdict, Interval gain, int quads) {
        String text = gain == null ? "" : String.format("%+6.2f %%  ", TuneTable.percent(gain.estimate()));
        String interval = gain == null || !verdict.contains("confirmed") || Double.isInfinite(gain.low())
                ? ""
                : String.format(
                        " [%+.2f, %+.2f], %d pairs of plans",
                        TuneTable.percent(gain.low()), TuneTable.percent(gain.high()), quads);
        console.out().printf("%-44s %s%s%s%n", candidate.text(), text, verdict, interval);
        console.out().flush();
    }

    private void keep(TunedFolder folder, TunedIdentity identity, Tuner.Result result, Optional<TunedSettings> before)
            throws IOException {
        boolean complete = result.end().equals("complete");
        if (result.gain() != null) {
            String gain = String.format(
                    "%+.2f %% [%+.2f, %+.2f] faster with %d prompt and %d generated tokens, %s",
                    TuneTable.percent(result.gain().estimate()),
                    TuneTable.percent(result.gain().low()),
                    TuneTable.percent(result.gain().high()),
                    prompt,
                    generated,
                    LocalDate.now());
            folder.write(new TunedSettings(identity, result.best().settings(), gain, result.failed()));
            console.out().println("Kept: " + result.best().text() + ", " + gain);
        } else if (!complete
                && before.filter(kept -> !kept.settings().isEmpty()).isPresent()) {
            TunedSettings kept = before.get();
            folder.write(new TunedSettings(identity, kept.settings(), kept.result(), result.failed()));
            console.out().println("Nothing confirmed; what was tuned before stays: " + kept.result());
        } else {
            String none = String.format(
                    "none of %d candidates was faster with %d prompt and %d generated tokens beyond the noise, %s",
                    result.tried(), prompt, generated, LocalDate.now());
            folder.write(new TunedSettings(identity, Map.of(), none, result.failed()));
            console.out().println("The defaults stay: " + none);
        }
        if (!complete) {
            console.out()
                    .println("The search is not complete (" + result.end() + "); confirming one candidate takes about "
                            + TimeUnit.NANOSECONDS.toSeconds(result.confirmNanos()) + " s.");
        }
    }

    /// {@return where results are kept}
    ///
    /// @param engine knows the setting `tuned.folder`
    static TunedFolder folder(Engine engine) {
        String setting = engine instanceof EngineControl control
                ? control.settings(Map.of()).stream()
                        .filter(value -> value.setting().name().equals("tuned.folder"))
                        .map(SettingValue::value)
                        .findFirst()
                        .orElse("")
                : "";
        return TunedFolder.of(setting, System.getenv());
    }

    private ProcessBuilder program() {
        List<String> line =
                new ArrayList<>(spec.root().commandLine().getParseResult().originalArgs());
        line.add("--worker");
        return new TenonProcess().builder(line).redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    private long nanos(String text) {
        Optional<Long> nanos = nanosOf(text);
        return nanos.orElseThrow(() -> usage("Invalid value for option '--budget': '" + text
                + "'; expected a time such as 90s, 5m or 1h, at most 24h"));
    }

    /// {@return nanoseconds; empty if it is no time, or longer than a day}
    ///
    /// @param text a number with the unit s, m or h
    static Optional<Long> nanosOf(String text) {
        if (!text.matches("[0-9]{1,6}[smh]")) {
            return Optional.empty();
        }
        long number = Long.parseLong(text.substring(0, text.length() - 1));
        long seconds = switch (text.charAt(text.length() - 1)) {
            case 's' -> number;
            case 'm' -> TimeUnit.MINUTES.toSeconds(number);
            default -> TimeUnit.HOURS.toSeconds(number);
        };
        return seconds == 0 || seconds > TimeUnit.DAYS.toSeconds(1)
                ? Optional.empty()
                : Optional.of(TimeUnit.SECONDS.toNanos(seconds));
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
