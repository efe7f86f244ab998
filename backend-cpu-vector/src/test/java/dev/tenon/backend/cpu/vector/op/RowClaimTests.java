package dev.tenon.backend.cpu.vector.op;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Threads take every row of a phase once, whatever its size.
class RowClaimTests {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void everyRowIsTakenOnce(int threads) {
        try (CpuThreads team = new CpuThreads(threads)) {
            for (int claims : new int[] {8, 16, 32}) {
                StepContext c = new StepContext(team, claims, new ThreadMemory[0], null);
                for (int rows : new int[] {1, 16, 31, 64, 100, 127, 512, 1000, 2048, 3072, 8192, 151936}) {
                    for (int tokens : new int[] {1, 11, 12, 31, 32, 512}) {
                        for (int panel : new int[] {32, 64}) {
                            check(team, c, rows, tokens, panel);
                        }
                    }
                }
            }
        }
    }

    private static void check(CpuThreads team, StepContext c, int rows, int tokens, int panel) {
        AtomicIntegerArray taken = new AtomicIntegerArray(rows);
        AtomicInteger last = new AtomicInteger();
        team.run(thread -> {
            for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
                int to = c.claimedTo(from, rows, tokens, panel);
                for (int r = from; r < to; r++) {
                    taken.incrementAndGet(r);
                }
                if (to == rows) {
                    last.set(to - from);
                }
            }
        });
        String what = rows + " rows, " + tokens + " tokens, panels of " + panel + ", threads " + team.size();
        for (int r = 0; r < rows; r++) {
            assertEquals(1, taken.get(r), "row " + r + " of " + what);
        }
        if (tokens >= 32 && rows >= 2048) {
            assertTrue(last.get() <= panel, "the last claim of " + what + " has " + last.get());
        } else if (rows == 151936) {
            assertTrue(last.get() <= 256, "the last claim of " + what + " has " + last.get());
        }
    }
}
