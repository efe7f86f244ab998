package dev.tenon.platform.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.platform.chat.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;

/// An answer that is a stream of server-sent events, or of lines of JSON. It begins with the first event, or with a
/// comment line after some silence, which lines of JSON cannot have; until then the request can still be refused by a
/// status. Safe for any thread.
///
/// A write blocks while the client does not read, and fails when it has not read for as long as a connection may be
/// idle.
public final class EventStream {
    private static final byte[] PING = ": ping\n\n".getBytes(StandardCharsets.UTF_8);

    private final Response response;
    private final long pingNanos;
    private final boolean lines;
    private final ScheduledFuture<?> pings;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean begun;
    private volatile long written = System.nanoTime();
    private boolean ended;

    /// @param response headers are set, nothing is written
    /// @param clock schedules comment lines
    /// @param pingTime after how long without an event a comment line is sent
    /// @param lines whether events are lines of JSON
    EventStream(Response response, ScheduledExecutorService clock, Duration pingTime, boolean lines) {
        this.response = response;
        this.lines = lines;
        this.pingNanos = pingTime.toNanos();
        this.pings = clock.scheduleWithFixedDelay(this::pingIfSilent, pingNanos, pingNanos / 2, TimeUnit.NANOSECONDS);
    }

    /// {@return whether something was sent}
    boolean begun() {
        return begun;
    }

    /// Sends an event without a name.
    ///
    /// @param data the event
    /// @throws UncheckedIOException if the client has left, or does not read
    public void send(JsonNode data) {
        send(null, data);
    }

    /// Sends an event.
    ///
    /// @param name its name, or null
    /// @param data the event
    /// @throws UncheckedIOException if the client has left, or does not read
    public void send(String name, JsonNode data) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (lines) {
            out.writeBytes(Json.bytes(data));
            out.write('\n');
            write(out.toByteArray());
            return;
        }
        if (name != null) {
            out.writeBytes(("event: " + name + "\n").getBytes(StandardCharsets.UTF_8));
        }
        out.writeBytes("data: ".getBytes(StandardCharsets.UTF_8));
        out.writeBytes(Json.bytes(data));
        out.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
        write(out.toByteArray());
    }

    /// Sends the mark that ends streams of OpenAI's older end points.
    ///
    /// @throws UncheckedIOException if the client has left, or does not read
    public void sendDone() {
        write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
    }

    private void write(byte[] bytes) {
        lock.lock();
        try {
            if (!ended) {
                begun = true;
                Content.Sink.write(response, false, ByteBuffer.wrap(bytes));
                written = System.nanoTime();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    private void pingIfSilent() {
        if (!lines && System.nanoTime() - written >= pingNanos && !lock.isLocked()) {
            written = System.nanoTime();
            Thread.ofVirtual().name("tenon-ping").start(this::ping);
        }
    }

    private void ping() {
        try {
            write(PING);
        } catch (UncheckedIOException e) {
            // The client has left, which the next event, or whoever watches the connection, finds out too.
            pings.cancel(false);
        }
    }

    /// Ends the stream. Nothing is sent any more.
    void end() {
        pings.cancel(false);
        lock.lock();
        try {
            ended = true;
        } finally {
            lock.unlock();
        }
    }
}
