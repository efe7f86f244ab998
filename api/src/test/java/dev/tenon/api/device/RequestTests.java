package dev.tenon.api.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.device.PlanOptions.KvType;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RequestTests {
    @Test
    void optionsKeepWhatTheyWereGiven() {
        PlanOptions options = PlanOptions.builder(100)
                .maxBatchTokens(7)
                .maxSequences(3)
                .keyType(KvType.Q8_0)
                .valueType(KvType.F32)
                .fuse(false)
                .settings(Map.of("a", "1"))
                .build();
        for (PlanOptions each : List.of(options, options.toBuilder().build())) {
            assertEquals(100, each.kvTokens());
            assertEquals(7, each.maxBatchTokens());
            assertEquals(3, each.maxSequences());
            assertEquals(KvType.Q8_0, each.keyType());
            assertEquals(KvType.F32, each.valueType());
            assertEquals(false, each.fuse());
            assertEquals(Map.of("a", "1"), each.settings());
        }
    }

    @Test
    void limitsBelowOneAreRefused() {
        for (PlanOptions.Builder wrong : List.of(
                PlanOptions.builder(0),
                PlanOptions.builder(1).maxBatchTokens(0),
                PlanOptions.builder(1).maxSequences(0))) {
            assertThrows(IllegalArgumentException.class, wrong::build);
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> DeviceOptions.builder().threads(-1).build());
    }

    @Test
    void mapsAreCopied() {
        Map<String, String> settings = new HashMap<>(Map.of("a", "1"));
        PlanOptions plan = PlanOptions.builder(1).settings(settings).build();
        DeviceOptions device = DeviceOptions.builder()
                .deviceId("1")
                .threads(2)
                .settings(settings)
                .build();
        Map<String, String> details = new LinkedHashMap<>(Map.of("driver", "1.0"));
        DeviceInfo info = new DeviceInfo("0", "name", "cpu", 0, details);
        settings.clear();
        details.clear();
        assertEquals(Map.of("a", "1"), plan.settings());
        assertEquals(Map.of("a", "1"), device.settings());
        assertEquals(Map.of("driver", "1.0"), info.details());
        assertThrows(UnsupportedOperationException.class, () -> info.details().clear());
        assertEquals("1", device.deviceId());
        assertEquals(2, device.threads());
        assertSame(DeviceOptions.defaults(), DeviceOptions.defaults());
    }
}
