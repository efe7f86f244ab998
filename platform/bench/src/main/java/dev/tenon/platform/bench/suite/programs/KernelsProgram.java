package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.bench.measure.CopyBandwidth;
import dev.tenon.platform.bench.measure.HostMemory;
import dev.tenon.platform.bench.measure.MatrixPlan;
import dev.tenon.platform.bench.measure.ReadBandwidth;
import dev.tenon.platform.bench.measure.Statistics;
import dev.tenon.platform.bench.report.Measurement;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ReportTable;
import dev.tenon.platform.bench.report.Unit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// `kernels`: bandwidth of memory, time of an empty step and of a launch, and products with
/// matrices of each format.
final class KernelsProgram implements Program {
    private static final int[] MEBIBYTES = {1, 4, 16, 64, 256, 1024};
    private static final int[] SIZES = {1024, 4096, 256, 2048, 512};
    /// Tokens of a step that multiplies matrices with matrices.
    private static final int BATCH = 512;
    /// Weights of a plan are as many bytes, so that the caches do not hold them, as far as the
    /// layers' number allows.
    private static final long WEIGHT_BYTES = 64L << 20;

    private static final int MOST_LAYERS = 16;
    private static final int CHAIN = 64;
    private static final int SMALL = 32;
    private static final long MILLI = 1_000_000;
    private static final List<String> FIRST = List.of("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q4_K");

    /// A backend that is measured, in turns with the others, so that time that runs out takes the same cases from each.
    private static final class Subject {
        private final Backend backend;
        private final Map<String, Map<Integer, double[]>> speeds = new LinkedHashMap<>();
        /// Bytes a second to the device.
        private double copyRate = Double.POSITIVE_INFINITY;

        Subject(Backend backend) {
            this.backend = backend;
        }
    }

    @Override
    public String name() {
        return "kernels";
    }

    @Override
    public String about() {
        return "memory bandwidth, launch and step latency, products with matrices of each format";
    }

    @Override
    public int seconds() {
        return 150;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        memory(run);
        List<Subject> subjects = new ArrayList<>();
        for (Backend backend : run.backends()) {
            Subject subject = new Subject(backend);
            if (!run.isHost(backend)) {
                run.attempt("copies on " + backend.id(), () -> subject.copyRate = copies(run, backend));
            }
            if (run.attempt("latency on " + backend.id(), () -> latency(run, backend))) {
                subjects.add(subject);
            }
        }
        int[] sizes = run.options().quick() ? new int[] {256} : SIZES;
        List<String> late = new ArrayList<>();
        for (int n : sizes) {
            for (QuantFormat format : formats(run)) {
                for (Subject subject : subjects) {
                    String testCase = format.id() + " " + n + " on " + subject.backend.id();
                    if (!run.hasTime(seconds(run, subject, format, n))) {
                        late.add(testCase);
                        continue;
                    }
                    run.attempt(
                            testCase,
                            () -> subject.speeds
                                    .computeIfAbsent(format.id(), id -> new TreeMap<>())
                                    .put(n, products(run, subject.backend, format, n)));
                }
            }
        }
        if (!late.isEmpty()) {
            run.skip(late.getFirst() + (late.size() > 1 ? " and " + (late.size() - 1) + " more" : ""), run.noTime());
        }
        for (Subject subject : subjects) {
            table(run, subject.backend, "matrix × vector", subject.speeds, sizes, 0);
            table(run, subject.backend, "matrix × " + BATCH + " vectors", subject.speeds, sizes, 1);
        }
    }

    /// {@return about how long a product takes, the weights' way to the device among it}
    private static double seconds(ProgramRun run, Subject subject, QuantFormat format, int n) {
        long bytes = format.bytesFor((long) n * n);
        return 1.5 + 1e-9 * n * n * BATCH / 10 + layers(run, bytes) * bytes / subject.copyRate;
    }

    private static int layers(ProgramRun run, long bytes) {
        return (int) Math.clamp(WEIGHT_BYTES / bytes, 1, run.options().quick() ? 2 : MOST_LAYERS);
    }

    /// Speeds by format and size.
    private static void table(
            ProgramRun run,
            Backend backend,
            String what,
            Map<String, Map<Integer, double[]>> speeds,
            int[] sizes,
            int which) {
        int[] sorted = Arrays.stream(sizes).sorted().toArray();
        List<String> columns = new ArrayList<>(List.of("format"));
        Arrays.stream(sorted).forEach(n -> columns.add(Integer.toString(n)));
        List<List<String>> rows = new ArrayList<>();
        speeds.forEach((format, bySize) -> {
            List<String> row = new ArrayList<>(List.of(format));
            for (int n : sorted) {
                row.add(bySize.containsKey(n) ? String.format(Locale.ROOT, "%.1f", bySize.get(n)[which]) : "");
            }
            rows.add(row);
        });
        run.add(new ReportTable(what + " on " + backend.id() + ", GFLOP/s by width and height", columns, rows));
    }

    private static void memory(ProgramRun run) throws InterruptedException {
        int threads = run.options().team();
        for (int mebi : run.options().quick() ? new int[] {1, 16} : MEBIBYTES) {
            long bytes = (long) mebi << 20;
            run.attempt("memory of " + mebi + " MiB", () -> {
                long free = HostMemory.availableBytes();
                if (free > 0 && 3 * bytes > free) {
                    throw new SkipException("needs " + (3 * mebi) + " MiB of memory; " + (free >> 20) + " are free");
                }
                try (ReadBandwidth reader = new ReadBandwidth(bytes)) {
                    double[] rates = {
                        reader.measure(threads) / 1e9, reader.measure(threads) / 1e9, reader.measure(threads) / 1e9
                    };
                    run.add(new Measurement(
                            mebi + " MiB",
                            "memory",
                            "read",
                            Unit.GIGABYTES_PER_SECOND,
                            rates,
                            new Place("MiB", "read", mebi),
                            Double.NaN));
                }
                try (CopyBandwidth copier = new CopyBandwidth(bytes)) {
                    double[] rates = new double[3];
                    Arrays.setAll(rates, i -> copier.measure(threads, 1L << 30) / 1e9);
                    run.add(new Measurement(
                            mebi + " MiB",
                            "memory",
                            "copy",
                            Unit.GIGABYTES_PER_SECOND,
                            rates,
                            new Place("MiB", "copy", mebi),
                            Double.NaN));
                }
            });
        }
    }

    /// {@return bytes a second to the device}
    private static double copies(ProgramRun run, Backend backend) {
        try (Device device = backend.open(
                DeviceOptions.builder().settings(run.settings(backend)).build())) {
            return new DeviceCopies(run, backend.id(), device.allocator(), System::nanoTime).measure(MEBIBYTES);
        }
    }

    private static void latency(ProgramRun run, Backend backend) {
        QuantFormat f32 = f32(run);
        double empty;
        try (MatrixPlan plan = plan(run, backend, SMALL, 0, f32, 1)) {
            double[] micros = micros(plan.steps(1, 500 * MILLI, 500 * MILLI, 2000));
            run.add("empty step", backend.id(), "step", Unit.MICROS, micros);
            empty = Arrays.stream(micros).sorted().toArray()[micros.length / 2];
        }
        try (MatrixPlan plan = plan(run, backend, SMALL, CHAIN, f32, 1)) {
            double[] micros = micros(plan.steps(1, 500 * MILLI, 500 * MILLI, 2000));
            run.add(
                    "one kernel of " + CHAIN + " in a step",
                    backend.id(),
                    "launch",
                    Unit.MICROS,
                    Arrays.stream(micros)
                            .map(step -> Math.max(0, step - empty) / CHAIN)
                            .toArray());
        }
    }

    private static double[] micros(double[] nanos) {
        return Arrays.stream(nanos).map(ns -> ns / 1e3).toArray();
    }

    /// {@return mean GFLOP/s of one vector and of many}
    private static double[] products(ProgramRun run, Backend backend, QuantFormat format, int n) {
        long bytes = format.bytesFor((long) n * n);
        int layers = layers(run, bytes);
        run.requireMemory(layers * bytes, backend);
        try (MatrixPlan plan = plan(run, backend, n, layers, format, BATCH)) {
            double flops = 2.0 * n * n;
            double ceiling = run.isHost(backend) ? run.bandwidth() / 1e9 : Double.NaN;
            double[] one = Arrays.stream(plan.steps(1, 50 * MILLI, 150 * MILLI, 200))
                    .map(ns -> flops * layers / ns)
                    .toArray();
            run.add(new Measurement(
                    format.id() + " " + n,
                    backend.id(),
                    "matrix × vector",
                    Unit.GIGAFLOPS,
                    one,
                    new Place("flop/byte", format.id(), flops / (bytes + 8.0 * n)),
                    ceiling * flops / bytes));
            double[] many = Arrays.stream(plan.steps(BATCH, 50 * MILLI, 150 * MILLI, 50))
                    .map(ns -> flops * BATCH * layers / ns)
                    .toArray();
            run.add(new Measurement(
                    format.id() + " " + n,
                    backend.id(),
                    "matrix × " + BATCH + " vectors",
                    Unit.GIGAFLOPS,
                    many,
                    new Place("flop/byte", format.id(), flops * BATCH / (bytes + 8.0 * n * BATCH)),
                    Double.NaN));
            return new double[] {Statistics.mean(one), Statistics.mean(many)};
        }
    }

    private static MatrixPlan plan(ProgramRun run, Backend backend, int n, int layers, QuantFormat format, int batch) {
        QuantFormat f32 = f32(run);
        MatrixPlan.Shape shape = new MatrixPlan.Shape(
                n, layers, format, SMALL, f32, batch, run.options().threads());
        return new MatrixPlan(backend, shape, f32, run.engine().kernelProviders(), run.settings(backend));
    }

    static QuantFormat f32(ProgramRun run) {
        return run.engine().formats().stream()
                .filter(format ->
                        format.id().equals("F32") && format.quantizer().isPresent())
                .findFirst()
                .orElseThrow(() -> new SkipException("no installed format writes F32"));
    }

    /// The formats that can be written and whose blocks fit, those first that matter most.
    private static List<QuantFormat> formats(ProgramRun run) {
        return run.engine().formats().stream()
                .filter(format -> format.quantizer().isPresent() && 256 % format.blockSize() == 0)
                .sorted(Comparator.comparingInt((QuantFormat format) -> order(format.id()))
                        .thenComparing(QuantFormat::id))
                .toList();
    }

    private static int order(String id) {
        int at = FIRST.indexOf(id);
        return at < 0 ? FIRST.size() : at;
    }
}
