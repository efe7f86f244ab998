package dev.tenon.platform.core.steps;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The lock of a [StepLoop], and whether a thread drives the loop. The driving thread holds the lock
/// between steps only. A thread with a change to make waits until nobody drives, and then holds the
/// lock, so that no step begins before the change is made.
final class DriveLock {
    /// How often [#enter] tries: some microseconds.
    private static final int TRIES = 200;

    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable changed;
    /// Signalled when there may be something to run.
    private final Condition work = lock.newCondition();
    /// Signalled when nobody drives any more.
    private final Condition idle = lock.newCondition();
    private boolean driving;
    /// Whether the loop's thread waits for work, has not been woken, and when it looks by itself; as
    /// [System#nanoTime], or without a limit.
    private boolean sleeping;

    private boolean unlimited;
    private long sleepsUntil;
    /// Changes that wait for the running step; no other step begins before them.
    private volatile int changes;
    private volatile boolean othersWait;

    /// @param changed called with the lock held after each change: tasks that came while it was made, or waited
    ///     to be made, have woken nobody
    DriveLock(Runnable changed) {
        this.changed = changed;
    }

    void lock() {
        lock.lock();
    }

    /// Takes the lock, which nobody holds for long: threads that come at the same time, after a
    /// common step, rather try again than be put to sleep and woken one by one.
    void enter() {
        for (int i = 0; i < TRIES; i++) {
            if (lock.tryLock()) {
                return;
            }
            Thread.onSpinWait();
        }
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

    /// Lets others drive, or make the change that they wait to make; the lock is held. Whoever has
    /// work left says so by [#signalWork].
    void release() {
        driving = false;
        idle.signalAll();
    }

    /// {@return whether anything waits for the running step to end; may be asked without the lock}
    boolean othersWait() {
        return othersWait;
    }

    /// Notes that something waits for the running step to end, or that nothing does.
    void othersWait(boolean wait) {
        othersWait = wait;
    }

    /// {@return whether a change waits; may be asked without the lock}
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
            changed.run();
            lock.unlock();
        }
    }

    /// Has the loop's thread look for work in time; the lock is held. Where it does so by itself it
    /// is left asleep: of many sequences that are evaluated in parallel, each comes here once a step.
    ///
    /// @param nanos from now; with [Long#MAX_VALUE] nothing happens
    void signalWork(long nanos) {
        if (sleeping && nanos < Long.MAX_VALUE && (unlimited || sleepsUntil - System.nanoTime() > nanos)) {
            sleeping = false;
            work.signal();
        }
    }

    /// Waits for a signal; the lock is held, and the loop's thread is the only one that comes here.
    ///
    /// @param nanos longest time; [Long#MAX_VALUE] waits without a limit
    void awaitWork(long nanos) {
        unlimited = nanos == Long.MAX_VALUE;
        sleepsUntil = System.nanoTime() + nanos;
        sleeping = true;
        try {
            if (unlimited) {
                work.awaitUninterruptibly();
            } else {
                work.awaitNanos(nanos);
            }
        } catch (InterruptedException e) {
            // Nobody else has the loop's thread to interrupt it; the loop looks for work in any case.
        } finally {
            sleeping = false;
        }
    }
}
