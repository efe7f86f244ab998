package dev.tenon.platform.core.engine;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongBinaryOperator;
import java.util.function.Predicate;

/// Gathers what the sessions of a model want into flat batches and runs them.
///
/// It has no thread of its own: of the sessions that wait, one leads. It takes the others' items
/// into its batch, runs the step, hands out the results, and stops leading. A single session
/// therefore runs its steps on its own thread.
///
/// A step begins when all sessions are there that are [expected][Gathering]; the last one to come
/// leads.
///
/// Sessions meet after every step, and there may be many of them: nobody wakes more than a few, who
/// wake the others ([StepItem#wakeOthers]), and they come back without being put to sleep for the
/// lock.
final class StepScheduler {
    /// How often to try to get the lock without being put to sleep; a few microseconds.
    private static final int TRIES = 200;

    private final ReentrantLock lock = new ReentrantLock();
    /// Signalled when no step runs any more.
    private final Condition idle = lock.newCondition();
    private final List<StepItem> waiting = new ArrayList<>();
    private final Set<StepItem> sessions = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<StepItem> batch = new ArrayList<>();
    private final StepInput input = new StepInput();
    private final PlacementSource source;
    private final Gathering gathering;
    private final BatchComposer composer;
    private Placement placement;
    private PagePool pool;
    /// Whether a step is being placed, composed or run.
    private boolean leading;
    /// Changes that wait for the running step; no other step begins before them.
    private int changes;
    /// Whether the next step shall place the model anew although it has a placement.
    private boolean stale;
    private boolean closed;
    private long lastStepNanos;
    /// What the device chooses by itself.
    private final DeviceRun run = new DeviceRun();
    /// Whether somebody waits for the running step to end.
    private volatile boolean wanted;

    /// Makes placements when there is none.
    @FunctionalInterface
    interface PlacementSource {
        Placement place();
    }

    StepScheduler(Placement placement, PlacementSource source, int maxTokens, int maxSequences) {
        this(placement, source, maxTokens, maxSequences, Gathering::longestWait);
    }

    /// Makes a scheduler with another rule for waiting.
    ///
    /// @param longestWait nanoseconds to wait for expected sessions, from the nanoseconds of
    ///     the last step and the number of sessions that are missing
    StepScheduler(
            Placement placement,
            PlacementSource source,
            int maxTokens,
            int maxSequences,
            LongBinaryOperator longestWait) {
        this.placement = placement;
        this.source = source;
        this.gathering = new Gathering(longestWait);
        this.composer = new BatchComposer(maxTokens, maxSequences);
        this.pool = new PagePool(placement.plan().kvPages().pageCount());
    }

    /// Registers a session's item.
    void open(StepItem item, int limit) {
        lock.lock();
        try {
            requireOpen();
            if (sessions.size() >= limit) {
                throw new OutOfResourcesException(
                        ErrorCode.KV_PAGES,
                        "All " + limit + " sequences of the model are taken. Close a session, or load the model for"
                                + " more sequences.",
                        1,
                        sessions.size(),
                        limit);
            }
            sessions.add(item);
        } finally {
            lock.unlock();
        }
    }

    /// Forgets a session and gives back its pages.
    void close(StepItem item) {
        exclusively(() -> {
            gathering.leave(item);
            if (sessions.remove(item) && placement != null) {
                item.sequence.truncate(0, placement.plan().kvPages().tokensPerPage(), pool);
            }
        });
    }

    /// Shortens a session.
    void truncate(StepItem item, int length) {
        exclusively(() -> {
            if (placement == null) {
                item.sequence.forgetCache();
            }
            int pageTokens = placement == null ? 1 : placement.plan().kvPages().tokensPerPage();
            item.sequence.truncate(length, pageTokens, pool);
        });
    }

    /// Says that a session has begun a call and will soon want a step.
    void expect(StepItem item) {
        lock.lock();
        try {
            if (sessions.contains(item)) {
                gathering.expect(item);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Says that a session will not want another step for now, so that nobody waits for it.
    void leave(StepItem item) {
        lock.lock();
        try {
            gathering.leave(item);
        } finally {
            lock.unlock();
        }
    }

    /// Runs a step that includes the item; returns when it is done. Throws what made it fail.
    void step(StepItem item) {
        long sleep = look(item, true);
        while (!item.done) {
            item.sleep(sleep);
            if (!item.done) {
                sleep = look(item, false);
            }
        }
        item.wakeOthers();
        item.rethrow();
    }

    /// Runs a step if the item has to lead now.
    ///
    /// @param comes whether it has just come
    /// @return how long to sleep before the item looks again, if it is not done
    private long look(StepItem item, boolean comes) {
        StepItem first;
        enter();
        try {
            if (comes) {
                requireOpen();
                come(item);
            }
            long sleep = 0;
            if (!item.done) {
                sleep = leading || changes > 0 ? Long.MAX_VALUE : gathering.nanosToWait(item, lastStepNanos, sessions);
            }
            if (item.done || sleep > 0) {
                return sleep;
            }
            first = lead(item);
        } finally {
            lock.unlock();
        }
        if (first != item) {
            first.wake();
        }
        return 0;
    }

    private void come(StepItem item) {
        item.reset(Thread.currentThread());
        waiting.add(item);
        wanted = true;
        gathering.come(item);
    }

    /// Takes the lock, which nobody holds for long: threads that come at the same time, after a
    /// common step, rather try again than be put to sleep and woken one by one.
    private void enter() {
        for (int i = 0; i < TRIES; i++) {
            if (lock.tryLock()) {
                return;
            }
            Thread.onSpinWait();
        }
        lock.lock();
    }

    /// Runs a step.
    ///
    /// @return the item whose thread is to be woken first; it wakes the others
    private StepItem lead(StepItem leader) {
        leading = true;
        gathering.end();
        batch.clear();
        input.clear();
        Throwable failure = null;
        int tokens = 0;
        try {
            failure = ensurePlaced();
            if (failure == null) {
                composer.compose(waiting, batch, input, placement.plan().kvPages(), pool);
                wanted = waiting.size() > batch.size() || changes > 0;
                tokens = run.prepare(placement.plan(), pool, batch, input, leader, wanted);
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        }
        if (failure != null) {
            batch.clear();
            batch.addAll(waiting);
        }
        batch.forEach(item -> item.inBatch = true);
        waiting.removeIf(item -> item.inBatch);
        lock.unlock();
        try {
            if (tokens > 0) {
                long start = System.nanoTime();
                run.generate(tokens, () -> wanted);
                lastStepNanos = System.nanoTime() - start;
            } else if (failure == null && input.tokenCount() > 0) {
                run(placement.plan());
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        } finally {
            lock.lock();
            finish(failure == null ? null : asException(failure));
        }
        return StepItem.done(batch, leader);
    }

    /// An error, such as a class that a stopped bundle can no longer load, must not end the leader
    /// alone: everyone who waits has to hear of it.
    private static RuntimeException asException(Throwable failure) {
        return failure instanceof RuntimeException exception
                ? exception
                : new BackendException(ErrorCode.BACKEND_FAILED, "A step failed: " + failure, 0, failure);
    }

    /// Makes a placement if there is none; that may take a while, so the lock is free meanwhile.
    private Throwable ensurePlaced() {
        if (placement != null && !stale) {
            return null;
        }
        Placement old = takePlacement();
        lock.unlock();
        Placement fresh = null;
        Throwable failure = null;
        try {
            if (old != null) {
                old.close();
            }
            fresh = source.place();
        } catch (RuntimeException | Error e) {
            failure = e;
        } finally {
            lock.lock();
        }
        if (fresh != null) {
            install(fresh, "the model was placed anew");
        }
        return failure;
    }

    private void run(Plan plan) {
        long start = System.nanoTime();
        StepResult result = plan.run(input);
        lastStepNanos = System.nanoTime() - start;
        int row = 0;
        for (StepItem item : batch) {
            if (item.error == null) {
                for (int r = 0; r < item.rows; r++, row++) {
                    item.token = item.choosesBehind(item.firstRow + r) ? result.token(row) : -1;
                    if (item.token < 0 && !item.unread) {
                        result.logits(row, item.row(r));
                    }
                }
            }
        }
    }

    private void finish(RuntimeException failure) {
        for (StepItem item : batch) {
            if (failure != null && item.error == null) {
                item.error = failure;
            }
            if (item.error == null) {
                item.ran();
                gathering.expectAgain(item);
            }
        }
        run.end(placement, pool);
        leading = false;
        idle.signalAll();
        wakeNext();
    }

    /// Runs a change of the placement or of a sequence when no step runs; waits for the running
    /// one.
    private void exclusively(Runnable change) {
        lock.lock();
        changes++;
        wanted = true;
        try {
            while (leading) {
                idle.awaitUninterruptibly();
            }
            change.run();
        } finally {
            changes--;
            wakeNext();
            lock.unlock();
        }
    }

    /// Lets the session that gathers the others lead, or the one that waits longest, if nothing
    /// forbids it.
    private void wakeNext() {
        if (gathering.gatherer() != null) {
            gathering.gatherer().call();
        } else if (!waiting.isEmpty()) {
            waiting.getFirst().call();
        }
    }

    /// Puts another placement in the place of the current one; sequences run their tokens again.
    void move(Placement next, String reason) {
        exclusively(() -> {
            Placement old = placement;
            install(next, reason);
            if (old != null) {
                old.close();
            }
        });
    }

    /// Takes the placement away; sequences forget what they had in its cache, not their tokens.
    private Placement takePlacement() {
        Placement old = placement;
        placement = null;
        stale = false;
        sessions.forEach(item -> item.sequence.forgetCache());
        return old;
    }

    /// Ends the placement if it uses a service that is being withdrawn. Returns when no step runs
    /// on it.
    ///
    /// @return whether it used the service
    boolean withdraw(Object service) {
        boolean[] used = new boolean[1];
        exclusively(() -> {
            if (placement != null && placement.uses(service)) {
                used[0] = true;
                takePlacement().close();
            }
        });
        return used[0];
    }

    /// Has the next step place the model anew, because something better than what it runs on has
    /// come.
    void reconsider() {
        lock.lock();
        try {
            stale = placement != null;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the placement if it is one of those, and only then makes another, since memory may not
    /// suffice for two. Sessions wait meanwhile; their sequences run their tokens again. If making
    /// it fails there is no placement, and the next step tries again.
    void replace(Predicate<Placement> which, PlacementSource next, String reason) {
        lock.lock();
        Placement old;
        changes++;
        wanted = true;
        try {
            while (leading) {
                idle.awaitUninterruptibly();
            }
            if (closed || placement == null || !which.test(placement)) {
                return;
            }
            leading = true;
            old = takePlacement();
        } finally {
            changes--;
            wakeNext();
            lock.unlock();
        }
        Placement fresh = null;
        try {
            old.close();
            fresh = next.place();
        } finally {
            lock.lock();
            if (fresh != null) {
                install(fresh, reason);
            }
            leading = false;
            idle.signalAll();
            wakeNext();
            lock.unlock();
        }
    }

    /// Ends everything; sessions that wait get an error.
    void close() {
        exclusively(() -> {
            closed = true;
            sessions.forEach(item -> item.sequence.forgetCache());
            sessions.clear();
            for (StepItem item : waiting) {
                item.error = closedError();
            }
            if (!waiting.isEmpty()) {
                StepItem.done(waiting, waiting.getFirst()).wake();
            }
            waiting.clear();
            gathering.end();
            if (placement != null) {
                placement.close();
                placement = null;
            }
        });
    }

    /// The current placement, or null while there is none.
    Placement placement() {
        lock.lock();
        try {
            return placement;
        } finally {
            lock.unlock();
        }
    }

    private void install(Placement next, String reason) {
        placement = next;
        stale = false;
        pool = new PagePool(next.plan().kvPages().pageCount());
        for (StepItem item : sessions) {
            item.sequence.forgetCache();
            item.moved = reason + " (" + next.backend().id() + ")";
        }
    }

    private void requireOpen() {
        if (closed) {
            throw closedError();
        }
    }

    private static TenonException closedError() {
        return new TenonException(ErrorCode.CLOSED, "The model was closed; load it again");
    }
}
