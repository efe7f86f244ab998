package dev.tenon.benchmarks;

import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
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

/// Packed kernels that bundles on the class path offer, on one thread: packing, and the product.
///
/// A format that no bundle offers a kernel for here fails in its setup and says so.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xmx2g"})
public class PackedLinearBenchmark {
    /// Format of the weights.
    @Param({"F16", "BF16", "Q8_0", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "Q3_K", "Q2_K"})
    public String format;

    /// Activation rows: 1 is decode, 8 a small batch.
    @Param({"1", "8", "128"})
    public int tokens;

    /// Rows of the matrix.
    @Param("2048")
    public int rows;

    /// Elements in a row.
    @Param("2048")
    public int n;

    /// Memory that the weights rotate through with few tokens.
    @Param("512")
    public int megabytes;

    private Arena arena;
    private Matrix matrix;
    private LinearKernel code;
    private MemorySegment packed;
    private MemorySegment scratch;
    private float[] out;
    private HostFloats results;
    private HostFloats input;

    /// Creates the benchmark.
    public PackedLinearBenchmark() {}

    /// Finds the kernel, makes weights and activations, and checks the product.
    @Setup(Level.Trial)
    public void setUp() {
        code = Services.all(KernelProvider.class).stream()
                .flatMap(p -> p.kernels(Services.format(format)).stream())
                .filter(LinearKernel.class::isInstance)
                .map(LinearKernel.class::cast)
                .filter(k -> k.accepts(n))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no bundle on the class path offers a linear kernel for " + format + " on this machine"));
        arena = Arena.ofShared();
        matrix = new Matrix(arena, Services.format(format), rows, n, tokens, tokens < 128 ? (long) megabytes << 20 : 0);
        packed = arena.allocate(code.packedBytes(n, tokens), 64);
        scratch = arena.allocate(Math.max(64, code.scratchBytes(n, tokens)), 64);
        out = new float[tokens * rows];
        results = new HostFloats(out);
        input = new HostFloats(matrix.x);
        pack();
        multiply(new Work());
        // Activations are rounded to 8 bits, which costs about half a percent.
        Check.close(code.name(), matrix.product(), out, 0.02);
    }

    /// Packs all activation rows.
    ///
    /// @return the packed rows
    @Benchmark
    public MemorySegment pack() {
        for (int t = 0; t < tokens; t++) {
            code.pack(input, t * n, n, packed, t);
        }
        return packed;
    }

    /// One product of the matrix with all packed rows.
    ///
    /// @param work counts
    /// @return the products
    @Benchmark
    public float[] multiply(Work work) {
        code.run(new LinearCall(scratch)
                .of(matrix.next(), matrix.rowBytes, n)
                .rows(0, rows)
                .times(packed, tokens)
                .to(results, 0, rows));
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
