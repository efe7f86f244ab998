package dev.tenon.backend.nv.tegra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.gpu.GpuWait;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Oracle: the machine that the tests run on.
class NvTegraBackendTests {
    @Test
    void withoutABoardTheProbeSaysWhatIsMissing() {
        assumeTrue(!Files.exists(Path.of(TegraGpu.NVMAP)), "skipped: this machine has " + TegraGpu.NVMAP);
        NvTegraBackend backend = new NvTegraBackend();
        Probe probe = backend.probe();
        assertFalse(probe.available());
        assertTrue(probe.reason().contains("/dev/nvmap") || probe.reason().contains("Linux"), probe.reason());
        assertEquals(List.of(), backend.devices());
        BackendException e = assertThrows(BackendException.class, () -> backend.open(DeviceOptions.defaults()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains(probe.reason()), e.getMessage());
    }

    @Test
    void settingsAreUnderstoodOrRefused() {
        assertEquals(TegraOptions.defaults(), TegraOptions.of(Map.of()));
        assertEquals(64, TegraOptions.of(Map.of("nv-tegra.ring-entries", "64")).ringEntries());
        assertTrue(TegraOptions.of(Map.of("nv-tegra.layout", "reserved-windows"))
                .layout()
                .reserveWindows());
        assertFalse(TegraOptions.of(Map.of("nv-tegra.align-large", "false")).alignLarge());
        for (Map<String, String> wrong : List.of(
                Map.of("nv-tegra.layout", "somewhere"),
                Map.of("nv-tegra.ring-entries", "many"),
                Map.of("nv-tegra.ring-entries", "100"))) {
            assertThrows(IllegalArgumentException.class, () -> TegraOptions.of(wrong), wrong.toString());
        }
        assertEquals(30_000, GpuWait.timeoutMillis(Map.of()));
        assertEquals(200, GpuWait.timeoutMillis(Map.of("nv-tegra.timeout-ms", "200")));
        for (String wrong : List.of("0", "-1", "long")) {
            Map<String, String> settings = Map.of("nv-tegra.timeout-ms", wrong);
            assertThrows(IllegalArgumentException.class, () -> GpuWait.timeoutMillis(settings), wrong);
        }
    }
}
