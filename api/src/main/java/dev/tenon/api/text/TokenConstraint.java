package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Says which tokens may come next in one sequence: where a reply has come in a grammar. Has a
/// state; calls come one after the other, though from several threads. An exception ends the
/// generation.
///
/// The engine makes all calls but [#quick(boolean)] on threads of its own, which may take their
/// time: its sequence stays out of the steps until they have returned, and no other one waits. Such
/// a thread is interrupted when the generation is cancelled. Handing each token over costs time,
/// which a constraint saves that can be quick.
@ConsumerType
public interface TokenConstraint {
    /// Writes which tokens may come next. Tokens that end a generation are among them only where
    /// the text may end.
    ///
    /// @param words bit `id % 64` of word `id / 64` is set if the token may come next; overwritten
    ///     whole; at least `(vocabularySize + 63) / 64` words
    void mask(long[] words);

    /// Notes a token that became part of the sequence.
    ///
    /// @param token token id; one that the mask has
    /// @throws IllegalArgumentException if it may not come next
    void accept(int token);

    /// {@return whether the text may end here}
    boolean isComplete();

    /// {@return whether nothing may follow, so that the generation ends without a token that says
    ///     so}
    boolean isEnded();

    /// {@return tokens that come next in any case, so that they need no sampling; empty if there
    ///     are none. They are noted by [#accept(int)] like others; owned by the caller}
    default int[] forced() {
        return new int[0];
    }

    /// {@return how many of the next tokens, at least, may be any, whatever they are: for them no mask is needed; 0
    ///     if only [#mask] says}. Such tokens are noted like others, and the text may end after each
    default int unmasked() {
        return 0;
    }

    /// Says how long the calls that follow may take. While the constraint is to be quick, a call
    /// that would take longer than a few hundred microseconds changes nothing and throws a
    /// [LateException]; it is made again, without haste. Never waits.
    ///
    /// @param wanted whether it is to be quick from now on
    /// @return whether the constraint does so: only then its calls may be made on a thread that
    ///     other sequences wait for
    default boolean quick(boolean wanted) {
        return false;
    }

    /// A call would take too long, of a constraint that is to be [quick][#quick(boolean)]. It has
    /// changed nothing.
    final class LateException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /// Makes one without a stack trace: it is no error.
        public LateException() {
            super("the call takes longer than it may", null, false, false);
        }
    }

    /// {@return a constraint in the same state, which goes on on its own}
    TokenConstraint copy();
}
