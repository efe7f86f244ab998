package dev.tenon.platform.bench.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.platform.bench.measure.BenchRunner;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.measure.Statistics;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BenchResultTests {
    private static BenchResult result(BenchTest test, long... nanos) {
        return new BenchResult(
                new BenchConfig(Path.of("m.gguf"), "", "", 2, 2048, 512, KvType.F16, KvType.F16, Map.of(), Map.of()),
                test,
                new BenchResult.ModelFacts("t", 1, 1, "b", "d", "cpu", 1, 1, 1000, 10, 5),
                Instant.EPOCH,
                new BenchRunner.Times(nanos, new long[0], new int[0]));
    }

    @Test
    void meanAndDeviationAreThoseOfTheSample() {
        assertEquals(5, Statistics.mean(2, 4, 4, 4, 5, 5, 7, 9), 0);
        assertEquals(Math.sqrt(32 / 7.0), Statistics.deviation(2, 4, 4, 4, 5, 5, 7, 9), 1e-12);
        assertEquals(0, Statistics.deviation(3), 0);
        assertEquals(0, Statistics.mean(), 0);
    }

    @Test
    void medianIsNotMovedByOneSlowToken() {
        assertEquals(20, Statistics.median(30, 10, 20));
        assertEquals(30, Statistics.median(30, 10, 20, 4000));
        assertEquals(0, Statistics.median());
        BenchResult plain = result(new BenchTest(0, 3, 0), 60);
        BenchResult timed = new BenchResult(
                plain.config(),
                plain.test(),
                plain.model(),
                plain.testTime(),
                new BenchRunner.Times(new long[] {4030}, new long[] {10, 4000, 20}, new int[0]));
        assertFalse(plain.tokensTimed());
        assertTrue(timed.tokensTimed());
        assertEquals(20, timed.medianTokenNanos());
        assertEquals(timed.bytesPerToken() / 20e-9, timed.medianBytesPerSecond(), 1);
    }

    @Test
    void speedIsAveragedOverRepetitionsNotOverTime() {
        // 100 tokens in 1 s and in 4 s: 100 and 25 tokens a second.
        BenchResult result = result(new BenchTest(100, 0, 0), 1_000_000_000L, 4_000_000_000L);
        assertEquals(62.5, result.meanPerSecond(), 1e-9);
        assertEquals(75 / Math.sqrt(2), result.deviationPerSecond(), 1e-9);
        assertEquals(2_500_000_000L, result.meanNanos());
        assertEquals(Math.round(3e9 / Math.sqrt(2)), result.deviationNanos());
    }

    @Test
    void bytesATokenAreWeightsAndTheCacheReadOnAverage() {
        assertEquals(1005 + 10 * 64.5, result(new BenchTest(0, 128, 0), 1).bytesPerToken(), 1e-9);
        assertEquals(1005 + 10 * 564.5, result(new BenchTest(0, 128, 500), 1).bytesPerToken(), 1e-9);
    }

    @Test
    void testsHaveLlamaBenchsNames() {
        assertEquals("pp512", new BenchTest(512, 0, 0).name());
        assertEquals("tg128", new BenchTest(0, 128, 0).name());
        assertEquals("pp512+tg128 @ d1024", new BenchTest(512, 128, 1024).name());
    }

    @Test
    void modelSizesAreShort() {
        assertEquals("24M", FileTypes.size(24_126_976));
        assertEquals("1.2B", FileTypes.size(1_235_814_432));
        assertEquals("8B", FileTypes.size(8_030_000_000L));
        assertEquals("71B", FileTypes.size(70_600_000_000L));
        assertEquals("5K", FileTypes.size(5_000));
    }
}
