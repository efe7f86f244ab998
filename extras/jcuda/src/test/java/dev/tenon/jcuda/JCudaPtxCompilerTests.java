package dev.tenon.jcuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.kernels.nvidia.compile.CodeCache;
import dev.tenon.kernels.nvidia.compile.PrebuiltCompiler;
import dev.tenon.kernels.nvidia.compile.PtxCompiler;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The bundle's PTX, compiled for a Jetson Orin on any machine that JCuda's natives run on.
class JCudaPtxCompilerTests {
    private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+(\\w+)");

    @TempDir
    Path cache;

    @BeforeAll
    static void itRunsHere() {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(machine.equals("Linux amd64"), "JCuda's natives are for Linux on x86-64, this is " + machine);
    }

    static List<KernelModule> modules() {
        return List.of(
                KernelModule.of("small.cu"),
                KernelModule.of("rows.cu"),
                KernelModule.of("attention.cu"),
                KernelModule.of("embedding.cu", "Q8_0"),
                new KernelModule("linear.cu", Map.of("TENON_FORMAT", "Q8_0", "TENON_BLOCK", "256")));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void ptxBecomesMachineCodeOfAnOrinWithTheSameKernels(KernelModule module) {
        String ptx = new String(KernelCatalogue.prebuilt(module).orElseThrow(), StandardCharsets.US_ASCII);
        Set<String> entries = new TreeSet<>();
        for (Matcher entry = ENTRY.matcher(ptx); entry.find(); ) {
            entries.add(entry.group(1));
        }
        assertFalse(entries.isEmpty());
        byte[] code = new PrebuiltCompiler(new JCudaPtxCompiler(), new CodeCache(cache))
                .compile(module, "sm_87")
                .orElseThrow();
        Cubin cubin = new Cubin(code, module.name());
        cubin.requireSm(87);
        assertEquals(entries, new TreeSet<>(cubin.kernels().keySet()));
    }

    @Test
    void whatWasCompiledIsKept() throws Exception {
        List<String> compiled = new ArrayList<>();
        PtxCompiler counting = new PtxCompiler() {
            @Override
            public String name() {
                return "counting";
            }

            @Override
            public byte[] compile(String name, String ptx, String architecture) {
                compiled.add(name + " " + architecture);
                return new byte[] {1, 2, 3};
            }
        };
        PrebuiltCompiler compiler = new PrebuiltCompiler(counting, new CodeCache(cache));
        for (int i = 0; i < 2; i++) {
            assertEquals(
                    3, compiler.compile(KernelModule.of("small.cu"), "sm_87").orElseThrow().length);
        }
        assertEquals(List.of("small sm_87"), compiled);
        assertTrue(compiler.compile(KernelModule.of("small.cu", "X"), "sm_87").isEmpty(), "a module without PTX");
        assertEquals(1, Files.list(cache).count());
    }

    @Test
    void brokenPtxIsRefusedWithTheCompilersLog() {
        BackendException e = assertThrows(
                BackendException.class,
                () -> new JCudaPtxCompiler()
                        .compile("broken", ".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\n", "sm_87"));
        assertEquals(ErrorCode.BACKEND_FAILED, e.code());
        assertTrue(e.getMessage().contains("broken for sm_87"), e.getMessage());
        assertTrue(e.getMessage().contains("line 4"), e.getMessage());
    }

    @Test
    void itsNameHasItsVersion() {
        assertTrue(new JCudaPtxCompiler().name().matches("nvPTXCompiler \\d+\\.\\d+"));
    }
}
