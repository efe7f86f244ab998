package dev.tenon.backend.nv.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Oracle: the rule that this backend is there only when it is named and switched on.
class NvBackendTests {
    @TempDir
    private Path root;

    private NvBackend backend() {
        return new NvBackend(
                () -> {
                    throw new AssertionError("nothing is opened");
                },
                root);
    }

    @Test
    void withoutTheDriverItIsNotThere() {
        assertFalse(backend().probe().available());
        assertEquals(List.of(), backend().devices());
        BackendException e =
                assertThrows(BackendException.class, () -> backend().open(DeviceOptions.defaults()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("/dev/nvidiactl"), e.getMessage());
    }

    @Test
    void withoutTheSwitchNothingIsOpened() throws Exception {
        Files.createDirectories(root.resolve("dev"));
        Files.createFile(root.resolve("dev/nvidiactl"));
        Files.createFile(root.resolve("dev/nvidia-uvm"));
        assertTrue(backend().probe().available());
        assertTrue(backend().rank() < 0, "never chosen by itself");
        assertEquals(1, backend().devices().size());
        BackendException e =
                assertThrows(BackendException.class, () -> backend().open(DeviceOptions.defaults()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("nv.rm=on"), e.getMessage());
    }
}
