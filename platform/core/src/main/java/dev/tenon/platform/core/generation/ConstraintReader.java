package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenConstraint.LateException;
import dev.tenon.api.text.Tokenizer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Has a constraint read the tokens of a generation: which ones follow each of them in any case, and the mask after
/// those. On the calling thread as far as the constraint is quick; the rest is done by a thread of its own, and
/// meanwhile the generation is late. Used by the thread that drives the steps.
final class ConstraintReader {
    private static final int[] NONE = {};
    private static final ExecutorService THREADS = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), ConstraintReader::thread);

    private final TokenConstraint constraint;
    private final boolean canBeQuick;
    /// Whether tokens that follow in any case are asked for.
    private final boolean forces;
    private final long[] mask;
    private final Runnable onRead;
    private boolean late;
    /// What a thread does while the generation is late.
    private Future<?> reading;
    /// Whether it has come to an end; what it wrote to the other fields can be seen then.
    private volatile boolean read;

    // How far it has come.
    private int token = -1;
    private int[] forced = NONE;
    private int accepted;
    private boolean ended;
    private int unmasked;
    private RuntimeException failure;
    /// How many of the forced tokens were taken.
    private int taken;

    /// Begins with the mask before the first token.
    ///
    /// {@return the reader of what a request's tokens have to be; null if they may be anything}
    ///
    /// @param onRead called when a mask has been made that was late
    static ConstraintReader of(GenerationRequest request, Tokenizer tokenizer, int vocabularySize, Runnable onRead) {
        TokenConstraint rule = RuledTokens.of(request, tokenizer, vocabularySize);
        boolean forces = request.logProbabilities() < 0; // those are wanted of all tokens
        return rule == null ? null : new ConstraintReader(rule, forces, vocabularySize, onRead);
    }

    /// @param constraint the constraint, for this reader alone
    /// @param forces whether tokens that follow in any case are asked for
    /// @param vocabularySize tokens that a mask has
    /// @param onRead called when the generation need not be late any more, on another thread
    ConstraintReader(TokenConstraint constraint, boolean forces, int vocabularySize, Runnable onRead) {
        this.constraint = constraint;
        this.forces = forces;
        this.mask = new long[(vocabularySize + Long.SIZE - 1) / Long.SIZE];
        this.onRead = onRead;
        this.canBeQuick = constraint.quick(false);
        read();
    }

    /// {@return which tokens may come next, unless late}
    long[] mask() {
        return mask;
    }

    /// {@return how many of the next tokens need no mask, unless late}
    int unmasked() {
        return canBeQuick ? unmasked : 0;
    }

    /// {@return whether a token is still being read}
    boolean late() {
        return late;
    }

    /// Ends being late if that can be.
    ///
    /// @return whether it is late no longer
    boolean arrived() {
        late = late && !read;
        return !late;
    }

    /// {@return whether the text is over after the tokens that were read and taken}
    boolean ended() {
        return ended && taken == forced.length;
    }

    /// Has the constraint read a token, all before it having been taken.
    void accept(int next) {
        token = next;
        accepted = 0;
        taken = 0;
        read();
    }

    /// {@return the next token that follows in any case; -1 if there is none}
    ///
    /// @throws RuntimeException why the constraint failed
    int nextForced() {
        if (taken < forced.length) {
            return forced[taken++];
        }
        if (failure != null) {
            throw failure;
        }
        return -1;
    }

    /// Has the thread end, if the constraint heeds its interruption.
    void cancel() {
        if (late) {
            reading.cancel(true);
        }
    }

    private void read() {
        if (canBeQuick) {
            try {
                constraint.quick(true);
                readOn();
                return;
            } catch (LateException e) {
                // it has changed nothing, and goes on from there
            } finally {
                constraint.quick(false);
            }
        }
        late = true;
        read = false;
        reading = THREADS.submit(() -> {
            readOn();
            read = true;
            onRead.run();
        });
    }

    private static Thread thread(Runnable task) {
        Thread thread = Thread.ofPlatform()
                .name("tenon-mask")
                .daemon(true)
                .inheritInheritableThreadLocals(false)
                .unstarted(task);
        thread.setContextClassLoader(null);
        return thread;
    }

    /// Goes on from where it has come.
    private void readOn() {
        try {
            if (token >= 0) {
                forced = NONE;
                constraint.accept(token);
                token = -1;
                accepted = -1;
            }
            if (accepted < 0) {
                forced = forces && !constraint.isEnded() ? constraint.forced() : NONE;
                accepted = 0;
            }
            for (; accepted < forced.length; accepted++) {
                constraint.accept(forced[accepted]);
            }
            ended = constraint.isEnded();
            if (!ended) {
                constraint.mask(mask);
                unmasked = constraint.unmasked();
            }
        } catch (LateException e) {
            throw e;
        } catch (TenonException | IllegalArgumentException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            failure = new BackendException(ErrorCode.BACKEND_FAILED, "A constraint failed: " + e, 0, e);
        }
    }
}
