package dev.tenon.backend.cpu.vector.kernel.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpanTests {
    /// A load past the end of the last block may meet memory that is not there.
    @ParameterizedTest
    @CsvSource({"32,18,1", "32,10,2", "16,5,4", "256,66,1"})
    void loadsHoldTheirByteAndStayWithinMergedBlocks(int size, int bytes, int merged) {
        Span span = new Span(size, bytes, merged);
        for (int block = 0; block < span.blocks(); block++) {
            int first = block / merged * merged * bytes;
            for (int at = 0; at < bytes; at++) {
                int load = span.loadAt(block, at, Span.LOAD);
                int needed = block * bytes + at;
                assertTrue(load >= first && load <= needed && needed < load + Span.LOAD, block + " " + at);
                assertTrue(load + Span.LOAD <= first + merged * bytes, block + " " + at);
            }
        }
    }

    @Test
    void blocksAreMergedUntilALoadFits() {
        BlockLayout twoBits =
                BlockLayout.of(32, 10, Numbers.unsigned(BitField.of(2).at(2).bits(32, 2)), 1, Scale.f16(0));
        assertEquals(new Span(32, 10, 2), Span.of(twoBits));
    }
}
