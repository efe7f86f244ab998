package dev.tenon.benchmarks;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// Maps a GGUF file, reads and checks its header, and closes it; the file is in the page cache.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class GgufOpenBenchmark {
    private Path path;
    private TensorTypes types;

    /// Creates the benchmark.
    public GgufOpenBenchmark() {}

    /// Finds the file, and checks what is read of it.
    @Setup(Level.Trial)
    public void setUp() {
        path = Services.model();
        types = TensorTypes.of(Services.all(QuantFormat.class));
        try (GgufFile file = GgufReader.open(path, types)) {
            Check.that(
                    "the file has an embedding",
                    file.tensor("token_embd.weight").isPresent());
            Check.that("as many tensors are counted", open() == file.tensors().size());
        }
    }

    /// Opens and closes.
    ///
    /// @return number of tensors
    @Benchmark
    public int open() {
        try (GgufFile file = GgufReader.open(path, types)) {
            return file.tensors().size();
        }
    }
}
