package dev.tenon.platform.bench;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.bench.measure.BenchProfile;
import dev.tenon.platform.bench.measure.BenchRunner;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.measure.ReadBandwidth;
import dev.tenon.platform.bench.measure.Statistics;
import dev.tenon.platform.bench.output.BenchConfig;
import dev.tenon.platform.bench.output.BenchFields;
import dev.tenon.platform.bench.output.BenchOutput;
import dev.tenon.platform.bench.output.BenchResult;
import dev.tenon.platform.bench.output.Comparison;
import dev.tenon.platform.bench.output.LlamaBench;
import dev.tenon.platform.bench.output.MarkdownOutput;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.options.ModelOptions;
import dev.tenon.platform.core.tuned.TunedModel;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
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
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon bench`: prefill and decode speed.
@Command(
        name = "bench",
        subcommands = {BenchServeCommand.class, BenchSuiteCommand.class, BenchReportCommand.class},
        sortOptions = false,
        description = {
            "Measures prefill (pp) and decode (tg) speed as llama-bench does: random tokens, no sampling, an untimed"
                    + " warm-up, mean and sample standard deviation of -r repetitions.",
            "Lists are separated by commas; ranges are first-last, first-last+step or first-last*factor."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon bench",
            "  tenon bench -m model.gguf -p 512 -n 128 -r 5",
            "  tenon bench -m a.gguf,b.gguf -p 0 -n 64 -t 1,2,4 -o csv",
            "  tenon bench -pg 512,128 -d 0,4096 -o json",
            "  tenon bench -p 0 -n 64 -np 1,8,16",
            "  tenon bench -p 0 -n 128 --greedy",
            "  tenon bench -p 0 -n 128 --lora adapter.gguf",
            "  tenon bench -p 0 --profile",
            "  tenon bench -p 0 --sweep mv.threads-per-row=8,16,32 --sweep mv.block-size=256,512",
            "  tenon bench -t 2 --llama-bench ~/llama.cpp/build/bin/llama-bench",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=bench",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class BenchCommand implements TenonCommand {
    private static final long LLAMA_BENCH_SECONDS = 3600;
    private static final int CONTEXT_STEP = 256;

    /// How results are printed.
    enum Format {
        /// Markdown table.
        md,
        /// Comma-separated values.
        csv,
        /// JSON array.
        json,
        /// One JSON object a line.
        jsonl,
        /// SQL statements.
        sql
    }

    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            split = ",",
            description = "Models: files or names of pulled ones (default: the configured one).")
    private List<String> models;

    @Option(
            names = {"-p", "--n-prompt"},
            paramLabel = "N",
            defaultValue = "512",
            description = "Prompt tokens; 0: skip this test (default: ${DEFAULT-VALUE}).")
    private List<String> prompts;

    @Option(
            names = {"-n", "--n-gen"},
            paramLabel = "N",
            defaultValue = "128",
            description = "Tokens to generate; 0: skip this test (default: ${DEFAULT-VALUE}).")
    private List<String> gens;

    @Option(
            names = "-pg",
            paramLabel = "PP,TG",
            description = "Prompt followed by generation, timed together; may be repeated.")
    private List<String> pairs = List.of();

    @Option(
            names = {"-d", "--n-depth"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Tokens in the context before each test (default: ${DEFAULT-VALUE}).")
    private List<String> depths;

    @Option(
            names = {"-np", "--parallel"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Sequences that generate at the same time, each in its own session; the speed is their total"
                    + " (default: ${DEFAULT-VALUE}).")
    private List<String> parallels;

    @Option(
            names = "--greedy",
            description = "Generate the model's own tokens, the best each time, as a session does, instead of random"
                    + " ones; a device that can chooses them by itself.")
    private boolean greedy;

    @Option(
            names = "--edit",
            description = "Generate the tokens that -d fills the context with again, every sixteenth one changed, as"
                    + " where a model edits a text; for --sweep speculate=off,ngram.")
    private boolean edits;

    @Option(
            names = {"-b", "--batch-size"},
            paramLabel = "N",
            defaultValue = "2048",
            description = "Prompt tokens per call (default: ${DEFAULT-VALUE}).")
    private List<String> batches;

    @Option(
            names = {"-ub", "--ubatch-size"},
            paramLabel = "N",
            defaultValue = "512",
            description = "Maximum tokens per step (default: ${DEFAULT-VALUE}).")
    private List<String> ubatches;

    @Option(
            names = {"-ctk", "--cache-type-k"},
            paramLabel = "TYPE",
            split = ",",
            defaultValue = "F16",
            description = "Types of cached keys: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<KvType> keyTypes;

    @Option(
            names = {"-ctv", "--cache-type-v"},
            paramLabel = "TYPE",
            split = ",",
            defaultValue = "F16",
            description = "Types of cached values: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<KvType> valueTypes;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "0",
            description = "CPU threads; 0: one per core (default: ${DEFAULT-VALUE}).")
    private List<String> threads;

    @Option(
            names = "--backend",
            paramLabel = "ID",
            split = ",",
            description = "Backends (default: the configured one).")
    private List<String> backends = List.of("");

    @Option(
            names = {"--device", "-dev"},
            paramLabel = "ID",
            split = ",",
            description = "Devices of the backend (default: the first).")
    private List<String> devices = List.of("");

    @Option(
            names = {"-r", "--repetitions"},
            paramLabel = "N",
            defaultValue = "5",
            description = "Repetitions of each test (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 1_000_000)
    private int repetitions;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "md",
            description = "Output format: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Format format;

    @Option(
            names = "--warmup-seconds",
            paramLabel = "N",
            description = "Maximum seconds of untimed runs: at least four, and more while the JIT compiler is busy"
                    + " (default: ${DEFAULT-VALUE}).",
            defaultValue = "20")
    @Range(max = 86_400)
    private int warmUpSeconds;

    @Option(names = "--no-warmup", description = "Do not warm up.")
    private boolean noWarmUp;

    @Option(
            names = "--profile",
            description = "Repeat each run with every kernel timed; prints count, time, share, GB/s and role of the"
                    + " kernels, and what timing them cost. Printed in md, json and jsonl.")
    private boolean profile;

    @Option(
            names = "--llama-bench",
            paramLabel = "PATH",
            description = "Run this llama-bench in turns with ours, without and with flash attention (quantized values:"
                    + " only with), and print the better of the two and the ratio.")
    private String llamaBench;

    @Option(
            names = "--bandwidth-mib",
            paramLabel = "N",
            description = "Memory to read for measuring the bandwidth of the processors; 0: do not measure (default:"
                    + " three times the last-level cache, from 512 to 2048).")
    @Range(max = 1 << 20)
    private Integer bandwidthMib;

    @Option(names = "--lora", paramLabel = "FILE[=SCALE]", mapFallbackValue = "1", description = ModelOptions.LORA)
    private Map<Path, Float> adapters = new LinkedHashMap<>();

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Setting for the backend, such as mv.block-size=256; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--sweep",
            paramLabel = "NAME=VALUE,...",
            description = "Measure with each of these values of a setting; repeated, with each combination. A column"
                    + " tells them apart, and the fastest one of each test is named below the table.")
    private Map<String, String> sweeps = new LinkedHashMap<>();

    @Override
    public Integer call() {
        List<BenchTest> tests = tests();
        if (tests.isEmpty()) {
            throw usage("Nothing to measure: -p and -n are 0");
        }
        List<BenchConfig> configs = configs();
        if (llamaBench != null && !adapters.isEmpty()) {
            throw usage("--llama-bench cannot be measured beside --lora: llama-bench loads no adapters");
        }
        if (llamaBench != null) {
            new LlamaBench(llamaBench, LLAMA_BENCH_SECONDS).check();
        }
        String version = version();
        BenchOutput output = switch (format) {
            case md -> new MarkdownOutput(configs, version, llamaBench != null);
            case csv -> new BenchOutput.Csv(version);
            case json -> new BenchOutput.JsonOutput(version, false);
            case jsonl -> new BenchOutput.JsonOutput(version, true);
            case sql -> new BenchOutput.Sql(version);
        };
        try (ReadBandwidth reader = reader(tests)) {
            output.begin(console.out());
            for (BenchConfig config : configs) {
                run(config, tests, output, reader);
            }
        }
        output.end(console.out());
        return 0;
    }

    /// {@return what measures the bandwidth; null if nothing decodes, if it is not wanted, or if
    /// memory is short}
    private ReadBandwidth reader(List<BenchTest> tests) {
        if (tests.stream().allMatch(t -> t.nGen() == 0) || Integer.valueOf(0).equals(bandwidthMib)) {
            return null;
        }
        long bytes = bandwidthMib == null ? ReadBandwidth.automaticBytes() : (long) bandwidthMib << 20;
        try {
            return new ReadBandwidth(bytes);
        } catch (OutOfMemoryError e) {
            console.note("The read bandwidth is not measured: no " + (bytes >> 20) + " MiB of memory are free. Give"
                    + " less with --bandwidth-mib.");
            return null;
        }
    }

    private void run(BenchConfig config, List<BenchTest> tests, BenchOutput output, ReadBandwidth reader) {
        int sequences = tests.stream().mapToInt(BenchTest::nParallel).max().orElseThrow();
        int context = tests.stream().mapToInt(BenchTest::context).max().orElseThrow();
        if (sequences > 1) {
            // Sequences do not share pages, so each needs whole ones.
            context = (context + CONTEXT_STEP - 1) / CONTEXT_STEP * CONTEXT_STEP;
        }
        Map<String, String> all = new LinkedHashMap<>(settings);
        all.putAll(config.swept());
        LoadRequest.Builder request = LoadRequest.builder(config.model())
                .backend(config.backend())
                .device(config.device())
                .threads(config.threads())
                .contextLength(context)
                .maxSequences(sequences)
                .maxBatchTokens(config.nUbatch())
                .keyType(config.typeK())
                .valueType(config.typeV())
                .settings(all);
        ModelOptions.addAdapters(config.adapters(), request);
        try (LoadedModel model = console.load(engine, request.build())) {
            if (model instanceof TunedModel tuned && !tuned.tuned().reason().isEmpty()) {
                console.note("Tuned: " + TunedSettings.line(tuned.tuned().settings()) + " "
                        + tuned.tuned().reason());
            }
            BenchRunner runner = new BenchRunner(model, config.nBatch());
            BenchResult.ModelFacts facts = BenchResult.ModelFacts.of(model, config);
            boolean profiled = profile && model.profiler().isPresent();
            if (profile && !profiled) {
                console.note("No profile: backend " + model.backend() + " does not time its kernels.");
            }
            for (BenchTest test : tests) {
                double[] bandwidths = new double[repetitions];
                BenchProfile kernels = profiled ? new BenchProfile() : null;
                Comparison other = llamaBench != null && test.nParallel() == 1 && !test.greedy() && !test.edits()
                        ? new Comparison(repetitions)
                        : null;
                LlamaBench program = new LlamaBench(llamaBench, LLAMA_BENCH_SECONDS);
                boolean cpu = facts.deviceKind().equals("cpu");
                Instant start = Instant.now();
                BenchRunner.Times times;
                try (Progress bar = console.progress(test.name(), repetitions, "runs")) {
                    times = runner.run(test, repetitions, !noWarmUp, warmUpSeconds, kernels, done -> {
                        bandwidths[done - 1] = cpu ? measure(reader, test, config) : 0;
                        if (other != null) {
                            other.add(
                                    done - 1,
                                    config.needsFlashAttention() ? null : program.run(config, test, cpu, false),
                                    program.run(config, test, cpu, true));
                        }
                        bar.to(done);
                    });
                }
                double bandwidth = Statistics.mean(bandwidths);
                output.result(
                        console.out(), new BenchResult(config, test, facts, start, times, bandwidth, other, kernels));
                console.out().flush();
            }
        }
    }

    /// Measured after each repetition, because the speed of shared machines varies.
    private static double measure(ReadBandwidth reader, BenchTest test, BenchConfig config) {
        return reader == null || test.nGen() == 0 ? 0 : reader.measure(BenchFields.threads(config));
    }

    private List<BenchTest> tests() {
        List<BenchTest> tests = new ArrayList<>();
        List<Integer> depthList = numbers("--n-depth", depths);
        if (edits && depthList.contains(0)) {
            throw usage("--edit needs a text: -d 1 or more");
        }
        for (int depth : depthList) {
            for (int n : numbers("--n-prompt", prompts)) {
                tests.add(new BenchTest(n, 0, depth));
            }
            for (int n : numbers("--n-gen", gens)) {
                for (int sequences : numbers("--parallel", parallels, 1, Integer.MAX_VALUE)) {
                    tests.add(new BenchTest(0, n, depth, sequences, greedy, edits));
                }
            }
            for (String pair : pairs) {
                List<Integer> both = numbers("-pg", Arrays.asList(pair.split(",")));
                if (both.size() != 2) {
                    throw usage("Invalid value for option '-pg': '" + pair + "'; expected two numbers such as 512,128");
                }
                tests.add(new BenchTest(both.get(0), both.get(1), depth, 1, greedy));
            }
        }
        tests.removeIf(t -> t.tokens() == 0);
        return tests;
    }

    private List<BenchConfig> configs() {
        List<BenchConfig> configs = new ArrayList<>();
        for (String model : models == null ? Collections.<String>singletonList(null) : models) {
            for (String backend : backends) {
                for (String device : devices) {
                    for (int nBatch : numbers("--batch-size", batches, 1, Integer.MAX_VALUE)) {
                        for (int nUbatch : numbers("--ubatch-size", ubatches, 1, Integer.MAX_VALUE)) {
                            for (KvType typeK : keyTypes) {
                                for (KvType typeV : valueTypes) {
                                    for (int n : numbers("--threads", threads, 0, Range.MOST_THREADS)) {
                                        for (Map<String, String> swept : combinations()) {
                                            configs.add(new BenchConfig(
                                                    console.model(model),
                                                    backend,
                                                    device,
                                                    n,
                                                    nBatch,
                                                    nUbatch,
                                                    typeK,
                                                    typeV,
                                                    adapters,
                                                    swept));
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        return configs;
    }

    /// {@return every combination of swept values; one empty one where nothing is swept}
    private List<Map<String, String>> combinations() {
        List<Map<String, String>> all = List.of(Map.of());
        for (Map.Entry<String, String> sweep : sweeps.entrySet()) {
            List<Map<String, String>> next = new ArrayList<>();
            for (Map<String, String> before : all) {
                for (String value : sweep.getValue().split(",", -1)) {
                    Map<String, String> with = new LinkedHashMap<>(before);
                    with.put(sweep.getKey(), value.strip());
                    next.add(with);
                }
            }
            all = next;
        }
        return all;
    }

    private List<Integer> numbers(String name, List<String> texts) {
        return numbers(name, texts, 0, Integer.MAX_VALUE);
    }

    private List<Integer> numbers(String name, List<String> texts, long least, long most) {
        List<Integer> values;
        try {
            values = IntRange.parse(texts);
        } catch (IllegalArgumentException e) {
            throw usage("Invalid value for option '" + name + "': " + e.getMessage());
        }
        for (int value : values) {
            if (value < least || value > most) {
                throw usage("Invalid value for option '" + name + "': " + value + "; expected "
                        + (most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most));
            }
        }
        return values;
    }

    /// {@return version of the program}
    String version() {
        String[] lines = spec.root().version();
        return lines.length == 0 ? "unknown" : lines[0];
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
