package dev.tenon.benchmarks;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.linear.FloatLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.ScalarLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.selection.VectorKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

/// The CPU backend's own kernels for `linear` on one thread: decode (one token) and prefill, in Vector API
/// and through the format's decoder.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx2g"})
public class LinearBenchmark {
    /// Format of the weights.
    @Param({"F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "Q3_K", "Q2_K"})
    public String format;

    /// Which kernel: `vector`, `layout` for the one that is made of the format's layout, or `scalar` for the reference
    /// that runs any format.
    @Param({"vector", "layout", "scalar"})
    public String kernel;

    /// Activation rows: 1 is decode.
    @Param({"1", "128"})
    public int tokens;

    /// Rows of the matrix.
    @Param("2048")
    public int rows;

    /// Elements in a row.
    @Param("2048")
    public int n;

    /// Memory that the weights rotate through with one token.
    @Param("512")
    public int megabytes;

    private Arena arena;
    private Matrix matrix;
    private FloatLinear code;
    private Scratch scratch;
    /// The kernel of a format whose activations are packed, once for many products; else null.
    private LinearKernel packing;
    private MemorySegment packed;
    private LinearCall call;
    private float[] out;

    /// Creates the benchmark.
    public LinearBenchmark() {}

    /// Makes weights and activations, and checks the product.
    @Setup(Level.Trial)
    public void setUp() {
        QuantFormat weights = Services.format(format);
        packing = kernel.equals("vector") ? VectorKernels.packed(format) : null;
        code = switch (kernel) {
            case "scalar" -> new ScalarLinear(weights, "scalar");
            case "layout" -> VectorKernels.layout(weights, n);
            default -> VectorKernels.linear(weights, n);
        };
        Check.that("there is a kernel " + kernel + " for " + format, code != null || packing != null);
        arena = Arena.ofShared();
        matrix = new Matrix(arena, weights, rows, n, tokens, tokens == 1 ? (long) megabytes << 20 : 0);
        if (packing == null) {
            scratch = Scratch.of(code, n);
            call = scratch.call();
        } else {
            packed = arena.allocate(packing.packedBytes(n, tokens), 64);
            HostFloats input = new HostFloats(matrix.x);
            for (int t = 0; t < tokens; t++) {
                packing.pack(input, t * n, n, packed, t);
            }
            call = new LinearCall(arena.allocate(packing.scratchBytes(n, tokens), 64));
        }
        out = new float[tokens * rows];
        call.rows(0, rows).times(packed, tokens).to(new HostFloats(out), 0, rows);
        multiply(new Work());
        Check.close(packing == null ? code.name() : packing.name(), matrix.product(), out, 0.01);
    }

    /// One product of the matrix with all tokens.
    ///
    /// @param work counts
    /// @return the products
    @Benchmark
    public float[] multiply(Work work) {
        call.of(matrix.next(), matrix.rowBytes, n);
        if (packing == null) {
            code.run(call, matrix.x, scratch);
        } else {
            packing.run(call);
        }
        work.weightGigabytes += matrix.bytes() / 1e9;
        work.gigaflops += 2e-9 * rows * n * tokens;
        return out;
    }

    /// Frees the weights.
    @TearDown(Level.Trial)
    public void tearDown() {
        arena.close();
    }
}
