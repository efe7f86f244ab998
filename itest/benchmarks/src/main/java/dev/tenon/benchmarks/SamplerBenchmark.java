package dev.tenon.benchmarks;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import java.util.Map;
import java.util.Random;
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

/// One token from the logits of a vocabulary; copying the logits, which samplers may change, is part of it.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SamplerBenchmark {
    /// Which steps are on: `greedy`, the `defaults`, or `all` with penalties and typical-p besides.
    @Param({"greedy", "defaults", "all"})
    public String chain;

    /// Number of tokens.
    @Param("128256")
    public int vocabulary;

    private Sampler sampler;
    private float[] logits;
    private float[] copy;

    /// Creates the benchmark.
    public SamplerBenchmark() {}

    /// Makes logits and the sampler, and checks that it chooses among the likely tokens.
    @Setup(Level.Trial)
    public void setUp() {
        logits = new float[vocabulary];
        Random random = new Random(4);
        for (int i = 0; i < vocabulary; i++) {
            logits[i] = (float) (3 * random.nextGaussian());
        }
        copy = new float[vocabulary];
        SamplingParams params = switch (chain) {
            case "greedy" -> SamplingParams.greedy();
            case "defaults" -> SamplingParams.builder().seed(5).build();
            case "all" ->
                SamplingParams.builder()
                        .typicalP(0.9f)
                        .repeatPenalty(1.1f)
                        .presencePenalty(0.1f)
                        .frequencyPenalty(0.1f)
                        .logitBias(Map.of(7, 1f))
                        .seed(5)
                        .build();
            default -> throw new IllegalArgumentException("no chain " + chain);
        };
        sampler = Services.all(SamplerProvider.class).getFirst().create(params, vocabulary);
        int chosen = sample();
        int better = 0;
        for (float logit : logits) {
            better += logit > logits[chosen] ? 1 : 0;
        }
        Check.that("token " + chosen + " is likely enough", better < (chain.equals("greedy") ? 1 : 40));
    }

    /// Chooses a token and notes it.
    ///
    /// @return the token
    @Benchmark
    public int sample() {
        System.arraycopy(logits, 0, copy, 0, vocabulary);
        int token = sampler.sample(copy);
        sampler.accept(token);
        return token;
    }
}
