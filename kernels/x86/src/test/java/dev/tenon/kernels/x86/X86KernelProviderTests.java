package dev.tenon.kernels.x86;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.PackedKernel;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class X86KernelProviderTests {
    private static final String ALL = "Q8_0,Q6_K,Q5_K,Q4_K,Q4_0,Q3_K,Q2_K,F16,BF16";

    private static final int FMA = 1 << 12;
    private static final int OSXSAVE_AVX_F16C = 1 << 27 | 1 << 28 | 1 << 29;
    private static final int AVX2 = 1 << 5;
    private static final int AVX512 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    private static final int VNNI = 1 << 11;

    @ParameterizedTest
    @EnumSource
    void eachSetOfThisMachineOffersEveryFormat(FeatureSet set) {
        assumeTrue(LinearKernelTests.HERE.contains(set), "this machine lacks " + set.id);
        try (X86KernelProvider provider = new X86KernelProvider(set.id, ALL, true, true)) {
            List<Kernel> kernels = provider.kernels();
            assertEquals(
                    Set.of("Q8_0", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "Q3_K", "Q2_K", "F16", "BF16"),
                    of(kernels, "linear"));
            assertEquals(Set.of("F32", "F16", "Q8_0"), of(kernels, "attention"));
            assertEquals(Set.of("F32"), of(kernels, "elements"));
            for (Kernel kernel : kernels) {
                assertTrue(
                        switch (kernel.op()) {
                            case "linear" -> kernel instanceof PackedKernel;
                            case "attention" -> kernel instanceof AttentionKernel;
                            default -> kernel instanceof ElementKernel;
                        },
                        kernel.op());
                assertTrue(kernel.name().endsWith("." + set.id), kernel.name());
                assertEquals("cpu", kernel.deviceKind());
            }
            assertSame(kernels.getFirst(), provider.kernels().getFirst());
        }
    }

    @Test
    void theProcessorIsAskedOnce() {
        assumeTrue(!LinearKernelTests.HERE.isEmpty(), "no code can be generated on this machine");
        CpuFeatures asked = CpuFeatures.detect();
        assertSame(asked, CpuFeatures.known());
        assertSame(asked, CpuFeatures.known());
    }

    private static Set<String> of(List<Kernel> kernels, String op) {
        return kernels.stream()
                .filter(kernel -> kernel.op().equals(op))
                .map(Kernel::format)
                .collect(Collectors.toSet());
    }

    @Test
    void attentionCanBeLeftOut() {
        try (X86KernelProvider provider = new X86KernelProvider("auto", ALL, false, true)) {
            assertEquals(Set.of(), of(provider.kernels(), "attention"));
        }
    }

    @Test
    void elementsCanBeLeftOut() {
        try (X86KernelProvider provider = new X86KernelProvider("auto", ALL, true, false)) {
            assertEquals(Set.of(), of(provider.kernels(), "elements"));
        }
    }

    @Test
    void offMeansNoKernelsAndSaysSo() {
        try (X86KernelProvider provider = new X86KernelProvider("off", ALL, true, true)) {
            assertTrue(provider.kernels().isEmpty());
            assertTrue(provider.toString().contains("switched off"), provider.toString());
        }
    }

    @Test
    void aMisspeltSettingIsTakenAsAuto() {
        try (X86KernelProvider wrong = new X86KernelProvider("avx1024", ALL, true, true);
                X86KernelProvider auto = new X86KernelProvider("auto", ALL, true, true)) {
            assertEquals(
                    auto.kernels().stream().map(Kernel::name).toList(),
                    wrong.kernels().stream().map(Kernel::name).toList());
        }
    }

    @Test
    void kernelsOfAStoppedProviderFailWithATypedError() {
        assumeTrue(!LinearKernelTests.HERE.isEmpty(), "no feature set is usable on this machine");
        X86KernelProvider provider = new X86KernelProvider("auto", ALL, true, true);
        PackedKernel kernel = (PackedKernel) provider.kernels().getFirst();
        provider.close();
        try (Arena arena = Arena.ofConfined()) {
            var packed = arena.allocate(kernel.packedBytes(256), 64);
            BackendException e = assertThrows(
                    BackendException.class, () -> kernel.pack(new HostFloats(new float[256]), 0, 256, packed));
            assertEquals(ErrorCode.CLOSED, e.code());
        }
    }

    @Test
    void aProviderStoppedBeforeItWasAskedOffersNothing() {
        X86KernelProvider provider = new X86KernelProvider("auto", ALL, true, true);
        provider.close();
        assertTrue(provider.kernels().isEmpty());
    }

    @Test
    void featureBitsCountOnlyWhenTheSystemSavesTheRegisters() {
        int[] one = {0, 0, FMA | OSXSAVE_AVX_F16C, 0};
        int[] seven = {1, AVX2 | AVX512, VNNI, 1 << 24 | 1 << 25};
        int[] sevenOne = {1 << 4, 0, 0, 0};
        assertEquals(Set.of(), CpuFeatures.of("", one, seven, sevenOne, 0, 0).sets());
        assertEquals(
                EnumSet.of(FeatureSet.AVX2, FeatureSet.AVX_VNNI),
                CpuFeatures.of("", one, seven, sevenOne, 0x7, 0).sets());
        assertEquals(
                EnumSet.allOf(FeatureSet.class),
                CpuFeatures.of("", one, seven, sevenOne, 0xE7, 0).sets());
        assertFalse(CpuFeatures.of("", one, seven, sevenOne, 0xE7, 0).amxInt8());
        assertTrue(CpuFeatures.of("", one, seven, sevenOne, 0x600E7, 0).amxInt8());
        assertEquals(
                EnumSet.of(FeatureSet.AVX2),
                CpuFeatures.of("", one, new int[] {0, AVX2 | AVX512, 0, 0}, new int[4], 0xE7, 0)
                        .sets());
        assertEquals(
                Set.of(),
                CpuFeatures.of("", new int[4], seven, sevenOne, 0xE7, 0).sets());
    }
}
