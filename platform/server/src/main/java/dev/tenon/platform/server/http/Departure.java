package dev.tenon.platform.server.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.Callback;

/// Notices that a client has left while nothing is sent to it.
///
/// Once a request's body is read, Jetty reads no more of its connection until the answer is complete; this reads it
/// meanwhile, and sees its end. What a client sends before the answer is dropped, so the answer has to end the
/// connection.
final class Departure implements Callback {
    private static final int BUFFER_BYTES = 1024;

    private final EndPoint endPoint;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private final Runnable onGone;
    /// Whether nobody wants to know any more. Guarded by this.
    private boolean ended;
    private volatile boolean gone;

    /// @param endPoint the connection
    /// @param onGone called once, on a thread of the HTTP server, when the client has left
    Departure(EndPoint endPoint, Runnable onGone) {
        this.endPoint = endPoint;
        this.onGone = onGone;
    }

    void begin() {
        endPoint.tryFillInterested(this);
    }

    /// Ends the watch: nothing is called any more once this returns.
    synchronized void end() {
        ended = true;
    }

    /// {@return whether the client has left}
    boolean gone() {
        return gone;
    }

    @Override
    public void succeeded() {
        try {
            int read;
            do {
                buffer.clear().flip();
                read = endPoint.fill(buffer);
            } while (read > 0);
            if (read < 0) {
                left();
            } else {
                again();
            }
        } catch (IOException e) {
            left();
        }
    }

    @Override
    public void failed(Throwable cause) {
        if (cause instanceof TimeoutException && endPoint.isOpen()) {
            again();
        } else {
            left();
        }
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.NON_BLOCKING;
    }

    private synchronized void again() {
        if (!ended) {
            endPoint.tryFillInterested(this);
        }
    }

    private synchronized void left() {
        if (!ended) {
            ended = true;
            gone = true;
            onGone.run();
        }
    }
}
