package dev.tenon.backend.nv.tegra.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GpuWaitTests {
    private static final GpuInterface SILENT = (GpuInterface) Proxy.newProxyInstance(
            GpuInterface.class.getClassLoader(), new Class<?>[] {GpuInterface.class}, (proxy, method, args) -> "");

    private final GpuWait wait = new GpuWait(SILENT, 1);

    /// Stopped by a debugger, a laptop's lid or a busy machine: the GPU works on meanwhile.
    @Test
    void aProcessThatStoodStillLooksOnceMoreBeforeItGivesUp() {
        AtomicInteger looks = new AtomicInteger();
        wait.until(
                () -> {
                    if (looks.incrementAndGet() == 2) {
                        sleep(20); // longer than the time-out, with an answer from before
                    }
                    return looks.get() > 2;
                },
                "the test");
        assertFalse(wait.isFailed());
    }

    @Test
    void whatDoesNotComeIsAnErrorAndStaysOne() {
        for (int i = 0; i < 2; i++) {
            BackendException e = assertThrows(BackendException.class, () -> wait.until(() -> false, "the test"));
            assertEquals(NvErrors.FAULT, e.code());
            assertTrue(e.getMessage().contains("waiting for the test"), e.getMessage());
        }
        assertTrue(wait.isFailed());
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
