package dev.tenon.platform.core.engine;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// Waits for another thread of a test, but not for one that has ended.
final class Waiting {
    private Waiting() {}

    /// Returns when the latch is open.
    ///
    /// @param latch opened by the other thread
    /// @param thread what the other thread does
    /// @throws ExecutionException if that failed before it opened the latch, with its reason
    static void until(CountDownLatch latch, Future<?> thread) throws InterruptedException, ExecutionException {
        while (!latch.await(50, TimeUnit.MILLISECONDS)) {
            if (thread.isDone() && latch.getCount() > 0) {
                thread.get();
                throw new AssertionError("the thread ended before what is waited for");
            }
        }
    }

    /// Returns when the latch is open; for code that may not throw.
    ///
    /// @param latch opened by another thread
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
