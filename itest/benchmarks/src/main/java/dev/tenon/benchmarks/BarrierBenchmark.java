package dev.tenon.benchmarks;

import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The CPU backend's team of threads with nothing to do: a barrier at which all threads come at about the
/// same time, and a job.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED"})
public class BarrierBenchmark {
    private static final int BARRIERS = 500;

    /// Threads of the team.
    @Param("2")
    public int threads;

    private CpuThreads team;

    /// Creates the benchmark.
    public BarrierBenchmark() {}

    /// Starts the team and checks that all of it comes.
    @Setup(Level.Trial)
    public void setUp() {
        team = new CpuThreads(threads);
        AtomicInteger came = new AtomicInteger();
        team.run(_ -> came.incrementAndGet());
        Check.that("all of " + threads + " threads run the job", came.get() == threads);
    }

    /// Ends the team.
    @TearDown(Level.Trial)
    public void tearDown() {
        team.close();
    }

    /// A barrier, and a claim of work.
    @Benchmark
    @OperationsPerInvocation(BARRIERS)
    public void barrier() {
        team.run(thread -> {
            for (int i = 0; i < BARRIERS; i++) {
                team.claim(1);
                team.barrier(thread);
            }
        });
    }

    /// A job that does nothing.
    @Benchmark
    public void job() {
        team.run(_ -> {});
    }
}
