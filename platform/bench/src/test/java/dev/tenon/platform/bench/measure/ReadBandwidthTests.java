package dev.tenon.platform.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ReadBandwidthTests {
    @Test
    void sizeIsRoundedUpToWholePieces() {
        try (ReadBandwidth reader = new ReadBandwidth(ReadBandwidth.PIECE + 1)) {
            assertEquals(2 * ReadBandwidth.PIECE, reader.sizeBytes());
        }
    }

    @Test
    void everyNumberOfThreadsReadsTheWholeBuffer() {
        // A pass that misses a line throws, because the sum differs.
        try (ReadBandwidth reader = new ReadBandwidth(5L * ReadBandwidth.PIECE)) {
            for (int threads : new int[] {1, 2, 7}) {
                double speed = reader.measure(threads);
                assertTrue(speed > 0 && speed < 1e14, threads + " threads: " + speed);
            }
        }
    }

    /// Every piece ends a pass then, and any thread may take the time.
    @Test
    void aBufferOfOnePieceIsReadAsOftenAsItTakes() {
        try (ReadBandwidth reader = new ReadBandwidth(1)) {
            double speed = reader.measure(3);
            assertTrue(speed > 0 && speed < 1e14, Double.toString(speed));
        }
    }

    @Test
    void sizeChosenByItselfIsLargerThanTheCachesUnlessMemoryIsShort() {
        long bytes = ReadBandwidth.automaticBytes();
        assertTrue(bytes >= ReadBandwidth.PIECE && bytes <= ReadBandwidth.MAX_BYTES, Long.toString(bytes));
        assertTrue(ReadBandwidth.lastLevelCache() >= 0);
    }
}
