package dev.tenon.platform.server.queue;

/// As many requests wait as may.
public final class QueueFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    QueueFullException(int waiting) {
        super(waiting + " requests wait already");
    }
}
