package dev.tenon.platform.grammar.expr;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.TokenConstraint;

/// Counts what is done for a grammar, so that too much of it ends: in units that take some ten
/// nanoseconds, and the same ones wherever it runs. Not safe for several threads.
public final class Work {
    /// After so many units it looks whether its thread was interrupted.
    private static final long LOOK = 1 << 16;

    private String what;
    private boolean quick;
    private long begun;
    private long most;
    /// Units until it looks again, and those after that.
    private long left;

    private long later;

    /// Begins to count.
    ///
    /// @param subject what is done, for the message, such as `Compiling the grammar`
    /// @param units most units; beyond them it fails with `GRAMMAR-003`
    Work(String subject, long units) {
        begin(subject, units);
    }

    /// Counts from the start again.
    ///
    /// @param subject what is done, for the message, such as `Compiling the grammar`
    /// @param units most units; beyond them it fails with `GRAMMAR-003`
    public void begin(String subject, long units) {
        begin(subject, units, units, false);
    }

    /// Goes on to count.
    ///
    /// @param subject what is done, for the message
    /// @param units units that are left
    /// @param limit how many there were at first, for the message
    public void begin(String subject, long units, long limit) {
        begin(subject, units, limit, false);
    }

    /// Counts from the start again, on a thread that others wait for.
    ///
    /// @param units most units; beyond them a [TokenConstraint.LateException] is thrown
    public void beginQuick(long units) {
        begin("", units, units, true);
    }

    private void begin(String subject, long units, long limit, boolean inHaste) {
        what = subject;
        quick = inHaste;
        begun = units;
        most = limit;
        left = Math.min(units, LOOK);
        later = units - left;
    }

    /// {@return how many units were counted}
    public long done() {
        return begun - later - left;
    }

    /// Counts what is about to be done.
    ///
    /// @param units how much
    /// @throws GrammarException (`GRAMMAR-003`) if it is too much
    /// @throws TenonException (`INTERRUPTED`) if the thread was interrupted
    public void add(long units) {
        left -= units;
        if (left < 0) {
            goOn();
        }
    }

    private void goOn() {
        if (left + later < 0) {
            if (quick) {
                throw new TokenConstraint.LateException();
            }
            throw GrammarException.limit(
                    what + " takes more than " + most + " steps. Make its repetitions and alternatives fewer.");
        }
        if (!quick && Thread.currentThread().isInterrupted()) {
            throw new TenonException(ErrorCode.INTERRUPTED, what + " was interrupted.");
        }
        long more = Math.min(later, LOOK - left);
        left += more;
        later -= more;
    }
}
