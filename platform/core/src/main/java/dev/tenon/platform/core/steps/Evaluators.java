package dev.tenon.platform.core.steps;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// The sequences that were just evaluated and are expected back at once. A step waits a moment for
/// them, so that callers that evaluate in parallel share steps; not for a sequence that came too
/// late the last time. Guarded by the lock of the [StepLoop].
final class Evaluators {
    /// Of the last step's time, what the next one may wait for: an eighth.
    private static final int WAIT_SHARE = 8;

    private static final long LEAST_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(300);
    /// So much longer for each sequence that is missing: waking many takes its time.
    private static final long WAIT_NANOS_EACH = TimeUnit.MICROSECONDS.toNanos(10);

    /// Sequences that are expected back.
    private final Set<TokenSequence> expected = Collections.newSetFromMap(new IdentityHashMap<>());
    /// Sequences that were not back in time.
    private final Set<TokenSequence> late = Collections.newSetFromMap(new IdentityHashMap<>());
    /// Until when each sequence is back in time, as [System#nanoTime].
    private final Map<TokenSequence, Long> due = new IdentityHashMap<>();
    /// Sequences of the step that is ending.
    private final List<TokenSequence> ran = new ArrayList<>();
    /// Until when the expected ones are waited for.
    private long until;

    /// Notes that a sequence was evaluated in the step that is ending.
    void ran(TokenSequence sequence) {
        ran.add(sequence);
    }

    /// Notes the end of a step: those that it evaluated are expected from now on.
    void stepEnded(long nanos) {
        if (ran.isEmpty()) {
            return;
        }
        until = System.nanoTime() + Math.max(LEAST_WAIT_NANOS + ran.size() * WAIT_NANOS_EACH, nanos / WAIT_SHARE);
        for (TokenSequence sequence : ran) {
            due.put(sequence, until);
            if (!late.contains(sequence)) {
                expected.add(sequence);
            }
        }
        ran.clear();
    }

    /// Notes that a sequence is back.
    void arrive(TokenSequence sequence) {
        expected.remove(sequence);
        Long limit = due.remove(sequence);
        if (limit != null && System.nanoTime() - limit > 0) {
            late.add(sequence);
        } else {
            late.remove(sequence);
        }
    }

    /// Forgets a sequence.
    void leave(TokenSequence sequence) {
        expected.remove(sequence);
        late.remove(sequence);
        due.remove(sequence);
    }

    /// {@return how long to wait for others; 0 if nobody is expected any more}
    long nanosToWait() {
        if (expected.isEmpty()) {
            return 0;
        }
        long left = until - System.nanoTime();
        if (left > 0) {
            return left;
        }
        expected.clear();
        return 0;
    }
}
