package dev.tenon.platform.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.HttpCall;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.platform.chat.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/// A request and its answer. For the thread of the request, unless a method says something else.
public final class Exchange implements HttpCall {
    private static final int OK = 200;
    private static final int BUFFER_BYTES = 8192;
    private static final int MOST_IGNORED = 32;
    private static final int TOO_SLOW = 408;
    private static final int TOO_LARGE = 413;
    private static final int WRONG_TYPE = 415;

    private static final Pattern TRACE_PARENT =
            Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}.{0,99}");

    private final Request request;
    private final Response response;
    private final String id;
    private final Route route;
    private String principal;
    private final HttpLimits limits;
    private final ScheduledExecutorService clock;
    private Departure departure;
    private boolean bodyRead;
    private EventStream events;
    private String note = "";
    private final List<String> ignored = new ArrayList<>();
    private final List<FinishedGeneration> generations = new CopyOnWriteArrayList<>();

    Exchange(
            Request request,
            Response response,
            String id,
            Route route,
            String principal,
            HttpLimits limits,
            ScheduledExecutorService clock) {
        this.request = request;
        this.response = response;
        this.id = id;
        this.route = route;
        this.principal = principal;
        this.limits = limits;
        this.clock = clock;
    }

    @Override
    public String method() {
        return request.getMethod();
    }

    @Override
    public String path() {
        return Request.getPathInContext(request);
    }

    @Override
    public String endpoint() {
        return route.path();
    }

    @Override
    public boolean open() {
        return route.open();
    }

    /// {@return what the path has below that of the route}
    public String rest() {
        return route.rest(path());
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String principal() {
        return principal;
    }

    /// @param name whose request it is
    void principal(String name) {
        principal = name;
    }

    @Override
    public String parameter(String name) {
        return Request.extractQueryParameters(request).getValue(name);
    }

    @Override
    public String header(String name) {
        return request.getHeaders().get(name);
    }

    /// Reads the body. What its content type is does not matter: clients such as curl send another one.
    ///
    /// @return the JSON object in it
    /// @throws RequestException if it is none, is too large, or comes too slowly
    public ObjectNode body() {
        return JsonBody.read(bytes());
    }

    /// Reads the body.
    ///
    /// @return the JSON array in it
    /// @throws RequestException if it is none, is too large, or comes too slowly
    public ArrayNode array() {
        return JsonBody.readArray(bytes());
    }

    /// Reads the body.
    ///
    /// @param expected its content type
    /// @return its bytes
    /// @throws RequestException if it has another type, is too large, or comes too slowly
    public byte[] body(String expected) {
        String type = header("Content-Type");
        String kind = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (!kind.equals(expected)) {
            throw RequestException.of(
                    WRONG_TYPE,
                    "invalid_request_error",
                    "unsupported_content_type",
                    "Content-Type is '" + printable(kind) + "'; expected " + expected + ".");
        }
        return bytes();
    }

    /// Reads the body.
    ///
    /// @return its bytes
    /// @throws RequestException if it is too large, or comes too slowly
    public byte[] bytes() {
        String encoding = header("Content-Encoding");
        if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
            throw RequestException.of(
                    WRONG_TYPE,
                    "invalid_request_error",
                    "unsupported_content_encoding",
                    "Content-Encoding is '" + printable(encoding) + "'; send the body without it.");
        }
        long announced = request.getLength();
        long most = (long) limits.bodyBytes() + limits.mediaBytes();
        if (announced > most) {
            throw tooLarge();
        }
        long begin = System.nanoTime();
        ByteArrayOutputStream body =
                new ByteArrayOutputStream(BUFFER_BYTES); // not what is announced: it may never come
        BodySize size = new BodySize();
        byte[] buffer = new byte[BUFFER_BYTES];
        try (InputStream in = Content.Source.asInputStream(request)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                size.add(buffer, read);
                if (body.size() + read > most || size.withoutFiles() > limits.bodyBytes()) {
                    throw tooLarge();
                }
                body.write(buffer, 0, read);
                requireSpeed(body.size(), System.nanoTime() - begin);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        bodyRead = true;
        return body.toByteArray();
    }

    private void requireSpeed(long bytes, long nanos) {
        if (nanos > limits.headerTime().toNanos() && bytes < limits.bodyBytesPerSecond() * (nanos / 1e9)) {
            throw RequestException.of(
                    TOO_SLOW,
                    "invalid_request_error",
                    "request_too_slow",
                    "The body comes slower than " + limits.bodyBytesPerSecond() + " bytes a second.");
        }
    }

    private RequestException tooLarge() {
        return RequestException.of(
                TOO_LARGE,
                "invalid_request_error",
                "request_too_large",
                "The body is larger than " + limits.bodyBytes() + " bytes, or with files in base64 by more than "
                        + limits.mediaBytes() + " bytes.");
    }

    /// Interrupts the calling thread, which is the request's, once the client has left. Called after the body was read,
    /// by what takes long; the connection ends with the answer.
    public void interruptWhenClientLeaves() {
        if (departure != null) {
            return;
        }
        mayTakeLong(); // silence of the client is what is expected
        response.getHeaders().put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE.asString());
        departure = new Departure(
                request.getConnectionMetaData().getConnection().getEndPoint(), Thread.currentThread()::interrupt);
        departure.begin();
    }

    /// {@return whether the client has left; for any thread}
    public boolean clientLeft() {
        return departure != null && departure.gone();
    }

    /// Answers with a document, status 200.
    ///
    /// @param body the document
    public void json(JsonNode body) {
        json(OK, body);
    }

    /// Answers with a document.
    ///
    /// @param status HTTP status
    /// @param body the document
    public void json(int status, JsonNode body) {
        write(status, "application/json", Json.bytes(body));
    }

    /// Answers with text.
    ///
    /// @param type its content type
    /// @param text the text
    public void text(String type, String text) {
        write(OK, type, text.getBytes(StandardCharsets.UTF_8));
    }

    /// Answers with status 200 and nothing else.
    public void empty() {
        write(OK, "text/plain", new byte[0]);
    }

    @Override
    public void answerHeader(String name, String value) {
        if (response.isCommitted()) {
            throw new IllegalStateException("the answer has begun");
        }
        response.getHeaders().put(name, value);
    }

    /// Has the request wait for as long as its work takes, though nothing is sent or read meanwhile.
    public void mayTakeLong() {
        request.addIdleTimeoutListener(timeout -> false);
    }

    /// Answers with bytes.
    ///
    /// @param status HTTP status
    /// @param type their content type, or null if there are none
    /// @param bytes the bytes
    public void write(int status, String type, byte[] bytes) {
        response.setStatus(status);
        if (type != null) {
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
        }
        try {
            Content.Sink.write(response, true, ByteBuffer.wrap(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// {@return the answer as a stream of events; the same one each time}
    public EventStream events() {
        return stream("text/event-stream; charset=utf-8", false);
    }

    /// {@return the answer as a stream of lines of JSON; the same one each time}
    public EventStream lines() {
        return stream("application/x-ndjson", true);
    }

    private EventStream stream(String type, boolean lines) {
        if (events == null) {
            response.setStatus(OK);
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-cache");
            response.getHeaders().put("X-Accel-Buffering", "no");
            events = new EventStream(response, clock, limits.pingTime(), lines);
        }
        return events;
    }

    /// Adds to the line of the access log. Counts and names only, nothing of a prompt or answer.
    ///
    /// @param text words of the form `name=value`
    public void note(String text) {
        note = note + ' ' + text;
    }

    /// Names fields that change nothing, in the header `X-Ignored-Fields` and the access log; before the answer.
    ///
    /// @param names the fields; more may follow
    public void ignores(Collection<String> names) {
        names.stream()
                .limit(Math.max(0, MOST_IGNORED - ignored.size()))
                .map(name -> printable(name).replaceAll("[^!-+--~]", "?"))
                .forEach(ignored::add);
        if (!ignored.isEmpty()) {
            answerHeader("X-Ignored-Fields", String.join(", ", ignored));
        }
    }

    /// Notes a reply that has come to its end; for any thread.
    ///
    /// @param generation the reply
    public void generated(FinishedGeneration generation) {
        generations.add(generation);
    }

    FinishedRequest finished(int status, Duration time) {
        String parent = header("traceparent");
        return new FinishedRequest(
                id,
                method(),
                route == null ? "none" : route.path(),
                principal,
                parent != null && TRACE_PARENT.matcher(parent).matches() ? parent : "",
                status,
                Instant.ofEpochMilli(Request.getTimeStamp(request)),
                time,
                generations);
    }

    String note() {
        return note + (ignored.isEmpty() ? "" : " ignored=" + String.join(",", ignored));
    }

    int status() {
        return response.getStatus();
    }

    /// Answers with an error, as a status where nothing was sent yet, else as an event of the stream.
    void fail(RequestException error, Endpoint endpoint) {
        ObjectNode body = endpoint.error(error);
        if (events != null && events.begun()) {
            events.send(endpoint.errorEvent(), body);
            return;
        }
        if (events != null) {
            events.end();
        }
        if (response.isCommitted()) {
            return;
        }
        if (!bodyRead
                && (request.getHeaders().contains(HttpHeader.CONTENT_LENGTH)
                        || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING))) {
            // The rest may still come, and the connection ends with it: who does not know would use it again.
            response.getHeaders().put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE.asString());
        }
        if (error.retryAfterSeconds() > 0) {
            response.getHeaders().put(HttpHeader.RETRY_AFTER, error.retryAfterSeconds());
        }
        if (error.status() == HttpStatus.NOT_IMPLEMENTED_501) {
            // The clients of OpenAI and Anthropic send again what ends with a status from 500 on.
            response.getHeaders().put("X-Should-Retry", "false");
        }
        json(error.status(), body);
    }

    /// Ends what goes on beside the request: no interrupt comes any more.
    void end() {
        if (departure != null) {
            departure.end();
        }
        if (events != null) {
            events.end();
        }
        Thread.interrupted();
    }

    /// {@return a text of a client without control characters, cut to a line}
    ///
    /// @param text what the client sent
    public static String printable(String text) {
        int most = Math.min(text.length(), 100);
        return text.substring(0, most).replaceAll("\\p{Cntrl}", "?") + (most < text.length() ? "..." : "");
    }
}
