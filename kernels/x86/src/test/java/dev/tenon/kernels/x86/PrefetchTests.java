package dev.tenon.kernels.x86;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.kernels.x86.Operand.Gpr;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrefetchTests {
    @ParameterizedTest
    @CsvSource({
        "auto, 32768, NEAR",
        "auto, 49152, LEVELS",
        "auto, 0, LEVELS",
        "near, 49152, NEAR",
        "' LEVELS', 32768, LEVELS",
        "far, 32768, NEAR"
    })
    void settingAndCacheChoose(String setting, int firstLevelBytes, String chosen) {
        Prefetch expected = chosen.equals("NEAR") ? Prefetch.NEAR : Prefetch.LEVELS;
        assertEquals(expected, Prefetch.of(setting, firstLevelBytes));
    }

    @Test
    void eachLineIsFetchedOncePerLevel() {
        assertEquals(4, fetches(Prefetch.NEAR, 210));
        assertEquals(8, fetches(Prefetch.LEVELS, 210));
    }

    @Test
    void streamsAreFetchedUnevenlyFarAhead() {
        for (int stream = 0; stream < 4; stream++) {
            assertEquals(1024 + 512 * stream, Prefetch.NEAR.stream(stream).firstBytes());
            assertEquals(Prefetch.LEVELS, Prefetch.LEVELS.stream(stream));
        }
    }

    private static int fetches(Prefetch prefetch, int bytes) {
        Assembler a = new Assembler(false);
        prefetch.emit(a, Gpr.RDI, bytes);
        return fetches(a);
    }

    /// Counts instructions that fetch, by their bytes 0F 18.
    static int fetches(Assembler a) {
        byte[] code = a.assemble();
        int found = 0;
        for (int i = 0; i + 1 < code.length; i++) {
            if (code[i] == 0x0F && code[i + 1] == 0x18) {
                found++;
            }
        }
        return found;
    }

    @Test
    void sizeOfACache() {
        // 8 ways, 1 partition, lines of 64 bytes, 64 sets; 12 ways for 48 KiB.
        assertEquals(32 * 1024, CpuFeatures.cacheBytes(new int[] {0x121, 7 << 22 | 63, 63, 0}));
        assertEquals(48 * 1024, CpuFeatures.cacheBytes(new int[] {0x121, 11 << 22 | 63, 63, 0}));
    }

    @Test
    void theProcessorSaysWhatTheSystemSays() throws Exception {
        assumeFalse(LinearKernelTests.HERE.isEmpty(), "no code can be generated here");
        Path cache = Path.of("/sys/devices/system/cpu/cpu0/cache/index0");
        assumeTrue(Files.exists(cache), "the system does not describe its caches");
        assumeFalse(CpuFeatures.detect().firstLevelBytes() == 0, "the processor does not describe its caches");
        assertEquals("1", Files.readString(cache.resolve("level")).strip());
        assertEquals("Data", Files.readString(cache.resolve("type")).strip());
        String size = Files.readString(cache.resolve("size")).strip();
        assertEquals(size, CpuFeatures.detect().firstLevelBytes() / 1024 + "K");
    }
}
