package dev.tenon.platform.core.steps;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The lock of a [StepLoop], and whether a thread drives the loop. The driving thread holds the lock
/// between steps only. A thread with a change to make waits until nobody drives, and then holds the
/// lock, so that no step begins before the change is made.
final class DriveLock {
    private final ReentrantLock lock = new ReentrantLock();
    /// Signalled when there may be something to run.
    private final Condition work = lock.newCondition();
    /// Signalled when nobody drives any more.
    private final Condition idle = lock.newCondition();
    private boolean driving;
    /// Changes that wait for the running step; no other step begins before them.
    private int changes;
    private volatile boolean othersWait;

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /// {@return whether somebody may begin to drive}
    boolean free() {
        return !driving && changes == 0;
    }

    /// Begins to drive; the lock is held, and nobody drives.
    void drive() {
        driving = true;
    }

    /// Lets others drive, or make the change that they wait to make; the lock is held.
    void release() {
        driving = false;
        idle.signalAll();
        work.signal();
    }

    /// {@return whether anything waits for the running step to end; may be asked without the lock}
    boolean othersWait() {
        return othersWait;
    }

    /// Notes that something waits for the running step to end, or that nothing does.
    void othersWait(boolean wait) {
        othersWait = wait;
    }

    /// {@return whether a change waits}
    boolean changesWait() {
        return changes > 0;
    }

    /// Makes a change while nobody drives; waits for the running step.
    void exclusively(Runnable change) {
        lock.lock();
        try {
            changes++;
            othersWait = true;
            while (driving) {
                idle.awaitUninterruptibly();
            }
            changes--;
            change.run();
        } finally {
            work.signal();
            lock.unlock();
        }
    }

    /// Wakes whoever waits for work; the lock is held.
    void signalWork() {
        work.signal();
    }

    /// Waits for a signal; the lock is held.
    ///
    /// @param nanos longest time; [Long#MAX_VALUE] waits without a limit
    void awaitWork(long nanos) {
        if (nanos == Long.MAX_VALUE) {
            work.awaitUninterruptibly();
            return;
        }
        try {
            work.awaitNanos(nanos);
        } catch (InterruptedException e) {
            // Nobody else has the loop's thread to interrupt it; the loop looks for work in any case.
        }
    }
}
