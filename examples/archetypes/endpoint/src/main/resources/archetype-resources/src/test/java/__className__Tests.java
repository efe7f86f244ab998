package ${package};

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.RequestException;
import dev.tenon.itest.testkit.EndpointContract;
import dev.tenon.itest.testkit.FakeExchange;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ${className}Tests extends EndpointContract {
    @Override
    protected EndpointProvider provider() {
        return new ${className}();
    }

    @Test
    void aRequestWithoutATextIsRefused() {
        HttpEndpoint endpoint = provider().endpoints().getFirst();
        RequestException refused = assertThrows(
                RequestException.class, () -> endpoint.handler().handle(FakeExchange.of(endpoint, Map.of())));
        assertEquals("text", refused.param());
    }
}
