package dev.tenon.platform.server.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// How long a model stays loaded, as requests write it.
class KeepAliveTests {
    private static Duration time(String text) {
        return KeepAlive.parse(text).orElseThrow();
    }

    @Test
    void numbersAreSecondsAndDurationsHaveUnits() {
        assertEquals(Duration.ofSeconds(30), time("30"));
        assertEquals(Duration.ofMillis(1500), time("1.5"));
        assertEquals(Duration.ofMinutes(5), time("5m"));
        assertEquals(Duration.ofMinutes(90), time("1h30m"));
        assertEquals(Duration.ofMillis(250), time("250ms"));
        assertEquals(Duration.ZERO, time("0"));
        assertEquals(Duration.ZERO, time("0s"));
    }

    @Test
    void aNegativeOneIsForEver() {
        for (String text : List.of("-1", "-1m", "-5", "999999999999")) {
            assertEquals(KeepAlive.FOREVER, time(text), text);
        }
    }

    @Test
    void othersAreNone() {
        for (String text : List.of("", "m", "5 m", "soon", "1d", "--1", "1e9", "5m!")) {
            assertTrue(KeepAlive.parse(text).isEmpty(), text);
        }
    }
}
