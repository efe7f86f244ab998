package dev.tenon.platform.core.engine;

import dev.tenon.api.device.TokenChoice;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

/// What one session wants of the next step, and what it got. Reused from step to step, so that
/// decoding allocates nothing.
final class StepItem {
    /// For [#logitsFrom]: no logits.
    static final int NO_LOGITS = Integer.MAX_VALUE;

    final TokenSequence sequence;
    /// Tokens from this index in the sequence on want logits.
    int logitsFrom = NO_LOGITS;
    /// Whether nobody reads the logits of this call.
    boolean unread;
    /// How a device may choose the tokens behind the pending ones; null if the session has to.
    TokenChoice choice;
    /// Most tokens that a device may choose.
    int mostTokens;
    /// Tells tokens that end the text.
    IntPredicate ends = token -> false;
    /// Takes chosen tokens as they come, on the session's thread; tells whether it wants more.
    IntPredicate taker = token -> false;
    /// Whether the step has run for this item, well or not. Whatever else the step says about it
    /// was written before.
    volatile boolean done;
    /// Tokens that the step ran.
    int ran;
    /// Index in the sequence of the first token with logits.
    int firstRow;
    /// Rows with logits, or with a token in their place.
    int rows;
    /// The token that the device chose behind the last row of a step that others run too; -1 if it
    /// chose none.
    int token = -1;
    /// Whether the running step is for this item.
    boolean inBatch;
    /// Whether the scheduler expects the session to want another step soon.
    boolean expected;
    /// How often in a row the session was expected and did not come in time.
    int timesLate;
    /// In how many steps it will take part without being expected behind them.
    int excused;
    /// Why the step failed for this item, or null.
    RuntimeException error;
    /// Set when the sequence moved to another placement, for the session to tell its listener; else
    /// null.
    String moved;

    /// Tokens that the device chose in the last step, in place of logits. They belong to the
    /// sequence; the last one has not been run.
    int chosen;
    /// How many of them went to the taker.
    int taken;

    /// Most items that one wakes.
    private static final int WAKES = 4;

    /// The thread that waits for the step.
    private volatile Thread thread;
    /// Whether it has to look whether it may lead.
    private volatile boolean called;
    /// The items of the last step, and this one's place among them; null if it has nobody to wake.
    private StepItem[] group;
    private int place;

    private final List<float[]> logits = new ArrayList<>();
    private final int vocabSize;

    StepItem(TokenSequence sequence, int vocabSize) {
        this.sequence = sequence;
        this.vocabSize = vocabSize;
    }

    /// Makes the item ready for a step that a thread will wait for.
    void reset(Thread waits) {
        thread = waits;
        done = false;
        inBatch = false;
        ran = 0;
        rows = 0;
        token = -1;
        chosen = 0;
        taken = 0;
        error = null;
    }

    /// Makes the item that of a new call.
    void begin() {
        logitsFrom = NO_LOGITS;
        unread = false;
        choice = null;
    }

    /// {@return whether a token at a position ends what the session has to run, so that a device
    /// may choose the next one}
    boolean choosesBehind(int position) {
        return choice != null && position == sequence.length() - 1;
    }

    /// Notes that the step ran for this item.
    void ran() {
        if (chosen == 0) {
            sequence.advance(ran);
        }
        if (token >= 0) {
            sequence.append(token);
            chosen = 1;
        }
    }

    /// Sleeps until the item is done or called, or the time is over.
    ///
    /// @param nanos the time; [Long#MAX_VALUE] is for ever
    void sleep(long nanos) {
        boolean interrupted = false;
        long begin = System.nanoTime();
        while (!done && !called) {
            long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - begin);
            if (left <= 0) {
                break;
            }
            if (left == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, left);
            }
            interrupted |= Thread.interrupted();
        }
        called = false;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Has the waiting thread look whether it may lead.
    void call() {
        called = true;
        wake();
    }

    /// Wakes the waiting thread, which sleeps on if it is neither done nor called.
    void wake() {
        LockSupport.unpark(thread);
    }

    /// Makes items done. The first one to be woken wakes a few others, each of them a few more, and
    /// so on: waking hundreds one after the other takes longer than some steps do.
    ///
    /// @param items the items; their order may change
    /// @param first who is to be woken first, or another one if it is not among them
    /// @return who is to be woken first; `first` if there are no items
    static StepItem done(List<StepItem> items, StepItem first) {
        if (items.isEmpty()) {
            return first;
        }
        Collections.swap(items, 0, Math.max(0, items.indexOf(first)));
        StepItem[] group = items.size() == 1 ? null : items.toArray(new StepItem[0]);
        // Backwards, because whoever is done wakes those behind it.
        for (int i = items.size() - 1; i >= 0; i--) {
            StepItem item = items.get(i);
            item.group = group;
            item.place = i;
            item.done = true;
        }
        return items.getFirst();
    }

    /// Wakes those whom this item has to wake, now that it is done.
    void wakeOthers() {
        StepItem[] all = group;
        if (all != null) {
            group = null;
            int from = WAKES * place + 1;
            for (int i = from; i < Math.min(from + WAKES, all.length); i++) {
                all[i].wake();
            }
        }
    }

    int pending() {
        return sequence.length() - sequence.computed();
    }

    float[] row(int index) {
        while (logits.size() <= index) {
            logits.add(new float[vocabSize]);
        }
        return logits.get(index);
    }

    /// Throws the step's error, with this thread's stack as its cause's caller.
    void rethrow() {
        if (error instanceof TenonException || error instanceof IllegalArgumentException) {
            throw error;
        }
        if (error != null) {
            throw new IllegalStateException("a step failed: " + error, error);
        }
    }
}
