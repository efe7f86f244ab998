package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpCall;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpExchange;
import dev.tenon.api.http.HttpFields;
import dev.tenon.api.http.HttpFilter;
import dev.tenon.api.http.HttpHandler;
import dev.tenon.api.http.RequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken provider fails the test of the contract that is there for it.
class EndpointContractTests {
    private enum Fault {
        HAS_A_STRANGE_ID("theIdIsLowerCaseLettersDigitsAndDashes"),
        HAS_A_PATH_TWICE("endPointsAreAlwaysTheSameAndNoneIsThereTwice"),
        GROWS("endPointsAreAlwaysTheSameAndNoneIsThereTwice"),
        GIVES_NO_ANSWER("eachRequestIsAnsweredOnceOrRefused"),
        ANSWERS_TWICE("eachRequestIsAnsweredOnceOrRefused"),
        TRUSTS_ITS_FIELDS("eachRequestIsAnsweredOnceOrRefused"),
        ANSWERS_WITH_AN_OBJECT("eachRequestIsAnsweredOnceOrRefused"),
        TELLS_A_STACK_TRACE("eachRequestIsAnsweredOnceOrRefused"),
        REFUSES_WITH_200("eachRequestIsAnsweredOnceOrRefused"),
        LEAVES_AN_INTERRUPT("eachRequestIsAnsweredOnceOrRefused"),
        SWALLOWS_AN_INTERRUPT("anInterruptIsNotLost"),
        HAS_A_FILTER_THAT_REFUSES_BADLY("filtersPassOrRefuseAndHearOfTheEnd");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends EndpointContract {
        private final EndpointProvider provider = new Broken(current);

        @Override
        protected EndpointProvider provider() {
            return provider;
        }
    }

    /// Right, but for one fault; null for none.
    private record Broken(Fault fault, List<HttpEndpoint> more) implements EndpointProvider {
        Broken(Fault fault) {
            this(fault, new ArrayList<>());
        }

        @Override
        public String id() {
            return fault == Fault.HAS_A_STRANGE_ID ? "My End Point" : "right";
        }

        @Override
        public List<HttpEndpoint> endpoints() {
            HttpEndpoint fields = HttpEndpoint.post("/right/fields", HttpFields.only("text", "n"), this::answer);
            HttpEndpoint raw = HttpEndpoint.post("/right/raw/*", HttpFields.none(), e -> e.json(e.bytes().length));
            HttpEndpoint events =
                    HttpEndpoint.get("/right/events", e -> e.events().send(List.of(Map.of("a", 1))));
            if (fault == Fault.HAS_A_PATH_TWICE) {
                return List.of(fields, raw, fields);
            }
            if (fault == Fault.GROWS) {
                more.add(HttpEndpoint.get("/right/" + more.size(), e -> e.text("")));
            }
            List<HttpEndpoint> all = new ArrayList<>(List.of(fields, raw, events));
            all.addAll(more);
            return all;
        }

        @Override
        public List<HttpFilter> filters() {
            return List.of(this::filter);
        }

        private String filter(HttpCall request) {
            if (fault == Fault.HAS_A_FILTER_THAT_REFUSES_BADLY) {
                throw RequestException.of(429, "rate_limit_error", "rate_limit", " ");
            }
            return null;
        }

        private void answer(HttpExchange exchange) throws InterruptedException {
            HttpHandler right = e -> {
                e.body().text("text");
                e.json(e.body().whole("n", 0, 9, 1));
            };
            if (fault == null) {
                right.handle(exchange);
                return;
            }
            switch (fault) {
                case GIVES_NO_ANSWER -> exchange.body();
                case ANSWERS_TWICE -> {
                    exchange.text("one");
                    exchange.text("two");
                }
                case TRUSTS_ITS_FIELDS ->
                    exchange.json(((String) exchange.body().values().getOrDefault("text", "")).length());
                case ANSWERS_WITH_AN_OBJECT -> exchange.json(Set.of());
                case TELLS_A_STACK_TRACE ->
                    throw RequestException.invalid("text", "java.lang.Exception\n\tat org.example.Type");
                case REFUSES_WITH_200 -> throw RequestException.of(200, "ok", "ok", "All is well.");
                case LEAVES_AN_INTERRUPT -> {
                    right.handle(exchange);
                    Thread.currentThread().interrupt();
                }
                case SWALLOWS_AN_INTERRUPT -> {
                    Thread.interrupted();
                    right.handle(exchange);
                }
                default -> right.handle(exchange);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void aFaultIsFound(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 3);
        assertTrue(failures.containsKey(fault.found), failures::toString);
    }

    @Test
    void aRightProviderPasses() {
        current = null;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 5));
    }
}
