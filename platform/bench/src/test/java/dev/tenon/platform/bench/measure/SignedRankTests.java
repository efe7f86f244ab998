package dev.tenon.platform.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SignedRankTests {
    @Test
    void theNumbersOfTables() {
        // Critical values of Wilcoxon's signed ranks, one-sided; one more sum than the largest that is significant.
        assertEquals(3 + 1, SignedRank.outside(8, 0.02));
        assertEquals(8 + 1, SignedRank.outside(10, 0.025));
        assertEquals(13 + 1, SignedRank.outside(12, 0.025));
        assertEquals(9 + 1, SignedRank.outside(12, 0.01));
        assertEquals(52 + 1, SignedRank.outside(20, 0.025));
        assertEquals(0, SignedRank.outside(5, 0.025));
    }

    @Test
    void fewSamplesSayNothing() {
        Interval interval = SignedRank.of(0.001, 1, 2, 3);
        assertEquals(2, interval.estimate());
        assertEquals(Double.NEGATIVE_INFINITY, interval.low());
        assertEquals(Double.POSITIVE_INFINITY, interval.high());
    }

    @Test
    void oneSampleFarOutMovesLittle() {
        Interval interval = SignedRank.of(0.025, 1, 2, 3, 4, 5, 6, 7, 1e9);
        assertTrue(interval.estimate() < 6, interval.toString());
    }

    /// Whatever the noise, as long as it is symmetric.
    @Test
    void theIntervalMissesAsOftenAsItSays() {
        Random random = new Random(1);
        int rounds = 20_000;
        for (int kind = 0; kind < 3; kind++) {
            int above = 0;
            for (int i = 0; i < rounds; i++) {
                double[] samples = new double[12];
                for (int j = 0; j < samples.length; j++) {
                    double plain = random.nextGaussian();
                    samples[j] = 7
                            + switch (kind) {
                                case 0 -> plain;
                                case 1 -> plain / Math.max(1e-3, Math.abs(random.nextGaussian()));
                                default -> Math.signum(plain) + 0.1 * random.nextGaussian();
                            };
                }
                above += SignedRank.of(0.02, samples).low() > 7 ? 1 : 0;
            }
            assertTrue(above <= 0.023 * rounds && above > 0.012 * rounds, "kind " + kind + ": " + above);
        }
    }
}
