package dev.tenon.jcuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.ffm.DriverLibrary;
import org.junit.jupiter.api.Test;

/// The binding where there is no driver.
class JCudaBindingTests {
    @Test
    void withoutADriverItSaysSoInOneLine() {
        assumeFalse(DriverLibrary.missing() == null, "this machine has a CUDA driver");
        for (int i = 0; i < 2; i++) {
            BackendException e = assertThrows(BackendException.class, () -> new JCudaBindingProvider().open(null));
            assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
            assertTrue(e.getMessage().contains("libcuda.so.1"), e.getMessage());
            assertEquals(1, e.getMessage().lines().count(), e.getMessage());
            assertTrue(e.getMessage().length() <= 200, e.getMessage());
        }
    }
}
