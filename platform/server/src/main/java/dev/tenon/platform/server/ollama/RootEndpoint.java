package dev.tenon.platform.server.ollama;

import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;

/// `GET /`: what tells clients that the server is there, or, where a browser asks, the page.
///
/// @param page answers with the page
public record RootEndpoint(Endpoint page) implements Endpoint {
    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        String accepted = exchange.header("Accept");
        if (accepted != null && accepted.contains("text/html")) {
            page.handle(exchange);
        } else {
            exchange.text("text/plain; charset=utf-8", "Ollama is running");
        }
    }
}
