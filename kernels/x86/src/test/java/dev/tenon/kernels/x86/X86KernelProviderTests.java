package dev.tenon.kernels.x86;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.cpu.Here;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class X86KernelProviderTests {
    @ParameterizedTest
    @EnumSource
    void eachSetOfThisMachineOffersEveryFormat(FeatureSet set) {
        assumeTrue(Here.SETS.contains(set), "this machine lacks " + set.id);
        try (X86KernelProvider provider = new X86KernelProvider(set.id, true, true)) {
            List<Kernel> kernels = provider.kernels();
            assertEquals(Set.of("F16", "BF16"), of(kernels, "linear"));
            for (QuantFormat format : ServiceLoader.load(QuantFormat.class)) {
                List<Kernel> own = provider.kernels(format).stream()
                        .filter(kernel -> kernel.op().equals("linear"))
                        .toList();
                // Not of float32, nor of what holds no weights.
                int expected = Set.of("F32", "I32").contains(format.id()) ? 0 : 1;
                assertEquals(expected, own.size(), format.id());
                own.forEach(kernel -> assertEquals(format.id(), kernel.format()));
                assertTrue(provider.kernels(format).containsAll(own), "asked twice, others come");
            }
            assertEquals(Set.of("F32", "F16", "Q8_0"), of(kernels, "attention"));
            assertEquals(Set.of("F32"), of(kernels, "elements"));
            for (Kernel kernel : kernels) {
                assertTrue(
                        switch (kernel.op()) {
                            case "linear" -> kernel instanceof LinearKernel;
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

    private static Set<String> of(List<Kernel> kernels, String op) {
        return kernels.stream()
                .filter(kernel -> kernel.op().equals(op))
                .map(Kernel::format)
                .collect(Collectors.toSet());
    }

    @Test
    void attentionCanBeLeftOut() {
        try (X86KernelProvider provider = new X86KernelProvider("auto", false, true)) {
            assertEquals(Set.of(), of(provider.kernels(), "attention"));
        }
    }

    @Test
    void elementsCanBeLeftOut() {
        try (X86KernelProvider provider = new X86KernelProvider("auto", true, false)) {
            assertEquals(Set.of(), of(provider.kernels(), "elements"));
        }
    }

    @Test
    void offMeansNoKernelsAndSaysSo() {
        try (X86KernelProvider provider = new X86KernelProvider("off", true, true)) {
            assertTrue(provider.kernels().isEmpty());
            assertTrue(provider.toString().contains("switched off"), provider.toString());
        }
    }

    @Test
    void aMisspeltSettingIsTakenAsAuto() {
        try (X86KernelProvider wrong = new X86KernelProvider("avx1024", true, true);
                X86KernelProvider auto = new X86KernelProvider("auto", true, true)) {
            assertEquals(
                    auto.kernels().stream().map(Kernel::name).toList(),
                    wrong.kernels().stream().map(Kernel::name).toList());
        }
    }

    @Test
    void kernelsOfAStoppedProviderFailWithATypedError() {
        assumeTrue(!Here.SETS.isEmpty(), "no feature set is usable on this machine");
        X86KernelProvider provider = new X86KernelProvider("auto", true, true);
        LinearKernel kernel = (LinearKernel) provider.kernels().getFirst();
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
        X86KernelProvider provider = new X86KernelProvider("auto", true, true);
        provider.close();
        assertTrue(provider.kernels().isEmpty());
    }

    @Test
    void anotherProcessorMeansNoKernelsAndTheReasonIsTold() {
        String arch = System.getProperty("os.arch");
        System.setProperty("os.arch", "riscv64");
        try (X86KernelProvider provider = new X86KernelProvider("auto", true, true)) {
            assertEquals(0, provider.kernels().size());
            assertEquals(true, provider.toString().contains("riscv64"), provider.toString());
        } finally {
            System.setProperty("os.arch", arch);
        }
    }
}
