package dev.tenon.api.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingTests {
    private static final Setting THREADS = Setting.integer("threads", 0, 0, 64, "Threads.");
    private static final Setting PIN = Setting.flag("threads.pin", false, "Pins threads.");

    @Test
    void valuesReachTheirReaderInOneSpelling() {
        assertTrue(PIN.isOn(Map.of("threads.pin", " TRUE ")));
        assertFalse(PIN.isOn(Map.of("threads.pin", "Off")));
        assertFalse(PIN.isOn(Map.of()));
        assertEquals("7", THREADS.in(Map.of("threads", " 07")));
        Setting type = Setting.choice("cache.type.k", "f16", List.of("f32", "f16"), "Type.");
        assertEquals("f32", type.parse("F32"));
        assertEquals("", Setting.path("cuda.cache", "", "Folder.").in(Map.of()));
    }

    @Test
    void whatIsNoValueIsNamedWithWhatIsAllowed() {
        assertRefused(THREADS, "abc", "a whole number from 0 to 64");
        assertRefused(THREADS, "65", "a whole number from 0 to 64");
        assertRefused(THREADS, "-1", "a whole number from 0 to 64");
        assertRefused(PIN, "perhaps", "on or off");
        assertRefused(Setting.choice("a", "x", List.of("x", "y", "z"), "A."), "w", "x, y or z");
    }

    private static void assertRefused(Setting setting, String value, String allowed) {
        TenonException error = assertThrows(TenonException.class, () -> setting.parse(value));
        assertEquals(ErrorCode.CONFIG, error.code());
        String text = error.getMessage();
        assertTrue(text.contains(setting.name()) && text.contains("'" + value + "'") && text.contains(allowed), text);
    }

    @Test
    void aDefaultThatIsNoValueIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Setting.integer("threads", 65, 0, 64, "Threads."));
    }

    @Test
    void theVariableHasTheNameInCapitals() {
        assertEquals("TENON_THREADS_PIN", PIN.variable());
        assertEquals(
                "TENON_MV_BLOCK_SIZE", Setting.text("mv.block-size", "", "B.").variable());
        assertEquals(
                "TENON_KERNELS_X86",
                Setting.text("tenon.kernels.x86", "", "K.").readAtStart().variable());
    }
}
