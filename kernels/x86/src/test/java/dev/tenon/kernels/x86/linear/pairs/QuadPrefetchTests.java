package dev.tenon.kernels.x86.linear.pairs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.cpu.PrefetchTests;
import dev.tenon.kernels.x86.format.Q6_KCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuadPrefetchTests {
    private static final BlockCode FORMAT = new Q6_KCode();
    private static final int STEPS = PairScratch.MAX_TOKENS / QuadLoop.STEP;

    @ParameterizedTest
    @ValueSource(ints = {256, 2048, 3072, 4096, 8192})
    void allOfTheNextQuadIsFetchedWhateverTheNumberOfTokens(int n) {
        long rowBytes = FORMAT.rowBytes(n);
        for (int steps = 1; steps <= STEPS; steps++) {
            QuadPrefetch ahead = QuadPrefetch.of(QuadPrefetch.index(FORMAT, rowBytes, steps));
            String where = ahead + ", rows of " + n + ", steps " + steps;
            assertEquals(n <= 3072, ahead.inOrder(), where);
            if (ahead.inOrder()) {
                long fetched = 64L * ahead.count() * steps * (n / BlockCode.SPAN);
                assertTrue(fetched >= QuadLoop.ROWS * rowBytes, where);
            } else {
                // What a step fetches of each row, in every step or in those that are left a multiple of some number.
                int each = fetches(ahead) / QuadLoop.ROWS;
                int every = Math.max(1, ahead.count() / 4);
                assertTrue(64 * each * (steps / every) >= FORMAT.spanBytes, where);
            }
        }
    }

    @Test
    void everyIndexIsOneOfThoseThereAre() {
        for (int n = 256; n <= 16384; n += 256) {
            for (int steps = 1; steps <= STEPS; steps++) {
                int index = QuadPrefetch.index(FORMAT, FORMAT.rowBytes(n), steps);
                assertTrue(index >= 0 && index < QuadPrefetch.INDICES, "rows of " + n + ", steps " + steps);
            }
        }
    }

    private static int fetches(QuadPrefetch ahead) {
        Assembler a = new Assembler(false);
        ahead.step(a, FORMAT);
        return PrefetchTests.fetches(a);
    }
}
