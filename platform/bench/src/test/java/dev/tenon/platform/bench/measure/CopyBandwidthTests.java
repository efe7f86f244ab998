package dev.tenon.platform.bench.measure;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopyBandwidthTests {
    /// More threads than bytes divide evenly by: the last one copies the rest.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void copiesWithEachNumberOfThreads(int threads) {
        try (CopyBandwidth copier = new CopyBandwidth((1 << 20) + 13)) {
            double bytesPerSecond = copier.measure(threads, 4 << 20);
            assertTrue(bytesPerSecond > 1e6 && bytesPerSecond < 1e13, () -> "" + bytesPerSecond);
        }
    }

    @Test
    void memoryIsKnownOnLinux() {
        if (System.getProperty("os.name").equals("Linux")) {
            assertTrue(HostMemory.totalBytes() >= HostMemory.availableBytes());
            assertTrue(HostMemory.availableBytes() > 0);
            assertTrue(HostMemory.residentBytes(ProcessHandle.current().pid()) > 1 << 20);
        }
    }
}
