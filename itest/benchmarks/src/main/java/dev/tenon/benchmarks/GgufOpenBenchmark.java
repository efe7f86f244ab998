package dev.tenon.benchmarks;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.openjdk.jmh.annotations.Warmup;

/// Maps a GGUF file, reads and checks its header, and closes it; the file is in the page cache. Either the
/// project's own small model, or a header with a vocabulary of 152,000 tokens and as many merges.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class GgufOpenBenchmark {
    private static final int TOKENS = 152_000;

    /// Which file.
    @Param({"model", "vocabulary"})
    public String file;

    private Path path;
    private TensorTypes types;

    /// Creates the benchmark.
    public GgufOpenBenchmark() {}

    /// Finds the file, and checks what is read of it.
    @Setup(Level.Trial)
    public void setUp() {
        boolean large = "vocabulary".equals(file);
        path = large ? vocabulary() : Services.model();
        types = TensorTypes.of(Services.all(QuantFormat.class));
        try (GgufFile opened = GgufReader.open(path, types)) {
            if (large) {
                Check.that(
                        "all tokens are read",
                        opened.metadata().strings("tokenizer.ggml.tokens").orElseThrow().length == TOKENS);
            } else {
                Check.that(
                        "the file has an embedding",
                        opened.tensor("token_embd.weight").isPresent());
            }
            Check.that("as many tensors are counted", open() == opened.tensors().size());
        }
    }

    private static Path vocabulary() {
        String[] tokens = new String[TOKENS];
        String[] merges = new String[TOKENS];
        for (int i = 0; i < TOKENS; i++) {
            tokens[i] = (i % 2 == 0 ? "\u0120" : "") + "token" + i;
            merges[i] = "\u0120tok en" + i;
        }
        try {
            Path folder = Files.createTempDirectory("tenon-benchmarks");
            folder.toFile().deleteOnExit();
            Path path = folder.resolve("vocabulary.gguf");
            path.toFile().deleteOnExit();
            GgufWriter.to(path)
                    .put("tokenizer.ggml.tokens", GgufValue.of(tokens))
                    .put("tokenizer.ggml.merges", GgufValue.of(merges))
                    .write();
            return path;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Opens and closes.
    ///
    /// @return number of tensors
    @Benchmark
    public int open() {
        try (GgufFile opened = GgufReader.open(path, types)) {
            return opened.tensors().size();
        }
    }
}
