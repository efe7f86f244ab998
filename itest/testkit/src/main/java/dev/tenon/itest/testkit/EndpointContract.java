package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpFields;
import dev.tenon.api.http.HttpFilter;
import dev.tenon.api.http.RequestException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What every provider of end points has to do: extend this class, name the provider, and run it
/// with JUnit.
///
/// Handlers are called with requests that a server would let pass: without fields, with each field
/// of each type of JSON, and with bytes that are no JSON where the end point reads them itself.
/// There is no model and no engine: a handler that asks for a model gets the refusal that a server
/// without models gives.
public abstract class EndpointContract {
    private static final List<Object> VALUES = List.of(
            "", "text", true, false, -1, 0, 1, 1L << 40, 0.5, List.of(), List.of(1, "a"), Map.of(), Map.of("a", 1));

    /// For subclasses.
    protected EndpointContract() {}

    /// {@return the provider under test}
    protected abstract EndpointProvider provider();

    @Test
    void theIdIsLowerCaseLettersDigitsAndDashes() {
        assertTrue(provider().id().matches("[a-z][a-z0-9-]*"), provider()::id);
        assertEquals(provider().id(), provider().id(), "the id is always the same");
    }

    @Test
    void endPointsAreAlwaysTheSameAndNoneIsThereTwice() {
        List<String> first = paths();
        assertEquals(first, paths());
        assertEquals(new HashSet<>(first).size(), first.size(), first::toString);
        assertTrue(
                !first.isEmpty() || !provider().filters().isEmpty(), "the provider has neither end points nor filters");
    }

    private List<String> paths() {
        return provider().endpoints().stream()
                .map(each -> each.method() + " " + each.path())
                .toList();
    }

    @Test
    void eachRequestIsAnsweredOnceOrRefused() {
        for (HttpEndpoint endpoint : provider().endpoints()) {
            for (FakeExchange exchange : requests(endpoint)) {
                call(endpoint, exchange);
            }
        }
    }

    /// Requests of every kind that a server lets pass.
    private static List<FakeExchange> requests(HttpEndpoint endpoint) {
        List<FakeExchange> requests = new ArrayList<>();
        if (endpoint.fields().others() == HttpFields.Others.UNREAD) {
            for (String body : List.of("", "{", "{}", "[1]", "\0\uFFFD")) {
                requests.add(FakeExchange.of(endpoint, body));
            }
            return requests;
        }
        requests.add(FakeExchange.of(endpoint, Map.of()));
        for (String name : endpoint.fields().names()) {
            for (Object value : VALUES) {
                requests.add(FakeExchange.of(endpoint, Map.of(name, value)));
            }
        }
        for (Object value : VALUES) {
            Map<String, Object> all = new java.util.HashMap<>();
            endpoint.fields().names().forEach(name -> all.put(name, value));
            requests.add(FakeExchange.of(endpoint, all));
        }
        return requests;
    }

    private static void call(HttpEndpoint endpoint, FakeExchange exchange) {
        try {
            endpoint.handler().handle(exchange);
            exchange.requireAnswer();
        } catch (RequestException e) {
            requireRefusal(e, exchange);
            assertFalse(exchange.hasBegun(), () -> exchange + " was refused after its answer had begun");
        } catch (InterruptedException | RuntimeException | LinkageError e) {
            fail(exchange + " failed; expected an answer or a RequestException", e);
        }
        assertFalse(Thread.interrupted(), () -> exchange + " left its thread interrupted");
    }

    private static void requireRefusal(RequestException e, FakeExchange exchange) {
        assertTrue(e.status() >= 400 && e.status() < 600, () -> exchange + " was refused with " + e.status());
        assertNotNull(e.type(), () -> exchange + ": the refusal has no type");
        assertNotNull(e.code(), () -> exchange + ": the refusal has no code");
        String text = String.valueOf(e.getMessage());
        assertFalse(
                text.isBlank() || text.contains("\n") || text.contains("Exception"),
                () -> exchange + " was refused with '" + text + "'; expected a line for people");
    }

    @Test
    void anInterruptIsNotLost() {
        for (HttpEndpoint endpoint : provider().endpoints()) {
            FakeExchange exchange = requests(endpoint).getFirst();
            boolean interrupted = false;
            Thread.currentThread().interrupt();
            try {
                endpoint.handler().handle(exchange);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (RequestException e) {
                requireRefusal(e, exchange);
            } finally {
                interrupted |= Thread.interrupted();
            }
            assertTrue(interrupted, exchange + " swallowed the interrupt of its thread");
        }
    }

    @Test
    void filtersPassOrRefuseAndHearOfTheEnd() {
        Set<String> paths = new HashSet<>(List.of("/v1/models", "/"));
        provider().endpoints().forEach(each -> paths.add(each.path()));
        for (HttpFilter filter : provider().filters()) {
            for (String path : paths) {
                FakeExchange request = FakeExchange.of(
                        new HttpEndpoint("GET", path.equals("/") ? "/x" : path, false, HttpFields.none(), each -> {}),
                        "");
                try {
                    filter.before(request);
                    assertDoesNotThrow(() -> filter.after(request, 200, Duration.ofMillis(1)));
                } catch (RequestException e) {
                    requireRefusal(e, request);
                }
                assertFalse(Thread.interrupted(), () -> request + " was left interrupted by a filter");
            }
        }
    }
}
