package dev.tenon.platform.bundles;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import org.junit.jupiter.api.Test;

class BundlesCommandTests {
    @Test
    void withoutAFrameworkThereIsNothingToList() {
        TenonException error = assertThrows(TenonException.class, () -> new BundlesCommand().call());
        assertEquals(ErrorCode.ENV_PLATFORM, error.code());
    }
}
