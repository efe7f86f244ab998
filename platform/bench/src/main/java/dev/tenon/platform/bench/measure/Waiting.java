package dev.tenon.platform.bench.measure;

import java.util.concurrent.CountDownLatch;

/// Waits to the end, however often the thread is interrupted; the interrupt is kept for later.
final class Waiting {
    private Waiting() {}

    /// What may be interrupted.
    @FunctionalInterface
    private interface Wait {
        void run() throws InterruptedException;
    }

    /// Waits until a latch is open.
    ///
    /// @param latch the latch
    static void await(CountDownLatch latch) {
        untilDone(latch::await);
    }

    /// Waits until a thread has ended.
    ///
    /// @param thread the thread
    static void join(Thread thread) {
        untilDone(thread::join);
    }

    private static void untilDone(Wait wait) {
        boolean interrupted = false;
        while (true) {
            try {
                wait.run();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
