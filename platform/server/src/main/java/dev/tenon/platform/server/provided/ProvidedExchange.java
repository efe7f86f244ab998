package dev.tenon.platform.server.provided;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.http.HttpBody;
import dev.tenon.api.http.HttpEvents;
import dev.tenon.api.http.HttpExchange;
import dev.tenon.api.http.HttpModel;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.http.EventStream;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.io.UncheckedIOException;

/// A request in the hands of a provider's end point. For the thread of the request.
final class ProvidedExchange implements HttpExchange {
    private final Exchange exchange;
    private final HttpBody body;
    private final ProvidedEndpoint.Context context;
    private byte[] bytes;
    private HttpEvents events;
    private boolean answered;
    private volatile boolean lost;

    ProvidedExchange(Exchange exchange, HttpBody body, ProvidedEndpoint.Context context) {
        this.exchange = exchange;
        this.body = body;
        this.context = context;
    }

    /// {@return whether the client was not reached}
    boolean isLost() {
        return lost;
    }

    /// @throws IllegalStateException if there was no answer
    void requireAnswer() {
        if (!answered && events == null) {
            throw new IllegalStateException(endpoint() + " gave no answer");
        }
    }

    private void requireNone() {
        if (answered || events != null) {
            throw new IllegalStateException(endpoint() + " has answered already");
        }
    }

    @Override
    public String method() {
        return exchange.method();
    }

    @Override
    public String path() {
        return exchange.path();
    }

    @Override
    public String endpoint() {
        return exchange.endpoint();
    }

    @Override
    public boolean open() {
        return exchange.open();
    }

    @Override
    public String rest() {
        return exchange.rest();
    }

    @Override
    public String header(String name) {
        return exchange.header(name);
    }

    @Override
    public String parameter(String name) {
        return exchange.parameter(name);
    }

    @Override
    public String id() {
        return exchange.id();
    }

    @Override
    public String principal() {
        return exchange.principal();
    }

    @Override
    public HttpBody body() {
        if (body == null) {
            throw new IllegalStateException(endpoint() + " has no fields");
        }
        return body;
    }

    @Override
    public byte[] bytes() {
        if (body != null) {
            throw new IllegalStateException(endpoint() + " has fields");
        }
        if (bytes == null) {
            bytes = exchange.bytes();
        }
        return bytes;
    }

    @Override
    public void interruptWhenClientLeaves() {
        if (body == null) {
            bytes(); // what watches the connection drops what comes
        }
        exchange.interruptWhenClientLeaves();
    }

    @Override
    public boolean clientLeft() {
        return exchange.clientLeft();
    }

    @Override
    public HttpModel model(String name) throws InterruptedException {
        ServedModel served = context.generations().model(name);
        return new ProvidedModel(exchange, served, served.lease(), context.generations());
    }

    @Override
    public Engine engine() {
        return context.engine();
    }

    @Override
    public void answerHeader(String name, String value) {
        exchange.answerHeader(name, value);
    }

    @Override
    public void json(int status, Object answer) {
        requireNone();
        byte[] bytes = Json.bytes(Json.tree(answer));
        send(() -> exchange.write(status, "application/json", bytes));
        answered = true;
    }

    @Override
    public void bytes(int status, String type, byte[] bytes) {
        requireNone();
        send(() -> exchange.write(status, type, bytes));
        answered = true;
    }

    @Override
    public HttpEvents events() {
        if (events == null) {
            requireNone();
            interruptWhenClientLeaves();
            EventStream stream = exchange.events();
            events = (name, data) -> send(() -> stream.send(name, Json.tree(data)));
        }
        return events;
    }

    private void send(Runnable write) {
        try {
            write.run();
        } catch (UncheckedIOException e) {
            lost = true;
            throw e;
        }
    }
}
