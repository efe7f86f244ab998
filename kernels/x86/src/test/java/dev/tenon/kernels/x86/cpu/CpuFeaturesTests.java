package dev.tenon.kernels.x86.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CpuFeaturesTests {
    private static final int FMA = 1 << 12;
    private static final int OSXSAVE_AVX_F16C = 1 << 27 | 1 << 28 | 1 << 29;
    private static final int AVX2 = 1 << 5;
    private static final int AVX512 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    private static final int VNNI = 1 << 11;
    private static final int VBMI_VPOPCNTDQ = 1 << 1 | 1 << 14;

    @Test
    void theProcessorIsAskedOnce() {
        assumeTrue(!Here.SETS.isEmpty(), "no code can be generated on this machine");
        CpuFeatures asked = CpuFeatures.detect();
        assertSame(asked, CpuFeatures.known());
        assertSame(asked, CpuFeatures.known());
    }

    @Test
    void featureBitsCountOnlyWhenTheSystemSavesTheRegisters() {
        int[] one = {0, 0, FMA | OSXSAVE_AVX_F16C, 0};
        int[] seven = {1, AVX2 | AVX512, VNNI, 0};
        int[] sevenOne = {1 << 4, 0, 0, 0};
        assertEquals(Set.of(), CpuFeatures.of("", one, seven, sevenOne, 0, 0).sets());
        assertEquals(
                EnumSet.of(FeatureSet.AVX2, FeatureSet.AVX_VNNI),
                CpuFeatures.of("", one, seven, sevenOne, 0x7, 0).sets());
        assertEquals(
                EnumSet.complementOf(EnumSet.of(FeatureSet.AVX512_VBMI)),
                CpuFeatures.of("", one, seven, sevenOne, 0xE7, 0).sets());
        int[] sevenVbmi = {1, AVX2 | AVX512, VNNI | VBMI_VPOPCNTDQ, 0};
        assertEquals(
                EnumSet.allOf(FeatureSet.class),
                CpuFeatures.of("", one, sevenVbmi, sevenOne, 0xE7, 0).sets());
        assertEquals(
                EnumSet.of(FeatureSet.AVX2),
                CpuFeatures.of("", one, new int[] {0, AVX2 | AVX512, 0, 0}, new int[4], 0xE7, 0)
                        .sets());
        assertEquals(
                Set.of(),
                CpuFeatures.of("", new int[4], seven, sevenOne, 0xE7, 0).sets());
    }

    @Test
    void sizeOfACache() {
        // 8 ways, 1 partition, lines of 64 bytes, 64 sets; 12 ways for 48 KiB.
        assertEquals(32 * 1024, CpuFeatures.cacheBytes(new int[] {0x121, 7 << 22 | 63, 63, 0}));
        assertEquals(48 * 1024, CpuFeatures.cacheBytes(new int[] {0x121, 11 << 22 | 63, 63, 0}));
    }

    @Test
    void theProcessorSaysWhatTheSystemSays() throws Exception {
        assumeFalse(Here.SETS.isEmpty(), "no code can be generated here");
        Path cache = Path.of("/sys/devices/system/cpu/cpu0/cache/index0");
        assumeTrue(Files.exists(cache), "the system does not describe its caches");
        assumeFalse(CpuFeatures.detect().firstLevelBytes() == 0, "the processor does not describe its caches");
        assertEquals("1", Files.readString(cache.resolve("level")).strip());
        assertEquals("Data", Files.readString(cache.resolve("type")).strip());
        String size = Files.readString(cache.resolve("size")).strip();
        assertEquals(size, CpuFeatures.detect().firstLevelBytes() / 1024 + "K");
    }
}
