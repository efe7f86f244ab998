package dev.tenon.benchmarks;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/// Counts work, so that JMH prints rates of it: with scores in 1/s, GB/s and GFLOP/s.
@AuxCounters(AuxCounters.Type.OPERATIONS)
@State(Scope.Thread)
public class Work {
    /// Gigabytes of weights.
    public double weightGigabytes;
    /// Billions of multiplications and additions.
    public double gigaflops;

    /// Creates counters.
    public Work() {}
}
