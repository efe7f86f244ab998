package dev.tenon.benchmarks;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Whole steps of the CPU backend on a model with the shapes of Llama-3.2-1B and few layers: decoding, a
/// prompt, and the first tokens of a process.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(
        value = 1,
        jvmArgsAppend = {"--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx2g"})
public class StepBenchmark {
    private static final int PROMPT = 128;
    private static final int FIRST_TOKENS = 20;
    private static final int CONTEXT = 256;

    /// Format of the matrices.
    @Param({"Q8_0", "Q6_K", "Q4_K"})
    public String format;

    /// Whose kernels: `own` of the backend, or `offered` by all bundles on the class path.
    @Param({"own", "offered"})
    public String kernels;

    /// Number of layers.
    @Param("4")
    public int layers;

    /// Elements of a token.
    @Param("2048")
    public int width;

    /// CPU threads.
    @Param("2")
    public int threads;

    /// Whether kernels are warmed up in the background: `on` or `off`.
    @Param("off")
    public String warmup;

    private final StepInput input = new StepInput();
    private Device device;
    private Plan plan;
    private int[] pages;

    /// Creates the benchmark.
    public StepBenchmark() {}

    /// Compiles the plan.
    @Setup(Level.Trial)
    public void setUp() {
        StepModel model = new StepModel(Services.format(format), layers, width);
        device = new CpuVectorBackend()
                .open(DeviceOptions.builder().threads(threads).build());
        plan = device.compiler()
                .compile(CompileRequest.builder(
                                model.graph,
                                model,
                                PlanOptions.builder(CONTEXT)
                                        .maxBatchTokens(PROMPT)
                                        .settings(Map.of("warmup", warmup))
                                        .build())
                        .kernels(Services.kernels(kernels))
                        .build());
        pages = new int[plan.kvPages().pageCount()];
        Arrays.setAll(pages, i -> i);
    }

    /// Checks that a token after a prompt has the logits of a prompt that ends with it. After the measurement, so
    /// that the first tokens of the process are those that are measured.
    @TearDown(Level.Trial)
    public void tearDown() {
        float[] together = new float[StepModel.VOCABULARY];
        run(0, PROMPT).logits(0, together);
        run(0, PROMPT - 1);
        float[] alone = new float[StepModel.VOCABULARY];
        run(PROMPT - 1, PROMPT).logits(0, alone);
        double[] expected = new double[together.length];
        Arrays.setAll(expected, i -> together[i]);
        plan.close();
        device.close();
        Check.close("a token after a prompt", expected, alone, 0.02);
    }

    private StepResult run(int from, int to) {
        input.clear();
        input.addSequence(pages, 0);
        for (int position = from; position < to; position++) {
            input.addToken(position * 7 % StepModel.VOCABULARY, position, position == to - 1);
        }
        return plan.run(input);
    }

    /// A token after a prompt.
    ///
    /// @return the logits
    @Benchmark
    public StepResult decode() {
        return run(PROMPT, PROMPT + 1);
    }

    /// A prompt.
    ///
    /// @return the logits
    @Benchmark
    public StepResult prefill() {
        return run(0, PROMPT);
    }

    /// A prompt and twenty tokens, the first things that a process does.
    ///
    /// @return the logits
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Warmup(iterations = 0)
    @Measurement(iterations = 1)
    @Fork(5)
    public StepResult firstTokens() {
        run(0, PROMPT);
        for (int t = 0; t < FIRST_TOKENS - 1; t++) {
            run(PROMPT + t, PROMPT + t + 1);
        }
        return run(PROMPT + FIRST_TOKENS - 1, PROMPT + FIRST_TOKENS);
    }
}
