package dev.tenon.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/// Runs benchmarks for a moment, in this JVM: that they run and that their answers are right, not how fast.
class BenchmarksTests {
    private static final List<String> ALL = List.of(
            "LinearBenchmark.multiply",
            "PackedLinearBenchmark.multiply",
            "PackedLinearBenchmark.pack",
            "AttentionBenchmark.step",
            "StepBenchmark.decode",
            "StepBenchmark.prefill",
            "StepBenchmark.firstTokens",
            "BarrierBenchmark.barrier",
            "BarrierBenchmark.job",
            "TokenizerBenchmark.encode",
            "SamplerBenchmark.sample",
            "GrammarBenchmark.compile",
            "GrammarBenchmark.mask",
            "GrammarBenchmark.freshMasks",
            "GgufOpenBenchmark.open");

    private static Collection<RunResult> run(String benchmark, String... params) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("\\." + benchmark.replace(".", "\\.") + "$")
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(20))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        for (int i = 0; i < params.length; i += 2) {
            options.param(params[i], params[i + 1].split(","));
        }
        return new Runner(options.build()).run();
    }

    @Test
    void annotationProcessorFoundAllBenchmarks() throws IOException {
        try (InputStream in = BenchmarksTests.class.getResourceAsStream("/META-INF/BenchmarkList")) {
            String list = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            for (String benchmark : ALL) {
                int dot = benchmark.indexOf('.');
                assertTrue(
                        list.contains("dev.tenon.benchmarks." + benchmark.substring(0, dot))
                                && list.contains(benchmark.substring(dot + 1)),
                        benchmark);
            }
        }
    }

    @Test
    void linearKernelsRunAndAreRight() throws RunnerException {
        Collection<RunResult> results = run(
                "LinearBenchmark.multiply",
                "format",
                "Q8_0,Q6_K",
                "kernel",
                "vector,scalar",
                "tokens",
                "1,4",
                "rows",
                "64",
                "n",
                "512",
                "megabytes",
                "1");
        assertEquals(8, results.size());
        for (RunResult result : results) {
            assertTrue(result.getPrimaryResult().getScore() > 0, result.toString());
            assertTrue(result.getSecondaryResults().get("weightGigabytes").getScore() > 0, result.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TokenizerBenchmark.encode", "SamplerBenchmark.sample", "GgufOpenBenchmark.open"})
    void whatSurroundsTheKernelsRunsAndIsRight(String benchmark) throws RunnerException {
        Collection<RunResult> results = run(benchmark);
        assertTrue(!results.isEmpty());
        for (RunResult result : results) {
            assertTrue(result.getPrimaryResult().getScore() > 0, result.toString());
        }
    }

    @Test
    void attentionRunsAndIsRight() throws RunnerException {
        assertEquals(
                8,
                run(
                                "AttentionBenchmark.step",
                                "depth",
                                "100",
                                "tokens",
                                "1,20",
                                "cache",
                                "F16,F32",
                                "kernels",
                                "own,offered")
                        .size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"decode", "prefill", "firstTokens"})
    void stepsRunAndAgree(String benchmark) throws RunnerException {
        String[] params = {"format", "Q6_K", "kernels", "own,offered", "layers", "1", "width", "512", "threads", "2"};
        assertEquals(2, run("StepBenchmark." + benchmark, params).size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"barrier", "job"})
    void teamsOfThreadsRun(String benchmark) throws RunnerException {
        assertEquals(2, run("BarrierBenchmark." + benchmark, "threads", "1,2").size());
    }

    @Test
    void formatWithoutKernelFailsInsteadOfBeingTimed() {
        RunnerException e = assertThrows(
                RunnerException.class,
                () -> run(
                        "PackedLinearBenchmark.multiply",
                        "format",
                        "F32",
                        "tokens",
                        "1",
                        "rows",
                        "64",
                        "n",
                        "512",
                        "megabytes",
                        "1"));
        StringWriter why = new StringWriter();
        e.printStackTrace(new PrintWriter(why));
        assertTrue(why.toString().contains("linear kernel for F32"), why::toString);
    }

    @Test
    void wrongAnswersAreRefused() {
        double[] right = {1, 2, 3};
        Check.close("near", right, new float[] {1, 2, 3.001f}, 0.01);
        assertThrows(IllegalStateException.class, () -> Check.close("far", right, new float[] {1, 2, 3.5f}, 0.01));
        assertThrows(IllegalStateException.class, () -> Check.close("NaN", right, new float[] {1, 2, Float.NaN}, 0.01));
    }
}
