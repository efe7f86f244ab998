package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpExchange;
import dev.tenon.api.http.HttpFields;
import dev.tenon.api.http.HttpModel;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// `POST /${id}` says how many tokens of a model a text has.
@Component(service = EndpointProvider.class)
@ServiceProvider(value = EndpointProvider.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements EndpointProvider {
    /// Creates the provider.
    public ${className}() {}

    @Override
    public String id() {
        return "${id}";
    }

    @Override
    public List<HttpEndpoint> endpoints() {
        return List.of(HttpEndpoint.post("/${id}", HttpFields.only("model", "text"), ${className}::answer));
    }

    /// Called for each request, on a thread of its own.
    private static void answer(HttpExchange exchange) throws InterruptedException {
        String text = exchange.body().requiredText("text");
        try (HttpModel model = exchange.model(exchange.body().text("model"))) {
            int tokens = model.model().tokenizer().encode(text, false, false).length;
            exchange.json(Map.of("model", model.name(), "tokens", tokens));
        }
    }
}
