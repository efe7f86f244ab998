package dev.tenon.platform.core.engine;

import dev.tenon.api.device.TokenChoice;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.IntPredicate;

/// What one session wants of the next step, and what it got. Reused from step to step, so that decoding
/// allocates nothing.
final class StepItem {
    /// For [#logitsFrom]: no logits.
    static final int NO_LOGITS = Integer.MAX_VALUE;

    final TokenSequence sequence;
    /// Tokens from this index in the sequence on want logits.
    int logitsFrom = NO_LOGITS;
    /// Whether nobody reads the logits of this call.
    boolean unread;
    /// How a device may choose the tokens behind the pending one; null if the session has to.
    TokenChoice choice;
    /// Most tokens that a device may choose.
    int mostTokens;
    /// Tells tokens that end the text.
    IntPredicate ends = token -> false;
    /// Takes chosen tokens as they come, on the session's thread; tells whether it wants more.
    IntPredicate taker = token -> false;
    /// Whether the step has run for this item, well or not.
    boolean done;
    /// Tokens that the step ran.
    int ran;
    /// Index in the sequence of the first token with logits.
    int firstRow;
    /// Rows with logits.
    int rows;
    /// Signalled when the item is done or may lead; made by the scheduler.
    Condition ready;
    /// Whether the scheduler expects the session to want another step soon.
    boolean expected;
    /// Why the step failed for this item, or null.
    RuntimeException error;
    /// Set when the sequence moved to another placement, for the session to tell its listener; else null.
    String moved;

    /// Tokens that the device chose in the last step, in place of logits. They belong to the sequence; the last
    /// one has not been run.
    int chosen;
    /// How many of them went to the taker.
    int taken;

    private final List<float[]> logits = new ArrayList<>();
    private final int vocabSize;

    StepItem(TokenSequence sequence, int vocabSize) {
        this.sequence = sequence;
        this.vocabSize = vocabSize;
    }

    void reset() {
        done = false;
        ran = 0;
        rows = 0;
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
