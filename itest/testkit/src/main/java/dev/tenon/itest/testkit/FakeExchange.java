package dev.tenon.itest.testkit;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.http.HttpBody;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpEvents;
import dev.tenon.api.http.HttpExchange;
import dev.tenon.api.http.HttpFields;
import dev.tenon.api.http.HttpModel;
import dev.tenon.api.http.RequestException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A request without a server: keeps what is answered, and fails where a server would. For one
/// thread; events may come from several. For tests of end points.
public final class FakeExchange implements HttpExchange {
    private final HttpEndpoint endpoint;
    private final Map<String, Object> values;
    private final byte[] bytes;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private final List<Object> sent = new ArrayList<>();
    private HttpEvents events;
    private int status;
    private Object answer;

    private FakeExchange(HttpEndpoint endpoint, Map<String, Object> values, byte[] bytes) {
        this.endpoint = endpoint;
        this.values = values;
        this.bytes = bytes;
    }

    /// {@return a request with fields}
    ///
    /// @param endpoint which takes it
    /// @param values its fields
    public static FakeExchange of(HttpEndpoint endpoint, Map<String, Object> values) {
        return new FakeExchange(endpoint, Map.copyOf(values), null);
    }

    /// {@return a request with a body that the end point reads itself}
    ///
    /// @param endpoint which takes it
    /// @param body its body
    public static FakeExchange of(HttpEndpoint endpoint, String body) {
        return new FakeExchange(endpoint, null, body.getBytes(StandardCharsets.UTF_8));
    }

    /// {@return the status of the answer; 0 if there is none}
    public int status() {
        return status;
    }

    /// {@return what was answered: JSON, or bytes; null if nothing was}
    public Object answer() {
        return answer;
    }

    /// {@return the data of the events that were sent}
    public synchronized List<Object> sent() {
        return List.copyOf(sent);
    }

    /// {@return the headers of the answer}
    public Map<String, String> answerHeaders() {
        return Map.copyOf(headers);
    }

    synchronized boolean hasBegun() {
        return status != 0 || !sent.isEmpty();
    }

    void requireAnswer() {
        if (status == 0 && events == null) {
            throw new IllegalStateException("there was no answer");
        }
    }

    private void requireNone() {
        if (status != 0 || events != null) {
            throw new IllegalStateException("there is an answer already");
        }
    }

    @Override
    public String method() {
        return endpoint.method();
    }

    @Override
    public String path() {
        return endpoint.path().replace("/*", "/below");
    }

    @Override
    public String endpoint() {
        return endpoint.path();
    }

    @Override
    public boolean open() {
        return endpoint.open();
    }

    @Override
    public String rest() {
        return endpoint.path().endsWith("/*") ? "below" : "";
    }

    @Override
    public String header(String name) {
        return null;
    }

    @Override
    public String parameter(String name) {
        return null;
    }

    @Override
    public String id() {
        return "test";
    }

    @Override
    public String principal() {
        return "";
    }

    @Override
    public void answerHeader(String name, String value) {
        if (hasBegun()) {
            throw new IllegalStateException("the answer has begun");
        }
        headers.put(name, value);
    }

    @Override
    public HttpBody body() {
        if (endpoint.fields().others() == HttpFields.Others.UNREAD) {
            throw new IllegalStateException(endpoint() + " has no fields");
        }
        return new HttpBody(values);
    }

    @Override
    public byte[] bytes() {
        if (endpoint.fields().others() != HttpFields.Others.UNREAD) {
            throw new IllegalStateException(endpoint() + " has fields");
        }
        return bytes.clone();
    }

    @Override
    public void interruptWhenClientLeaves() {
        // This client stays.
    }

    @Override
    public boolean clientLeft() {
        return false;
    }

    @Override
    public HttpModel model(String name) throws InterruptedException {
        throw RequestException.notFound("model_not_found", "There is no model.");
    }

    @Override
    public Engine engine() {
        throw RequestException.notFound("model_not_found", "There is no model.");
    }

    @Override
    public void json(int code, Object body) {
        requireNone();
        requireJson(body);
        status = code;
        answer = body;
    }

    @Override
    public void bytes(int code, String type, byte[] body) {
        requireNone();
        status = code;
        answer = body.clone();
    }

    @Override
    public HttpEvents events() {
        if (events == null) {
            requireNone();
            events = (name, data) -> {
                requireJson(data);
                synchronized (this) {
                    sent.add(data);
                }
            };
        }
        return events;
    }

    private static void requireJson(Object value) {
        switch (value) {
            case null -> {
                // null is JSON
            }
            case String _, Number _, Boolean _ -> {
                // so are these
            }
            case List<?> list -> list.forEach(FakeExchange::requireJson);
            case Map<?, ?> map ->
                map.forEach((key, each) -> {
                    if (!(key instanceof String)) {
                        throw new IllegalArgumentException(key + " is no name of a field");
                    }
                    requireJson(each);
                });
            default ->
                throw new IllegalArgumentException(value.getClass().getName()
                        + " is no JSON; expected maps, lists, texts, numbers, booleans and null");
        }
    }

    @Override
    public String toString() {
        return method() + " " + path() + " " + (values == null ? new String(bytes, StandardCharsets.UTF_8) : values);
    }
}
