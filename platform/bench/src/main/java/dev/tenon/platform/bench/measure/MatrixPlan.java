package dev.tenon.platform.bench.measure;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/// A plan whose steps multiply with square matrices and do little else: to time single kernels
/// through a backend's whole path, and to see their error.
///
/// The graph is an embedding of F32, `layers` matrices `[n, n]` one after the other, the selection
/// of the wanted rows, and a last matrix `[n, head]`. Weights are Gaussian with a standard
/// deviation of 1/sqrt(n). The matrices of the layers hold the same blocks at different addresses.
///
/// Owns device, plan and weights until closed. For one thread.
public final class MatrixPlan implements AutoCloseable {
    private static final int VOCABULARY = 64;
    /// Weights that are encoded; the rows of a larger matrix repeat them.
    private static final int ENCODED = 1 << 18;

    private static final int ALIGNMENT = 64;
    /// The JIT compiler is done when it works for less than this fraction of a window.
    private static final int QUIET = 20;

    private static final int MOST_WINDOWS = 40;

    private record Tensor(TensorInfo info, QuantFormat format, MemorySegment data) {}

    /// The weights of the plan.
    private record Tensors(Map<String, Tensor> byName) implements Weights {
        @Override
        public TensorInfo info(String name) {
            return byName.get(name).info;
        }

        @Override
        public QuantFormat format(String name) {
            return byName.get(name).format;
        }

        @Override
        public MemorySegment data(String name) {
            return byName.get(name).data;
        }
    }

    /// What to build.
    ///
    /// @param n width and height of a matrix
    /// @param layers how many of them
    /// @param format their format; it has a quantizer
    /// @param head rows of the last matrix
    /// @param headFormat its format; it has a quantizer
    /// @param batch most tokens of a step
    /// @param threads threads of a CPU; 0 for the machine's
    public record Shape(
            int n, int layers, QuantFormat format, int head, QuantFormat headFormat, int batch, int threads) {}

    private final Arena arena = Arena.ofShared();
    private final Map<String, Tensor> tensors = new HashMap<>();
    private final Shape shape;
    private final Device device;
    private final Plan plan;
    private final int[] pages;
    private final StepInput input = new StepInput();
    private final float[] logits;
    private float[] headValues;
    private float[] embedded;

    /// Makes the weights and compiles the plan.
    ///
    /// @param backend the backend
    /// @param shape what to build
    /// @param f32 the format F32
    /// @param kernels installed kernels
    /// @param settings settings of the backend
    public MatrixPlan(
            Backend backend,
            Shape shape,
            QuantFormat f32,
            Collection<KernelProvider> kernels,
            Map<String, String> settings) {
        this.shape = shape;
        this.logits = new float[shape.head];
        Device opened = null;
        Plan compiled = null;
        try {
            Graph graph = graph();
            for (Weight weight : graph.weights()) {
                add(
                        weight,
                        weight.name().equals("embd")
                                ? f32
                                : weight.name().equals("head") ? shape.headFormat : shape.format);
            }
            opened = backend.open(DeviceOptions.builder()
                    .threads(shape.threads)
                    .settings(settings)
                    .build());
            PlanOptions options =
                    PlanOptions.builder(shape.batch).maxBatchTokens(shape.batch).build();
            compiled = opened.compiler()
                    .compile(CompileRequest.builder(graph, new Tensors(tensors), options)
                            .kernels(kernels)
                            .build());
            int perPage = Math.max(1, compiled.kvPages().tokensPerPage());
            pages = new int[Math.ceilDiv(shape.batch, perPage)];
            Arrays.setAll(pages, i -> i);
        } catch (RuntimeException | Error e) {
            close(compiled, opened);
            throw e;
        }
        device = opened;
        plan = compiled;
    }

    private Graph graph() {
        GraphBuilder b = new GraphBuilder("matrices");
        Value x = b.embedding("x", new Weight("embd", shape.n, VOCABULARY));
        for (int i = 0; i < shape.layers; i++) {
            x = b.linear("y" + i, x, new Weight("matrix" + i, shape.n, shape.n), Optional.empty());
        }
        x = b.selectRows("rows", x);
        return b.build(b.linear("out", x, new Weight("head", shape.n, shape.head), Optional.empty()));
    }

    private void add(Weight weight, QuantFormat format) {
        long n = (long) weight.cols() * weight.rows();
        int rows = (int) Math.min(weight.rows(), Math.max(1, ENCODED / weight.cols()));
        int encoded = rows * weight.cols();
        SplittableRandom random = new SplittableRandom(weight.name().startsWith("matrix") ? 1 : 2);
        float[] values = new float[encoded];
        double deviation = weight.name().equals("embd") ? 1 : 1 / Math.sqrt(weight.cols());
        for (int i = 0; i < encoded; i++) {
            values[i] = (float) (random.nextGaussian() * deviation);
        }
        MemorySegment data = arena.allocate(format.bytesFor(n), ALIGNMENT);
        format.quantizer().orElseThrow().quantize(values, 0, data, 0, encoded);
        long unit = format.bytesFor(encoded);
        for (long at = unit; at < data.byteSize(); at += unit) {
            MemorySegment.copy(data, 0, data, at, Math.min(unit, data.byteSize() - at));
        }
        if (weight.name().equals("head")) {
            headValues = values;
        } else if (weight.name().equals("embd")) {
            embedded = values;
        }
        TensorInfo info = new TensorInfo(
                weight.name(),
                format.ggmlType(),
                List.of((long) weight.cols(), (long) weight.rows()),
                0,
                0,
                data.byteSize());
        tensors.put(weight.name(), new Tensor(info, format, data.asReadOnly()));
    }

    /// Runs one step and waits for its result.
    ///
    /// @param tokens how many tokens it takes, at most the batch; the logits of the last one are
    ///     read
    /// @return nanoseconds
    public long step(int tokens) {
        long begin = System.nanoTime();
        input.clear();
        input.addSequence(pages);
        for (int t = 0; t < tokens; t++) {
            input.addToken(t % VOCABULARY, t, t == tokens - 1);
        }
        plan.run(input).logits(0, logits);
        return Math.max(1, System.nanoTime() - begin);
    }

    /// Runs steps until the JIT compiler hardly works any more, and then more of them with the
    /// clock running.
    ///
    /// @param tokens tokens of a step
    /// @param warmUpNanos how long they run before, at least; 40 times as long at most
    /// @param timedNanos how long they run afterwards, at least
    /// @param most most timed steps
    /// @return nanoseconds of each timed step; at least three
    public double[] steps(int tokens, long warmUpNanos, long timedNanos, int most) {
        warmUp(tokens, warmUpNanos);
        double[] nanos = new double[most];
        int n = 0;
        for (long begin = System.nanoTime(); n < most && (n < 3 || System.nanoTime() - begin < timedNanos); n++) {
            nanos[n] = step(tokens);
        }
        return Arrays.copyOf(nanos, n);
    }

    private void warmUp(int tokens, long window) {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        boolean told = compiler != null && compiler.isCompilationTimeMonitoringSupported();
        for (int i = 0; i < MOST_WINDOWS; i++) {
            long before = told ? compiler.getTotalCompilationTime() : 0;
            long begin = System.nanoTime();
            do {
                step(tokens);
            } while (System.nanoTime() - begin < window);
            long compiling = TimeUnit.MILLISECONDS.toNanos(told ? compiler.getTotalCompilationTime() - before : 0);
            if (compiling < (System.nanoTime() - begin) / QUIET) {
                return;
            }
        }
    }

    /// {@return the error of the last matrix's product against float64 arithmetic with the weights
    ///     before they were encoded: squared differences over squared values. Only of a plan
    ///     without layers whose last matrix is encoded as a whole}
    public double error() {
        if (shape.layers > 0 || headValues.length != shape.n * shape.head) {
            throw new IllegalStateException("the error of " + shape + " is not known");
        }
        step(1);
        double wrong = 0;
        double all = 0;
        for (int r = 0; r < shape.head; r++) {
            double sum = 0;
            for (int c = 0; c < shape.n; c++) {
                sum += (double) headValues[r * shape.n + c] * embedded[c];
            }
            wrong += (logits[r] - sum) * (logits[r] - sum);
            all += sum * sum;
        }
        return wrong / all;
    }

    /// {@return bytes of one matrix}
    public long matrixBytes() {
        return shape.format.bytesFor((long) shape.n * shape.n);
    }

    private void close(Plan compiled, Device opened) {
        if (compiled != null) {
            compiled.close();
        }
        if (opened != null) {
            opened.close();
        }
        arena.close();
    }

    @Override
    public void close() {
        close(plan, device);
    }
}
