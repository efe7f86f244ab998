package dev.tenon;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The sequences of a model as places: who wants one waits for its turn, the first one first. Safe for any thread.
final class Places {
    private final int count;
    private final Semaphore free;

    Places(int count) {
        this.count = count;
        this.free = new Semaphore(count, true);
    }

    /// Takes a place, which is released. Blocks.
    ///
    /// @param limit how long to wait; null without a limit
    /// @return whether there was one in this time
    /// @throws TenonException (`STATE-004`) if the thread is interrupted
    boolean take(@Nullable Duration limit) {
        try {
            if (limit != null) {
                return free.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS);
            }
            free.acquire();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TenonException(
                    ErrorCode.INTERRUPTED, "The thread was interrupted while it waited for a place.", e);
        }
    }

    void release() {
        free.release();
    }

    /// Does work on items of which each takes a sequence if it can have one: in as many places as are free, at least
    /// one. Blocks.
    ///
    /// @param items the items
    /// @param work does it for some of them
    /// @return the results, in the order of the items
    /// @throws TenonException (`STATE-004`) if the thread is interrupted
    <T, R> List<R> each(List<T> items, Function<List<T>, List<R>> work) {
        take(null);
        int taken = 1;
        while (taken < Math.min(items.size(), count) && free.tryAcquire()) {
            taken++;
        }
        try {
            int step = taken == count ? items.size() : taken;
            List<R> results = new ArrayList<>();
            for (int from = 0; from < items.size(); from += step) {
                results.addAll(work.apply(items.subList(from, Math.min(from + step, items.size()))));
            }
            return results;
        } finally {
            free.release(taken);
        }
    }

    /// {@return how many are taken}
    int taken() {
        return count - free.availablePermits();
    }

    /// {@return how many wait, about}
    int waiting() {
        return free.getQueueLength();
    }

    /// Waits until those have ended who had or wanted a place before.
    ///
    /// @throws InterruptedException if the thread is interrupted
    void awaitIdle() throws InterruptedException {
        free.acquire(count);
        free.release(count);
    }
}
