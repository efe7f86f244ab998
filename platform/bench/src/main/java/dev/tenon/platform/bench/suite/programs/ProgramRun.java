package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.bench.measure.HostMemory;
import dev.tenon.platform.bench.measure.ReadBandwidth;
import dev.tenon.platform.bench.report.Measurement;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ProgramResult;
import dev.tenon.platform.bench.report.ProgramResult.Skipped;
import dev.tenon.platform.bench.report.ProgramResult.Status;
import dev.tenon.platform.bench.report.ReportTable;
import dev.tenon.platform.bench.report.Unit;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.SettingValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// A run of a program: its time, its backends and models, and the results so far, which are saved
/// after each case.
///
/// Owns a buffer for measuring the bandwidth of reading, until closed. For one thread.
public final class ProgramRun implements AutoCloseable {
    private static final double NANOS = 1e9;
    /// What else than weights and the cache of keys and values a model takes, about.
    private static final double MEMORY_FACTOR = 1.15;

    private final Program program;
    private final ProgramOptions options;
    private final Engine engine;
    private final Console console;
    private final TenonProcess tenon;
    private final double seconds;
    private final Consumer<ProgramResult> saved;
    private final ModelFiles files;
    private final long begin = System.nanoTime();
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<ReportTable> tables = new ArrayList<>();
    private final List<Skipped> skipped = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final Progress bar;
    private ReadBandwidth reader;
    private double bandwidth;

    /// Begins a run.
    ///
    /// @param program what runs
    /// @param options what the user chose
    /// @param engine the engine
    /// @param console for progress
    /// @param tenon starts further processes
    /// @param seconds how long it may take; a case that would take longer is skipped
    /// @param saved receives the results after each case
    public ProgramRun(
            Program program,
            ProgramOptions options,
            Engine engine,
            Console console,
            TenonProcess tenon,
            double seconds,
            Consumer<ProgramResult> saved) {
        this.program = program;
        this.options = options;
        this.engine = engine;
        this.console = console;
        this.tenon = tenon;
        this.seconds = seconds;
        this.saved = saved;
        this.files = new ModelFiles(options, engine, console);
        this.bar = console.progress(program.name(), (long) seconds, "s at most");
    }

    /// Runs the program.
    ///
    /// @return its result, which is saved, too
    public ProgramResult run() throws InterruptedException {
        ProgramResult result;
        try {
            program.run(this);
            boolean nothing = measurements.isEmpty() && !skipped.isEmpty();
            result = !failures.isEmpty()
                    ? result(Status.FAILED, failedCases())
                    : nothing
                            ? result(Status.SKIPPED, skipped.getFirst().reason())
                            : result(Status.PASSED, skippedCases());
        } catch (SkipException e) {
            result = result(Status.SKIPPED, e.getMessage());
        } catch (TenonException e) {
            result = result(Status.FAILED, e.getMessage());
        } catch (OutOfMemoryError e) {
            result = result(Status.FAILED, "out of memory: " + e.getMessage() + " [" + ErrorCode.MEMORY + "]");
        }
        saved.accept(result);
        return result;
    }

    private String skippedCases() {
        return switch (skipped.size()) {
            case 0 -> "";
            case 1 -> "1 case skipped";
            default -> skipped.size() + " cases skipped";
        };
    }

    private String failedCases() {
        int others = failures.size() - 1;
        return failures.getFirst()
                + (others == 0 ? ")" : ", and " + others + (others == 1 ? " more case)" : " more cases)"));
    }

    private ProgramResult result(Status status, String reason) {
        return new ProgramResult(program.name(), status, reason, elapsed(), measurements, tables, skipped);
    }

    private double elapsed() {
        return (System.nanoTime() - begin) / NANOS;
    }

    /// {@return what the user chose}
    ProgramOptions options() {
        return options;
    }

    /// {@return what files or the environment set for a backend}
    ///
    /// @param backend the backend
    Map<String, String> settings(Backend backend) {
        if (!(engine instanceof EngineControl control)) {
            return Map.of();
        }
        return control.settings(Map.of()).stream()
                .filter(value -> backend.settings().contains(value.setting())
                        && !value.origin().equals(SettingValue.DEFAULT))
                .collect(Collectors.toMap(value -> value.setting().name(), SettingValue::value));
    }

    /// {@return the engine}
    Engine engine() {
        return engine;
    }

    /// {@return the console}
    Console console() {
        return console;
    }

    /// {@return what starts further processes}
    TenonProcess tenon() {
        return tenon;
    }

    /// {@return the models' files}
    ModelFiles files() {
        return files;
    }

    /// {@return a model as it is to be measured: with two layers if it is to be quick}
    ModelSpec model(String preset, String type) {
        ModelSpec spec = new ModelSpec(preset, type);
        return options.quick() ? spec.cutTo(2) : spec;
    }

    /// {@return the backends to measure}
    ///
    /// @throws TenonException (`BACKEND-001`) if one that was named is not there, or none is
    List<Backend> backends() {
        List<Backend> all = engine.backends();
        if (options.backends().isEmpty()) {
            List<Backend> usable = all.stream()
                    .filter(backend -> backend.rank() >= 0 && backend.probe().available())
                    .toList();
            if (usable.isEmpty()) {
                throw new TenonException(ErrorCode.BACKEND_UNAVAILABLE, "No backend is available. See 'tenon doctor'.");
            }
            return usable;
        }
        return options.backends().stream().map(id -> backend(all, id)).toList();
    }

    private static Backend backend(List<Backend> all, String id) {
        Backend found = all.stream()
                .filter(backend -> backend.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        "There is no backend '" + id + "'; installed: "
                                + String.join(
                                        ", ",
                                        all.stream().map(Backend::id).sorted().toList()) + "."));
        if (!found.probe().available()) {
            throw new TenonException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend " + id + " is not available: " + found.probe().reason());
        }
        return found;
    }

    /// {@return whether a backend computes on the processors that the bandwidth of reading belongs
    ///     to}
    boolean isHost(Backend backend) {
        return backend.devices().stream()
                .findFirst()
                .map(device -> device.kind().equals("cpu"))
                .orElse(false);
    }

    /// Checks that a model fits into memory.
    ///
    /// @param needed bytes that it takes
    /// @param backend where it is to run
    /// @throws SkipException if it does not
    void requireMemory(long needed, Backend backend) {
        long free = isHost(backend)
                ? HostMemory.availableBytes()
                : backend.devices().getFirst().memoryBytes();
        long all = (long) (needed * MEMORY_FACTOR);
        if (free > 0 && all > free) {
            throw new SkipException("needs " + Sizes.bytes(all) + " of memory on " + backend.id() + "; "
                    + Sizes.bytes(free) + " are free");
        }
    }

    /// {@return bytes a second that the processors read, measured once for estimates; see
    ///     [#measureBandwidth()]}
    double bandwidth() {
        if (bandwidth == 0) {
            bandwidth = measureBandwidth();
        }
        return bandwidth;
    }

    /// {@return bytes a second that the processors read now; NaN where there is no memory to
    ///     measure with}
    double measureBandwidth() {
        if (reader == null) {
            reader = new ReadBandwidth(ReadBandwidth.automaticBytes());
        }
        return reader.measure(options.team());
    }

    /// {@return bytes of this process in memory, without the buffer for measuring; 0 if unknown}
    long residentBytes() {
        long all = HostMemory.residentBytes(ProcessHandle.current().pid());
        return Math.max(0, all - (reader == null ? 0 : reader.sizeBytes()));
    }

    /// {@return whether there is time for a case; if not, it is skipped}
    ///
    /// @param testCase the case
    /// @param needs seconds that it takes, about
    boolean hasTime(String testCase, double needs) {
        boolean enough = hasTime(needs);
        if (!enough) {
            skip(testCase, String.format(Locale.ROOT, "takes about %.0f s, and ", needs) + noTime());
        }
        return enough;
    }

    /// {@return whether there is time}
    ///
    /// @param needs seconds, about
    boolean hasTime(double needs) {
        return needs <= seconds - elapsed();
    }

    /// {@return how little time is left}
    String noTime() {
        return String.format(Locale.ROOT, "%.0f s of %.0f s are left", secondsLeft(), seconds);
    }

    /// {@return seconds that are left}
    double secondsLeft() {
        return Math.max(0, seconds - elapsed());
    }

    /// Notes a case that does not run.
    void skip(String testCase, String reason) {
        skipped.add(new Skipped(testCase, reason));
        save();
    }

    /// Runs a case; one that cannot run here is skipped, and one that fails is noted, and the next one runs.
    ///
    /// @return whether it ran to its end
    boolean attempt(String testCase, Case run) throws InterruptedException {
        try {
            run.run();
            return true;
        } catch (SkipException | UnsupportedModelException | OutOfResourcesException e) {
            skip(testCase, e.getMessage());
        } catch (TenonException e) {
            if (e.code().equals(ErrorCode.BACKEND_UNSUPPORTED)) {
                skip(testCase, e.getMessage());
            } else {
                failures.add(e.getMessage() + " (" + testCase);
                skip(testCase, "failed: " + e.getMessage());
            }
        }
        return false;
    }

    /// A case.
    @FunctionalInterface
    interface Case {
        void run() throws InterruptedException;
    }

    /// Adds a measurement.
    void add(Measurement measurement) {
        measurements.add(measurement);
        save();
    }

    /// Adds a measurement without place and ceiling.
    void add(String testCase, String backend, String metric, Unit unit, double... samples) {
        add(new Measurement(testCase, backend, metric, unit, samples, Place.NONE, Double.NaN));
    }

    /// Adds a table.
    void add(ReportTable table) {
        tables.add(table);
        save();
    }

    private void save() {
        tick();
        saved.accept(result(Status.INTERRUPTED, "has not ended"));
    }

    /// Moves the bar.
    void tick() {
        bar.to((long) Math.min(elapsed(), seconds));
    }

    @Override
    public void close() {
        bar.close();
        if (reader != null) {
            reader.close();
        }
    }
}
