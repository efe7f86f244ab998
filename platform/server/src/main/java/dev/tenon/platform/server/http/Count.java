package dev.tenon.platform.server.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// How many of something there are now. Safe for any thread.
final class Count {
    private int number;

    /// Changes it.
    ///
    /// @param by 1 or -1
    synchronized void add(int by) {
        number += by;
        if (number == 0) {
            notifyAll();
        }
    }

    synchronized int get() {
        return number;
    }

    /// Waits until there is none.
    ///
    /// @param limit how long at most
    /// @throws InterruptedException if the thread is interrupted
    synchronized void awaitNone(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (long left = limit.toNanos(); number > 0 && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }
}
