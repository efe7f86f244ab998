package dev.tenon.jcuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.emulator.EmulatedOrinProvider;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.kernels.nvidia.compile.PtxCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A model on the emulated Orin with kernels that JCuda's compiler has made of the bundle's PTX.
class JCudaOrinTests {
    /// A format whose kernels are in the bundle as PTX only.
    private static final String FORMAT = "Q5_K";

    @TempDir
    Path folder;

    @BeforeAll
    static void itRunsHere() {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(machine.equals("Linux amd64"), "JCuda's natives are for Linux on x86-64, this is " + machine);
    }

    private static float[][] run(List<PtxCompiler> compilers, Map<String, String> settings) {
        QuantFormat weights = ServiceLoader.load(QuantFormat.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(f -> f.id().equals(FORMAT))
                .findFirst()
                .orElseThrow();
        NvTegraBackend backend = new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), compilers);
        try (Model model = RandomModels.llamaLike(9, weights, Shape.smallFor(weights));
                Device device = backend.open(DeviceOptions.builder()
                        .deviceId("emulated")
                        .settings(settings)
                        .build());
                PlanDriver driver = new PlanDriver(device, model, Settings.of(16, 1, 20))) {
            return driver.feed(driver.open(), new int[] {5, 4, 3, 2, 1, 9, 8, 7, 6, 11, 12, 13, 14}, 12);
        }
    }

    /// `cuda.nvrtc` names a folder without NVRTC, so that nothing else compiles.
    @Test
    void theCompiledKernelsAreLoadedAndHaveThePlannedParameters() throws IOException {
        Map<String, String> compiled =
                Map.of("nv-tegra.kernels", "cubins", "cuda.nvrtc", folder.toString(), "cuda.cache", folder.toString());
        assertThrows(BackendException.class, () -> run(List.of(), compiled), "without a compiler");
        float[][] expected = run(List.of(), Map.of("nv-tegra.kernels", "stand-ins"));
        float[][] got = run(List.of(new JCudaPtxCompiler()), compiled);
        assertEquals(expected.length, got.length);
        for (int t = 0; t < got.length; t++) {
            assertArrayEquals(expected[t], got[t], "token " + t);
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertTrue(files.filter(f -> f.toString().endsWith(".cubin")).count() >= 5, "kept for the next time");
        }
    }
}
