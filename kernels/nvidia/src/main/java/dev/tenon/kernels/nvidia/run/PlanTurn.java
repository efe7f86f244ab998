package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.util.concurrent.locks.ReentrantLock;

/// Whose turn it is at a plan: its calls come one after the other, from any thread, none of them within
/// another one, and none after it was closed.
public final class PlanTurn {
    private final ReentrantLock lock = new ReentrantLock();
    private boolean closed;

    /// Makes the turn of an open plan.
    public PlanTurn() {}

    /// Begins a call, once those before it have ended; [#end] ends it.
    ///
    /// @param call what messages call it
    /// @throws BackendException (`CLOSED`) if the plan was closed
    /// @throws IllegalStateException if the call comes from the sink of a generation, while steps are under
    ///     way
    public void begin(String call) {
        lock.lock();
        boolean refused = true;
        try {
            requireOpen();
            requireOutside(call);
            refused = false;
        } finally {
            if (refused) {
                lock.unlock();
            }
        }
    }

    /// Waits until the calls of other threads have ended, even after the plan was closed, or within a call
    /// of this thread; [#end] ends it.
    public void await() {
        lock.lock();
    }

    /// Ends what [#begin] or [#await] began.
    public void end() {
        lock.unlock();
    }

    /// Refuses a closed plan.
    ///
    /// @throws BackendException (`CLOSED`) if the plan was closed
    void requireOpen() {
        if (closed) {
            throw new BackendException(ErrorCode.CLOSED, "the plan was closed; load the model again");
        }
    }

    private void requireOutside(String call) {
        if (lock.getHoldCount() > 1) {
            throw new IllegalStateException(
                    "a plan's " + call + " was called by the sink of its own generation, while steps are under way;"
                            + " let the sink return false, and call it then");
        }
    }

    /// Closes the plan, once all calls have ended. A second time nothing happens.
    ///
    /// @param release releases what the plan owns
    /// @throws IllegalStateException as [#begin]
    public void close(Runnable release) {
        lock.lock();
        try {
            if (!closed) {
                requireOutside("close");
                closed = true;
                release.run();
            }
        } finally {
            lock.unlock();
        }
    }
}
