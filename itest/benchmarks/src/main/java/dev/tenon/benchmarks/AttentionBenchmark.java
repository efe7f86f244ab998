package dev.tenon.benchmarks;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import java.util.Arrays;
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

/// Attention of one layer with the heads of Llama-3.2-1B, through a plan whose other ops are small.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--add-modules", "jdk.incubator.vector", "-Xmx2g"})
public class AttentionBenchmark {
    /// Positions in the cache before the step.
    @Param({"512", "4096"})
    public int depth;

    /// Tokens in the step.
    @Param({"1", "128"})
    public int tokens;

    /// Element type of the cache.
    @Param({"F16", "F32"})
    public KvType cache;

    /// Whose kernel: the backend's `own`, or one `offered` by a bundle on the class path.
    @Param({"own", "offered"})
    public String kernels;

    /// CPU threads.
    @Param("1")
    public int threads;

    private final StepInput input = new StepInput();
    private AttentionModel model;
    private Device device;
    private Plan plan;
    private int[] pages;

    /// Creates the benchmark.
    public AttentionBenchmark() {}

    /// Compiles the plan, fills the cache, and checks the logits after the last token.
    @Setup(Level.Trial)
    public void setUp() {
        model = new AttentionModel();
        device = new CpuVectorBackend()
                .open(DeviceOptions.builder().threads(threads).build());
        int step = Math.max(tokens, 128);
        plan = device.compiler()
                .compile(CompileRequest.builder(
                                model.graph,
                                model.weights,
                                PlanOptions.builder(depth + tokens)
                                        .maxBatchTokens(step)
                                        .keyType(cache)
                                        .valueType(cache)
                                        .build())
                        .kernels(Services.kernels(kernels))
                        .build());
        pages = new int[plan.kvPages().pageCount()];
        Arrays.setAll(pages, i -> i);
        for (int from = 0; from < depth; from += step) {
            run(from, Math.min(from + step, depth));
        }
        float[] logits = new float[AttentionModel.TOKENS];
        run(depth, depth + tokens).logits(0, logits);
        Check.close("attention", model.logits(depth + tokens), logits, cache == KvType.F32 ? 1e-4 : 5e-3);
    }

    private StepResult run(int from, int to) {
        input.clear();
        input.addSequence(pages);
        for (int position = from; position < to; position++) {
            input.addToken(AttentionModel.token(position), position, position == to - 1);
        }
        return plan.run(input);
    }

    /// One step after the filled cache.
    ///
    /// @return the logits
    @Benchmark
    public StepResult step() {
        return run(depth, depth + tokens);
    }

    /// Closes plan and device.
    @TearDown(Level.Trial)
    public void tearDown() {
        plan.close();
        device.close();
    }
}
