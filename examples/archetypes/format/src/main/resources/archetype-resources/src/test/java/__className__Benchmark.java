package ${package};

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.PackedKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The kernel on one thread, with a matrix of a million weights. Run it with `mvn test-compile exec:exec`.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ${className}Benchmark {
    private static final int ROWS = 1024;
    private static final int N = 1024;

    /// Activation rows: 1 is decode, many are a prompt.
    @Param({"1", "128"})
    public int tokens;

    private final ${className} format = new ${className}();
    private final PackedKernel kernel =
            (PackedKernel) new ${className}Kernels().kernels().getFirst();
    private final float[] values = new float[N];
    private Arena arena;
    private MemorySegment weights;
    private MemorySegment packed;
    private MemorySegment scratch;
    private HostFloats out;

    /// Makes weights and activations.
    @Setup
    public void setUp() {
        Random random = new Random(1);
        float[] numbers = new float[ROWS * N];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        arena = Arena.ofShared();
        weights = arena.allocate(format.bytesFor(numbers.length), 64);
        format.quantize(numbers, 0, weights, 0, numbers.length);
        packed = arena.allocate(kernel.packedBytes(N, tokens), 64);
        for (int t = 0; t < tokens; t++) {
            kernel.pack(new HostFloats(numbers), t * N, N, packed, t);
        }
        scratch = arena.allocate(Math.max(64, kernel.scratchBytes(N, tokens)), 64);
        out = new HostFloats(new float[tokens * ROWS]);
    }

    /// Multiplies the matrix by all activation rows.
    ///
    /// @return the products
    @Benchmark
    public float[] kernel() {
        kernel.run(weights, format.bytesFor(N), 0, ROWS, N, packed, tokens, out, 0, ROWS, scratch);
        return out.array();
    }

    /// Decodes the matrix once, without any product: a kernel for one token should be several times faster.
    ///
    /// @return the last row
    @Benchmark
    public float[] decoder() {
        for (int r = 0; r < ROWS; r++) {
            format.dequantize(weights, r * format.bytesFor(N), values, 0, N);
        }
        return values;
    }

    /// Frees the memory.
    @TearDown
    public void tearDown() {
        arena.close();
    }
}
