package org.example.tokens;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpEvents;
import dev.tenon.api.http.HttpExchange;
import dev.tenon.api.http.HttpFields;
import dev.tenon.api.http.HttpFilter;
import dev.tenon.api.http.HttpModel;
import dev.tenon.api.text.Tokenizer;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// `POST /example/count`: says how many tokens of a model a text has; with `stream` it sends each
/// token as an event before.
@Component(service = EndpointProvider.class)
@ServiceProvider(value = EndpointProvider.class, resolution = Resolution.OPTIONAL)
public final class TokensProvider implements EndpointProvider {
    /// What answers tell, so that one sees which version answers.
    private static final String VERSION = "1";

    private static final int PER_MINUTE = 6000;

    private final HttpFilter rates = new RateLimit("/example/", PER_MINUTE, System::nanoTime);

    /// Creates the provider.
    public TokensProvider() {}

    @Override
    public String id() {
        return "tokens";
    }

    @Override
    public List<HttpEndpoint> endpoints() {
        return List.of(
                HttpEndpoint.post("/example/count", HttpFields.only("model", "text", "stream"), TokensProvider::count));
    }

    @Override
    public List<HttpFilter> filters() {
        return List.of(rates);
    }

    private static void count(HttpExchange exchange) throws InterruptedException {
        String text = exchange.body().requiredText("text");
        boolean stream = exchange.body().flag("stream", false);
        try (HttpModel model = exchange.model(exchange.body().text("model"))) {
            Tokenizer tokenizer = model.model().tokenizer();
            int[] ids = tokenizer.encode(text, false, false);
            Map<String, Object> answer = Map.of("model", model.name(), "tokens", ids.length, "version", VERSION);
            if (!stream) {
                exchange.json(answer);
                return;
            }
            HttpEvents events = exchange.events();
            for (int id : ids) {
                events.send("token", Map.of("id", id, "text", tokenizer.decode(new int[] {id})));
            }
            events.send("count", answer);
        }
    }
}
