package dev.tenon.platform.bench.measure;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BenchRunnerTests {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    @Test
    void timingBeginsWhenTheCompilerIsQuietAndRepetitionsRanForSomeSeconds() {
        assertTrue(BenchRunner.isWarm(0, 50 * MILLI, 5000 * MILLI));
        assertTrue(BenchRunner.isWarm(19 * MILLI, 1000 * MILLI, 5000 * MILLI));
        assertFalse(BenchRunner.isWarm(20 * MILLI, 1000 * MILLI, 5000 * MILLI), "the compiler works");
        assertFalse(BenchRunner.isWarm(0, 50 * MILLI, 1000 * MILLI), "twenty short repetitions compile nothing");
    }
}
