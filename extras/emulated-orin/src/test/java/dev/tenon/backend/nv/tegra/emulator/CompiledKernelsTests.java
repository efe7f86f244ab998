package dev.tenon.backend.nv.tegra.emulator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.kernels.nvidia.compile.Nvrtc;
import dev.tenon.kernels.nvidia.compile.NvrtcFinder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Where machine code comes from. Oracle: NVRTC for what real code looks like, stand-ins for
/// numbers.
class CompiledKernelsTests {
    private static final String NVRTC = System.getProperty("tenon.test.nvrtc", "");

    @TempDir
    Path folder;

    private static QuantFormat format(String id) {
        return ServiceLoader.load(QuantFormat.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(f -> f.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static float[][] run(String format, Map<String, String> more) {
        NvTegraBackend backend = new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), List.of());
        QuantFormat weights = format(format);
        try (Model model = RandomModels.llamaLike(9, weights, Shape.smallFor(weights));
                Device device = backend.open(DeviceOptions.builder()
                        .deviceId("emulated")
                        .settings(more)
                        .build());
                PlanDriver driver = new PlanDriver(device, model, Settings.of(16, 1, 20))) {
            return driver.feed(driver.open(), new int[] {5, 4, 3, 2, 1, 9, 8, 7, 6, 11, 12, 13, 14}, 12);
        }
    }

    private static void assertSame(float[][] expected, float[][] got) {
        assertEquals(expected.length, got.length);
        for (int t = 0; t < got.length; t++) {
            assertArrayEquals(expected[t], got[t], "token " + t);
        }
    }

    /// Parameters of real code are those that are planned, or launches would be refused.
    @Test
    void whatNvrtcMakesIsLoadedAndRecognised() throws IOException {
        String missing = "";
        try {
            Nvrtc.open(NvrtcFinder.ofThisMachine(), NVRTC);
        } catch (BackendException e) {
            missing = e.getMessage();
        }
        assumeTrue(missing.isEmpty(), missing);
        Map<String, String> real =
                Map.of("nv-tegra.kernels", "cubins", "cuda.nvrtc", NVRTC, "cuda.cache", folder.toString());
        assertSame(run("Q8_0", Map.of("nv-tegra.kernels", "stand-ins")), run("Q8_0", real));
        try (Stream<Path> files = Files.list(folder)) {
            assertTrue(files.filter(f -> f.toString().endsWith(".cubin")).count() >= 5, "kept for the next time");
        }
    }

    /// The cubins of the bundle run what they cover; prompts run on the kernels for few tokens.
    @Test
    void theBundlesCubinsAloneRunAModel() {
        Map<String, String> alone = Map.of("nv-tegra.kernels", "cubins", "cuda.nvrtc", folder.toString());
        Map<String, String> standIns = new HashMap<>(Map.of("nv-tegra.kernels", "stand-ins"));
        standIns.put("cuda.tensor-cores", "off");
        assertSame(run("Q4_K", standIns), run("Q4_K", alone));
    }

    @Test
    void withoutCodeAModelIsRefusedWithWhatIsMissing() {
        Map<String, String> none = Map.of("nv-tegra.kernels", "cubins", "cuda.nvrtc", folder.toString());
        BackendException e = assertThrows(BackendException.class, () -> run("Q5_K", none));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("linear.256.Q5_K") && e.getMessage().contains("cubins.sh"), e.getMessage());
    }
}
