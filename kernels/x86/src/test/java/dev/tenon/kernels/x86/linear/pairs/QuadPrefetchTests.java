package dev.tenon.kernels.x86.linear.pairs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.kernels.x86.FormatCode;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.cpu.PrefetchTests;
import dev.tenon.quant.formats.Q6_KFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuadPrefetchTests {
    private static final BlockCode FORMAT = FormatCode.of(new Q6_KFormat());
    private static final int TURNS = PairScratch.MAX_TOKENS / QuadLoop.TOKENS;

    @ParameterizedTest
    @ValueSource(ints = {256, 2048, 3072, 4096, 8192})
    void allOfTheNextQuadIsFetchedWhateverTheNumberOfTokens(int n) {
        long rowBytes = FORMAT.rowBytes(n);
        for (int turns = 1; turns <= TURNS; turns++) {
            QuadPrefetch ahead = QuadPrefetch.of(QuadPrefetch.index(FORMAT, rowBytes, turns));
            String where = ahead + ", rows of " + n + ", turns " + turns;
            assertEquals(n <= 3072, ahead.inOrder(), where);
            if (ahead.inOrder()) {
                long fetched = 64L * ahead.count() * turns * (n / BlockCode.SPAN);
                assertTrue(fetched >= QuadLoop.ROWS * rowBytes, where);
            } else {
                // What a step fetches of each row, in every step or in those that are left a multiple of some number.
                int each = fetches(ahead) / QuadLoop.ROWS;
                int every = Math.max(1, ahead.count() / 4);
                assertTrue(64 * each * (turns / every) >= FORMAT.spanBytes, where);
            }
        }
    }

    @Test
    void everyIndexIsOneOfThoseThereAre() {
        for (int n = 256; n <= 16384; n += 256) {
            for (int turns = 1; turns <= TURNS; turns++) {
                int index = QuadPrefetch.index(FORMAT, FORMAT.rowBytes(n), turns);
                assertTrue(index >= 0 && index < QuadPrefetch.INDICES, "rows of " + n + ", turns " + turns);
            }
        }
    }

    private static int fetches(QuadPrefetch ahead) {
        Assembler a = new Assembler(false);
        ahead.turn(a, FORMAT);
        return PrefetchTests.fetches(a);
    }
}
