package dev.tenon.kernels.nvidia.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.plan.TestGraphs;
import dev.tenon.kernels.nvidia.source.CudaSource;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Compiles kernels with NVRTC, which needs neither device nor driver; skipped where there is none.
/// The property `tenon.test.nvrtc` may name its library or folder.
class CompileTests {
    private static Nvrtc nvrtc;

    @BeforeAll
    static void open() {
        String missing = "";
        try {
            nvrtc = Nvrtc.open(NvrtcFinder.ofThisMachine(), System.getProperty("tenon.test.nvrtc", ""));
        } catch (BackendException e) {
            missing = e.getMessage();
        }
        assumeTrue(nvrtc != null, missing);
    }

    @TestFactory
    Stream<DynamicTest> kernelsCompileForEveryGeneration() {
        return Stream.of("sm_80", "sm_87", "sm_90a")
                .flatMap(architecture -> Stream.of(
                                KernelModule.of("small.cu"),
                                KernelModule.of("encoders.cu"),
                                KernelModule.of("rows.cu"),
                                KernelModule.of("embedding.cu", "Q3_K"),
                                KernelModule.of("linear.cu", "Q6_K"),
                                new KernelModule("qkv.cu", Map.of("TENON_FORMAT", "Q4_K", "TENON_FORMAT_V", "Q6_K")))
                        .map(module -> DynamicTest.dynamicTest(
                                module.name() + " " + architecture, () -> compiles(module, architecture))));
    }

    /// The sources with a format that is made of its layout.
    @TestFactory
    Stream<DynamicTest> kernelsOfALayoutCompile() {
        DeviceFormat format = new DeviceFormats(Map.of(), () -> true).of(TestGraphs.named("LAID"));
        Map<String, String> macros = format.macros();
        macros.put("TENON_FORMAT_V", "Q6_K");
        Map<String, String> header = Map.of(format.headerName(), format.header().orElseThrow());
        return Stream.of("embedding", "linear", "qkv", "matmul", "experts", "expert_matmul")
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    KernelModule module = new KernelModule(name + ".cu", macros);
                    byte[] code = nvrtc.compile(
                            KernelCatalogue.source(module, header), KernelCatalogue.options(module, "sm_90a"));
                    assertEquals(0x7f, code[0], "no ELF file");
                }));
    }

    @TestFactory
    Stream<DynamicTest> kernelsForKeysAndValuesOfDifferentTypesCompile() {
        return Stream.of("small.cu", "attention.cu", "attention_prefill.cu")
                .map(CompileTests::pair)
                .map(module -> DynamicTest.dynamicTest(module.name(), () -> compiles(module, "sm_90a")));
    }

    /// A module for a cache whose keys and values are of different types.
    private static KernelModule pair(String file) {
        return new KernelModule(file, Map.of("TENON_KEYS", "f16", "TENON_VALUES", "q8_0"));
    }

    private static void compiles(KernelModule module, String architecture) {
        byte[] code =
                nvrtc.compile(KernelCatalogue.source(module, Map.of()), KernelCatalogue.options(module, architecture));
        assertEquals(0x7f, code[0], "no ELF file");
        assertEquals('E', code[1], "no ELF file");
    }

    @Test
    void aMistakeIsReportedWithItsLine() {
        CudaSource source = new CudaSource("wrong", "\n\nint f() { return nothing; }\n", Map.of());
        BackendException e =
                assertThrows(BackendException.class, () -> nvrtc.compile(source, List.of("--gpu-architecture=sm_80")));
        assertTrue(e.getMessage().contains("wrong(3)") && e.getMessage().contains("nothing"), e.getMessage());
    }
}
