package dev.tenon.platform.server.http;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The requests that use something that may be taken away. Safe for any thread.
public final class Use {
    /// That of what stays as long as the server.
    public static final Use FOREVER = new Use();

    private static final Duration AFTER_INTERRUPT = Duration.ofSeconds(1);

    /// Threads of requests; one that began twice is there twice.
    private final List<Thread> users = new ArrayList<>();
    private boolean closed;

    /// Begins to use it on this thread.
    ///
    /// @return whether it is there; then this thread calls [#end()]
    synchronized boolean begin() {
        if (this != FOREVER && !closed) {
            users.add(Thread.currentThread());
        }
        return !closed;
    }

    synchronized void end() {
        if (users.remove(Thread.currentThread()) && users.isEmpty()) {
            notifyAll();
        }
    }

    /// Lets nobody begin any more, and waits for those that have.
    ///
    /// @param limit how long; those that are left then are interrupted
    public synchronized void close(Duration limit) {
        closed = true;
        try {
            await(limit);
            users.forEach(Thread::interrupt);
            await(AFTER_INTERRUPT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void await(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (long left = limit.toNanos(); left > 0 && !users.isEmpty(); left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }
}
