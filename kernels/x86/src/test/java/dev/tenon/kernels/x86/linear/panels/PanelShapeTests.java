package dev.tenon.kernels.x86.linear.panels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.kernels.x86.FormatCode;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.quant.formats.Q6_KFormat;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// How often panel functions run, and what they fetch meanwhile.
class PanelShapeTests {
    private static final BlockCode Q6_K = FormatCode.of(new Q6_KFormat());

    static Stream<Arguments> shapes() {
        return Stream.of(PanelShape.WIDE, PanelShape.NARROW)
                .flatMap(shape ->
                        IntStream.rangeClosed(shape.few(), 130).mapToObj(tokens -> Arguments.of(shape, tokens)));
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void runsAreCountedAsTheyHappen(PanelShape shape, int tokens) {
        int runs = 0;
        int left = tokens;
        while (left > 0) {
            left -= shape.runsOfMany(left) > 0 ? shape.many() : shape.few();
            runs++;
        }
        assertEquals(runs, shape.runs(tokens));
    }

    @Test
    void someRunsFetchAWholePanel() {
        int n = 2048;
        for (int runs = 5; runs < 40; runs++) {
            int fetches = PanelLoop.fetches(Q6_K, n, 32, runs);
            long panel = 32 * Q6_K.rowBytes(n);
            long each = runs * PanelLoop.fetchedBytes(Q6_K, n);
            assertTrue(fetches * each >= panel, "too few with " + runs);
            assertTrue((fetches - 1) * each < panel, "too many with " + runs);
        }
    }

    @Test
    void fewRunsFetchAPart() {
        assertEquals(4, PanelLoop.fetches(Q6_K, 2048, 32, 1));
        assertEquals(1, PanelLoop.fetches(Q6_K, 2048, 32, 1000));
    }
}
