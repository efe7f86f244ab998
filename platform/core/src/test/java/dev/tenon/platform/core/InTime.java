package dev.tenon.platform.core;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.function.ThrowingSupplier;

/// Bounds on what something costs. A machine may stand still meanwhile: what counts is the processor's time.
public final class InTime {
    private static final Duration LONGEST = Duration.ofMinutes(10);

    private InTime() {}

    /// Runs something in a thread of its own, which is given up after ten minutes.
    ///
    /// @param seconds of the processor, the most that it may take
    /// @param work does it
    /// @param what for messages
    /// @return the work's result
    public static <T> T of(int seconds, ThrowingSupplier<T> work, Supplier<String> what) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return assertTimeoutPreemptively(
                LONGEST,
                () -> {
                    long before = threads.getCurrentThreadCpuTime();
                    T result = work.get();
                    double took = (threads.getCurrentThreadCpuTime() - before) / 1e9;
                    assertTrue(took < seconds, () -> what.get() + " took " + took + " s of the processor");
                    return result;
                },
                what);
    }
}
