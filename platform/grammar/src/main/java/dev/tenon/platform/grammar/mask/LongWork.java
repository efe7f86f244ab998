package dev.tenon.platform.grammar.mask;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/// Does what may take long, so that the rest of the program goes on beside it: on a quarter of the processors, and
/// not on a virtual thread, whose carrier other ones wait for.
public final class LongWork {
    private static final Semaphore PROCESSORS =
            new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() / 4), true);
    private static final long STACK_BYTES = 16 << 20;

    private LongWork() {}

    /// Does something when it is its turn, and waits for it.
    ///
    /// @param <T> what comes of it
    /// @param work does it; must not call this again
    /// @return what came of it
    /// @throws TenonException (`INTERRUPTED`) if the thread is interrupted; the work is interrupted, too
    public static <T> T call(Supplier<T> work) {
        return Thread.currentThread().isVirtual() ? elsewhere(() -> inTurn(work)) : inTurn(work);
    }

    private static <T> T inTurn(Supplier<T> work) {
        try {
            PROCESSORS.acquire();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        try {
            return work.get();
        } finally {
            PROCESSORS.release();
        }
    }

    private static <T> T elsewhere(Supplier<T> work) {
        FutureTask<T> task = new FutureTask<>(work::get);
        Thread.ofPlatform()
                .name("tenon-grammar")
                .daemon(true)
                .stackSize(STACK_BYTES)
                .inheritInheritableThreadLocals(false)
                .start(task);
        try {
            return task.get();
        } catch (InterruptedException e) {
            task.cancel(true);
            throw interrupted(e);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    private static TenonException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new TenonException(ErrorCode.INTERRUPTED, "Work on a grammar was interrupted.", e);
    }
}
