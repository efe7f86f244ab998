package org.example.tokens;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.http.HttpCall;
import dev.tenon.api.http.RequestException;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RateLimitTests {
    private long now;
    private final RateLimit limit = new RateLimit("/example/", 2, () -> now);

    private String send(String path, String principal) {
        Map<String, String> answers = Map.of("path", path, "principal", principal);
        return limit.before((HttpCall) Proxy.newProxyInstance(
                HttpCall.class.getClassLoader(),
                new Class<?>[] {HttpCall.class},
                (self, method, args) -> answers.get(method.getName())));
    }

    @Test
    void eachClientHasItsOwnMinute() {
        assertNull(send("/example/count", "a"));
        assertNull(send("/example/count", "a"));
        RequestException refused = assertThrows(RequestException.class, () -> send("/example/count", "a"));
        assertEquals(429, refused.status());
        assertEquals(61, refused.retryAfterSeconds());
        assertNull(send("/example/count", "b"));
        assertNull(send("/v1/models", "a"), "another path");
        now += 60_000_000_000L;
        assertNull(send("/example/count", "a"));
    }
}
