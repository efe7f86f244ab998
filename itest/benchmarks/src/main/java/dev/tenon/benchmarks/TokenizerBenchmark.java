package dev.tenon.benchmarks;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
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

/// Text to tokens, with the vocabulary of the project's own model or of `tenon.benchmarks.model`.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TokenizerBenchmark {
    private static final String SENTENCES = """
            Once upon a time, in 1847, there was a lighthouse-keeper who couldn't sleep. Every night she counted
            the waves: one, two, three ... 9,876! "Why don't they ever stop?" she asked the gulls. Größe, café,
            naïve, 東京, привет; x = (a + b) * c[3] != 0x7f && !done;
            """;

    private Tokenizer tokenizer;
    private String text;

    /// Creates the benchmark.
    public TokenizerBenchmark() {}

    /// Reads the vocabulary, and checks that the tokens are the text.
    @Setup(Level.Trial)
    public void setUp() {
        text = SENTENCES.repeat(8);
        TensorTypes types = TensorTypes.of(Services.all(QuantFormat.class));
        try (GgufFile file = GgufReader.open(Services.model(), types)) {
            String kind = file.metadata().requiredString("tokenizer.ggml.model");
            tokenizer = Services.all(TokenizerProvider.class).stream()
                    .filter(p -> p.model().equals(kind))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no tokenizer of kind " + kind))
                    .create(file.metadata());
        }
        ByteArrayOutputStream back = new ByteArrayOutputStream();
        for (int token : encode()) {
            back.writeBytes(tokenizer.bytes(token));
        }
        Check.that(
                "the tokens' bytes are the text",
                back.toString(StandardCharsets.UTF_8).strip().equals(text.strip()));
    }

    /// Tokenises about two thousand characters.
    ///
    /// @return the tokens
    @Benchmark
    public int[] encode() {
        return tokenizer.encode(text, false, false);
    }
}
