package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.bench.measure.BenchProfile;
import dev.tenon.platform.bench.measure.BenchRunner;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.measure.Statistics;
import dev.tenon.platform.bench.output.BenchConfig;
import dev.tenon.platform.bench.output.BenchResult;
import dev.tenon.platform.bench.output.BenchResult.ModelFacts;
import dev.tenon.platform.bench.report.Measurement;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.Unit;
import dev.tenon.platform.tools.gguf.SynthShape;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// Measures prefill and decode of one model on one backend, by the rules of `tenon bench`, and its
/// memory.
///
/// Decoding has the bandwidth of reading as its ceiling on a CPU; it is measured after each
/// repetition.
final class ModelSpeed {
    /// How a model is loaded and what is measured.
    ///
    /// @param label what distinguishes it from other cases of the same model; empty for nothing
    /// @param backend the backend
    /// @param threads threads; 0 for those that the user chose
    /// @param keys type of cached keys
    /// @param values type of cached values
    /// @param settings settings of the backend
    /// @param tests what to measure, the important ones first
    /// @param memory whether memory is a result, too
    record Setup(
            String label,
            Backend backend,
            int threads,
            KvType keys,
            KvType values,
            Map<String, String> settings,
            List<BenchTest> tests,
            boolean memory) {
        Setup(Backend backend, BenchTest... tests) {
            this("", backend, 0, KvType.F16, KvType.F16, Map.of(), List.of(tests), false);
        }

        String where() {
            return " on " + backend.id();
        }

        Setup withMemory() {
            return new Setup(label, backend, threads, keys, values, settings, tests, true);
        }

        Setup labelled(String other) {
            return new Setup(other, backend, threads, keys, values, settings, tests, memory);
        }

        Setup withThreads(int count) {
            return new Setup(label, backend, count, keys, values, settings, tests, memory);
        }

        Setup withCache(KvType type) {
            return new Setup(label, backend, threads, type, type, settings, tests, memory);
        }

        Setup withSettings(Map<String, String> others) {
            return new Setup(label, backend, threads, keys, values, others, tests, memory);
        }
    }

    /// How long untimed runs take at least, and what loading takes.
    private static final double AROUND_SECONDS = 6;

    /// Seconds of a gibibyte that is read, and of one that is made and read.
    private static final double READ_SECONDS = 1;

    private static final double MADE_SECONDS = 4;
    private static final int WARM_UP_SECONDS = 10;
    private static final int CONTEXT_STEP = 256;
    /// How many times faster than decoding a token of a prompt is, for estimates.
    private static final int PREFILL_GAIN = 16;

    private static final int MOST_TOKEN_SAMPLES = 2000;
    private static final int BATCH = 2048;
    private static final int UBATCH = 512;

    private final ProgramRun run;
    private final int repetitions;

    ModelSpeed(ProgramRun run) {
        this.run = run;
        this.repetitions = run.options().quick() ? 2 : 5;
    }

    /// Measures, and notes what cannot be measured here as skipped. The file that was made for it
    /// stays.
    ///
    /// @param place where the results lie in a series
    void measure(ModelSpec spec, Setup setup, Place place) throws InterruptedException {
        measure(spec, setup, place, null);
    }

    /// Measures; each kernel of decoding, too.
    ///
    /// @param profile receives the kernels; null for none
    void measure(ModelSpec spec, Setup setup, Place place, BenchProfile profile) throws InterruptedException {
        String name = spec.label() + (setup.label.isEmpty() ? "" : " " + setup.label);
        String all = name + " "
                + setup.tests.stream().map(BenchTest::name).collect(Collectors.joining(", "))
                + setup.where();
        run.attempt(all, () -> {
            long bytes = run.files().bytes(spec);
            run.requireMemory(bytes + cacheBytes(spec.shape(), setup), setup.backend);
            double first = seconds(bytes, setup, setup.tests.getFirst());
            if (!run.hasTime(all, first + fileSeconds(spec, bytes))) {
                return;
            }
            Path file = run.files().file(spec);
            BenchConfig config = new BenchConfig(
                    file,
                    setup.backend.id(),
                    "",
                    setup.threads > 0 ? setup.threads : run.options().team(),
                    BATCH,
                    UBATCH,
                    setup.keys,
                    setup.values,
                    Map.of(),
                    setup.settings);
            try (LoadedModel model = run.console().load(run.engine(), request(config, setup))) {
                tests(model, config, setup, name, bytes, place, profile);
            }
        });
    }

    private static LoadRequest request(BenchConfig config, Setup setup) {
        int sequences =
                setup.tests.stream().mapToInt(BenchTest::nParallel).max().orElseThrow();
        int context = setup.tests.stream().mapToInt(ModelSpeed::positions).max().orElseThrow();
        return LoadRequest.builder(config.model())
                .backend(config.backend())
                .threads(config.threads())
                .contextLength(context)
                .maxSequences(sequences)
                .maxBatchTokens(config.nUbatch())
                .keyType(config.typeK())
                .valueType(config.typeV())
                .settings(setup.settings)
                .build();
    }

    private void tests(
            LoadedModel model,
            BenchConfig config,
            Setup setup,
            String name,
            long bytes,
            Place place,
            BenchProfile profile) {
        if (profile != null && model.profiler().isEmpty()) {
            throw new SkipException("backend " + model.backend() + " does not time its kernels");
        }
        ModelFacts facts = ModelFacts.of(model, config);
        BenchRunner runner = new BenchRunner(model, config.nBatch());
        boolean memory = setup.memory;
        for (BenchTest test : setup.tests) {
            String testCase = name + " " + test.name();
            if (test != setup.tests.getFirst() && !run.hasTime(testCase + setup.where(), seconds(bytes, setup, test))) {
                continue;
            }
            double[] bandwidths = new double[repetitions];
            boolean ceiling = test.nPrompt() == 0 && run.isHost(setup.backend);
            Instant start = Instant.now();
            BenchRunner.Times times =
                    runner.run(test, repetitions, true, run.options().quick() ? 1 : WARM_UP_SECONDS, profile, done -> {
                        bandwidths[done - 1] = ceiling ? run.measureBandwidth() : 0;
                        run.tick();
                    });
            add(
                    testCase,
                    new BenchResult(config, test, facts, start, times, Statistics.mean(bandwidths), null, profile),
                    place);
            if (memory) {
                memory = false;
                memory(name, model, place);
            }
        }
        if (setup.memory) {
            run.add(name, model.backend(), "load", Unit.MILLIS, facts.loadNanos() / 1e6);
        }
    }

    private void add(String testCase, BenchResult result, Place place) {
        BenchTest test = result.test();
        String backend = result.model().backend();
        double[] speeds = result.samplesPerSecond();
        if (!result.decodes()) {
            String metric = test.nGen() > 0 ? "mix" : "prefill";
            run.add(new Measurement(testCase, backend, metric, Unit.TOKENS_PER_SECOND, speeds, place, Double.NaN));
            return;
        }
        double bytes = result.bytesPerToken();
        double limit = result.bandwidth() > 0 ? result.bandwidth() : Double.NaN;
        run.add(new Measurement(testCase, backend, "decode", Unit.TOKENS_PER_SECOND, speeds, place, limit / bytes));
        double[] rates = Arrays.stream(speeds).map(s -> s * bytes / 1e9).toArray();
        run.add(new Measurement(
                testCase, backend, "bandwidth", Unit.GIGABYTES_PER_SECOND, rates, Place.NONE, limit / 1e9));
        if (result.tokensTimed()) {
            run.add(
                    testCase,
                    backend,
                    "token",
                    Unit.MILLIS,
                    Arrays.stream(result.times().tokens())
                            .limit(MOST_TOKEN_SAMPLES)
                            .mapToDouble(ns -> ns / 1e6)
                            .toArray());
        }
    }

    private void memory(String name, LoadedModel model, Place place) {
        double mebi = 1 << 20;
        double allocated = model.report().memory().allocatedBytes();
        run.add(new Measurement(
                name,
                model.backend(),
                "allocated",
                Unit.MEBIBYTES,
                new double[] {allocated / mebi},
                place,
                Double.NaN));
        long resident = run.residentBytes();
        if (resident > 0) {
            run.add(new Measurement(
                    name,
                    model.backend(),
                    "resident",
                    Unit.MEBIBYTES,
                    new double[] {resident / mebi},
                    place,
                    Double.NaN));
        }
    }

    /// {@return about how long a test takes, as far as the memory's bandwidth tells}
    private double seconds(long bytes, Setup setup, BenchTest test) {
        double token = run.isHost(setup.backend) ? bytes / run.bandwidth() : 0;
        double steps = (double) test.nGen()
                + (test.nDepth() + (double) test.nPrompt()) / PREFILL_GAIN
                + (test.nParallel() - 1.0) * test.nGen() / PREFILL_GAIN;
        double around = run.options().quick() ? AROUND_SECONDS / 2 : AROUND_SECONDS;
        return around + (repetitions + 1) * token * steps;
    }

    /// {@return bytes of cached keys and values in F16, the usual type}
    private static long cacheBytes(SynthShape shape, Setup setup) {
        BenchTest widest = setup.tests.stream()
                .max(java.util.Comparator.comparingLong(test -> (long) test.nParallel() * test.context()))
                .orElseThrow();
        return 4L * shape.layers() * shape.headsKv() * shape.headLength() * widest.nParallel() * positions(widest);
    }

    /// {@return positions of a sequence; sequences do not share pages, so each needs whole ones}
    private static int positions(BenchTest test) {
        return Math.ceilDiv(test.context(), CONTEXT_STEP) * CONTEXT_STEP;
    }

    /// {@return about how long reading a file takes, and making it where it is not there}
    private double fileSeconds(ModelSpec spec, long bytes) {
        double each = run.files().there(spec).isPresent() ? READ_SECONDS : MADE_SECONDS;
        return 1 + each * bytes / (1L << 30);
    }

    /// {@return how many tokens to decode: as many as take about a second, 8 to 64}
    int tokensToDecode(ModelSpec spec, Backend backend) {
        if (run.options().quick()) {
            return 8;
        }
        double token = run.isHost(backend) ? run.files().bytes(spec) / run.bandwidth() : 0.001;
        return (int) Math.clamp(1 / token, 8, 64);
    }
}
