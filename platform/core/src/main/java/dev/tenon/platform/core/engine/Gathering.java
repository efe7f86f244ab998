package dev.tenon.platform.core.engine;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.function.LongBinaryOperator;

/// Knows which sessions are expected to want the next step, and how long to wait for them: those that took
/// part in the last step or have just begun a call, and have not left since.
///
/// Whoever does not come in time is not expected again until it has come; if that happens again and again,
/// not before it has come once, three, seven ... 63 times more. So a slow consumer soon costs the others
/// hardly anything. Guarded by the scheduler's lock.
final class Gathering {
    /// Of the last step's time, what the next one may wait for: an eighth.
    private static final int WAIT_SHARE = 8;

    private static final long LEAST_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(300);
    /// So much longer for each session that is missing: waking many takes its time.
    private static final long WAIT_NANOS_EACH = TimeUnit.MICROSECONDS.toNanos(10);
    /// Most times in a row of being late that count.
    private static final int MOST_LATE = 6;

    private final LongBinaryOperator longestWait;
    /// The session that waits for the others, or null.
    private StepItem gatherer;
    /// Until when it does, as [System#nanoTime].
    private long until;
    /// Sessions with [StepItem#expected].
    private int expected;

    /// @param longestWait nanoseconds to wait, from the nanoseconds of the last step and the number of
    ///     sessions that are missing
    Gathering(LongBinaryOperator longestWait) {
        this.longestWait = longestWait;
    }

    /// The usual rule for waiting.
    static long longestWait(long stepNanos, long missing) {
        return Math.max(LEAST_WAIT_NANOS + missing * WAIT_NANOS_EACH, stepNanos / WAIT_SHARE);
    }

    /// Expects a session that has begun a call.
    void expect(StepItem item) {
        if (!item.expected) {
            item.expected = true;
            expected++;
        }
    }

    /// Expects a session that took part in a step, unless it is excused.
    void expectAgain(StepItem item) {
        if (item.excused > 0) {
            item.excused--;
        } else {
            expect(item);
        }
    }

    /// Notes that a session is there.
    void come(StepItem item) {
        if (item.expected) {
            item.timesLate = 0;
            forget(item);
        }
    }

    /// Notes that a session will not come.
    void leave(StepItem item) {
        forget(item);
        if (expected == 0 && gatherer != null) {
            gatherer.call();
        }
    }

    private void forget(StepItem item) {
        if (item.expected) {
            item.expected = false;
            expected--;
        }
    }

    /// {@return how long a session that is there shall sleep before it asks again, if nobody calls it; 0
    ///     if a step shall begin, since everybody is there or the first one's patience is at an end}
    ///
    /// @param item the session's
    /// @param lastStepNanos how long the last step took
    /// @param sessions all of them
    long nanosToWait(StepItem item, long lastStepNanos, Collection<StepItem> sessions) {
        if (expected == 0) {
            return 0;
        }
        if (gatherer == null) {
            gatherer = item;
            until = System.nanoTime() + longestWait.applyAsLong(lastStepNanos, expected);
        }
        if (gatherer != item) {
            return Long.MAX_VALUE;
        }
        long left = until - System.nanoTime();
        if (left > 0) {
            return left;
        }
        sessions.forEach(Gathering::late);
        expected = 0;
        return 0;
    }

    private static void late(StepItem item) {
        if (item.expected) {
            item.expected = false;
            item.excused = (1 << item.timesLate) - 1;
            item.timesLate = Math.min(item.timesLate + 1, MOST_LATE);
        }
    }

    /// Ends the waiting, because a step begins or nothing is there to wait for.
    void end() {
        gatherer = null;
    }

    /// {@return who waits for others, or null}
    StepItem gatherer() {
        return gatherer;
    }
}
