package dev.tenon.platform.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IntervalTests {
    @Test
    void meanHasStudentsInterval() {
        Interval i = Interval.ofMean(9, 10, 11);
        assertEquals(10, i.estimate());
        assertEquals(4.303 / Math.sqrt(3), i.half(), 1e-9);
        assertTrue(i.excludes(7) && !i.excludes(8));
    }

    @Test
    void oneSampleSaysNothingOfTheSpread() {
        Interval i = Interval.ofMean(5);
        assertEquals(5, i.estimate());
        assertFalse(i.excludes(1e9));
        assertFalse(Interval.ofDifference(new double[] {1}, new double[] {2, 2}).excludes(0));
    }

    /// Welch's own kind of example: unequal spreads and sizes.
    @Test
    void differenceHasWelchsInterval() {
        double[] a = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
        double[] b = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4};
        Interval i = Interval.ofDifference(a, b);
        // Standard error 0.99312 with 27.9 degrees of freedom, computed apart from this code.
        assertEquals(2.8333, i.estimate(), 1e-3);
        assertEquals(0.99312 * 2.052, i.half(), 1e-3);
        assertTrue(i.excludes(0));
    }

    @Test
    void quantilesAreThoseOfTables() {
        assertEquals(12.706, Interval.t(1), 1e-9);
        assertEquals(2.042, Interval.t(30), 1e-9);
        assertEquals(2.0211, Interval.t(40), 2e-4);
        assertEquals(1.9840, Interval.t(100), 2e-4);
    }

    /// 2,000 pairs of five runs whose truth is known: the interval holds it in 95 of 100.
    @Test
    void holdsTheTruthAsOftenAsItSays() {
        Random random = new Random(1);
        int held = 0;
        for (int k = 0; k < 2000; k++) {
            double[] a = random.doubles(5, 0, 1)
                    .map(u -> 100 + random.nextGaussian())
                    .toArray();
            double[] b = random.doubles(5, 0, 1)
                    .map(u -> 103 + random.nextGaussian())
                    .toArray();
            held += Interval.ofDifference(a, b).excludes(3) ? 0 : 1;
        }
        assertEquals(0.95, held / 2000.0, 0.02);
    }

    @Test
    void turnsCancelDrift() {
        List<String> order = new ArrayList<>();
        double[] clock = {100};
        Turns turns = Turns.<RuntimeException>measure(
                8,
                () -> {
                    order.add("A");
                    return clock[0]++;
                },
                () -> {
                    order.add("B");
                    return clock[0]++;
                },
                done -> {});
        assertEquals("ABBAABBAABBAABBA", String.join("", order));
        assertEquals(1, turns.ratio().estimate(), 1e-4);
        assertFalse(turns.ratio().excludes(1));
    }

    @Test
    void ratiosNeedPairs() {
        assertThrows(IllegalArgumentException.class, () -> Interval.ofRatios(new double[2], new double[3]));
        Interval i = Interval.ofRatios(new double[] {1, 2, 4}, new double[] {2, 4, 8});
        assertEquals(2, i.estimate(), 1e-12);
        assertTrue(i.excludes(1));
    }
}
