package dev.tenon.backend.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.ffm.DriverCall;
import dev.tenon.backend.cuda.ffm.DriverLibrary;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CudaBackendTests {
    @Test
    void withoutADriverItSaysWhatWasTried() {
        assumeFalse(DriverLibrary.missing() == null, "this machine has a CUDA driver");
        CudaBackend backend = new CudaBackend();
        Probe probe = backend.probe();
        assertFalse(probe.available());
        assertTrue(probe.reason().contains("libcuda.so.1") || probe.reason().contains("cuInit"), probe.reason());
        assertEquals(List.of(), backend.devices());
        BackendException e = assertThrows(BackendException.class, () -> backend.open(DeviceOptions.defaults()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains(probe.reason()), e.getMessage());
    }

    @Test
    void uuidsLookLikeThoseOfNvidiasTools() {
        byte[] bytes = new byte[16];
        for (int i = 0; i < 16; i++) {
            bytes[i] = (byte) (i * 17);
        }
        assertEquals("GPU-00112233-4455-6677-8899-aabbccddeeff", CudaDevices.uuid(bytes));
    }

    @Test
    void everyDriverCallReturnsAResultAndIsNamedOnce() {
        Set<String> names = new HashSet<>();
        for (DriverCall call : DriverCall.values()) {
            assertTrue(call.name().startsWith("cu"), call.name());
            assertTrue(names.add(call.name().replaceAll("_v\\d$", "")), call.name());
            assertEquals(4, call.descriptor().returnLayout().orElseThrow().byteSize(), call.name());
        }
    }
}
