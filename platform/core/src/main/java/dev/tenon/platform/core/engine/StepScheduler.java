package dev.tenon.platform.core.engine;

import dev.tenon.api.device.KvPages;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;

/// Gathers what the sessions of a model want into flat batches and runs them.
///
/// It has no thread of its own: of the sessions that wait, one leads. It takes the others' items into its
/// batch, runs the step, hands out the results, and stops leading. A single session therefore runs its
/// steps on its own thread.
///
/// Before it runs a step, the leader waits for the sessions that are expected: those that took part in
/// the last step or have just begun a call, and have not left since. The wait is bounded by a share of
/// the last step's time, and whoever lets it run out is not expected again until it has come, so a slow
/// consumer costs the others at most that share of one step in two.
final class StepScheduler {
    /// Of the last step's time, what the next one may wait for: an eighth.
    private static final int WAIT_SHARE = 8;

    private static final long LEAST_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final int MAX_LOGIT_ROWS = 64;

    private final ReentrantLock lock = new ReentrantLock();
    /// Signalled when no step runs any more.
    private final Condition idle = lock.newCondition();
    private final List<StepItem> waiting = new ArrayList<>();
    private final Set<StepItem> sessions = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<StepItem> batch = new ArrayList<>();
    private final StepInput input = new StepInput();
    private final PlacementSource source;
    private final LongUnaryOperator longestWait;
    private final int maxTokens;
    private final int maxSequences;
    private Placement placement;
    private PagePool pool;
    /// The session that waits for others, or null.
    private StepItem gatherer;
    /// Sessions with [StepItem#expected].
    private int expected;
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
        this(
                placement,
                source,
                maxTokens,
                maxSequences,
                stepNanos -> Math.max(LEAST_WAIT_NANOS, stepNanos / WAIT_SHARE));
    }

    /// Makes a scheduler with another rule for waiting.
    ///
    /// @param longestWait nanoseconds to wait for expected sessions, from the nanoseconds of the last step
    StepScheduler(
            Placement placement,
            PlacementSource source,
            int maxTokens,
            int maxSequences,
            LongUnaryOperator longestWait) {
        this.placement = placement;
        this.source = source;
        this.longestWait = longestWait;
        this.maxTokens = maxTokens;
        this.maxSequences = maxSequences;
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
            item.ready = lock.newCondition();
            sessions.add(item);
        } finally {
            lock.unlock();
        }
    }

    /// Forgets a session and gives back its pages.
    void close(StepItem item) {
        exclusively(() -> {
            unexpect(item);
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
            if (!item.expected && sessions.contains(item)) {
                item.expected = true;
                expected++;
            }
        } finally {
            lock.unlock();
        }
    }

    /// Says that a session will not want another step for now, so that nobody waits for it.
    void leave(StepItem item) {
        lock.lock();
        try {
            unexpect(item);
        } finally {
            lock.unlock();
        }
    }

    private void unexpect(StepItem item) {
        if (item.expected) {
            item.expected = false;
            expected--;
            if (expected == 0 && gatherer != null) {
                gatherer.ready.signal();
            }
        }
    }

    /// Runs a step that includes the item; returns when it is done. Throws what made it fail.
    void step(StepItem item) {
        lock.lock();
        try {
            requireOpen();
            item.reset();
            waiting.add(item);
            wanted = true;
            unexpect(item);
            while (!item.done) {
                if (leading || gatherer != null || changes > 0) {
                    item.ready.awaitUninterruptibly();
                } else if (gather(item) && !leading && changes == 0) {
                    lead(item);
                }
            }
        } finally {
            lock.unlock();
        }
        item.rethrow();
    }

    /// Waits for the expected sessions, but not longer than the rule allows. The placement may change
    /// meanwhile.
    ///
    /// @return whether the item still wants a step
    private boolean gather(StepItem item) {
        if (expected == 0) {
            return true;
        }
        gatherer = item;
        try {
            long left = longestWait.applyAsLong(lastStepNanos);
            while (expected > 0 && left > 0 && !item.done) {
                left = item.ready.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            gatherer = null;
        }
        if (expected > 0) {
            sessions.forEach(late -> late.expected = false);
            expected = 0;
        }
        return !item.done;
    }

    private void lead(StepItem leader) {
        leading = true;
        batch.clear();
        input.clear();
        Throwable failure = null;
        int tokens = 0;
        try {
            failure = ensurePlaced();
            if (failure == null) {
                compose();
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
        waiting.removeAll(batch);
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
    }

    /// An error, such as a class that a stopped bundle can no longer load, must not end the leader alone: everyone who
    /// waits
    /// has to hear of it.
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

    /// Fills the batch: decode rows first, then prefill chunks with the room that is left.
    private void compose() {
        input.clear();
        KvPages pages = placement.plan().kvPages();
        int room = maxTokens;
        int logitRoom = Math.max(MAX_LOGIT_ROWS, maxSequences);
        for (int pass = 0; pass < 2; pass++) {
            for (StepItem item : waiting) {
                boolean decode = item.pending() == 1;
                if (decode != (pass == 0) || room == 0 || input.sequenceCount() == maxSequences) {
                    continue;
                }
                int count = Math.min(item.pending(), room);
                int first = item.sequence.computed();
                int rows = Math.max(0, first + count - Math.max(first, item.logitsFrom));
                if (rows > logitRoom) {
                    count -= rows - logitRoom;
                    rows = logitRoom;
                }
                if (count <= 0 && item.pending() > 0) {
                    continue;
                }
                batch.add(item);
                try {
                    ensurePages(item.sequence, first + count, pages);
                } catch (RuntimeException e) {
                    item.error = e;
                    continue;
                }
                item.ran = count;
                item.rows = rows;
                item.firstRow = first + count - rows;
                input.addSequence(item.sequence.pageTable());
                for (int p = first; p < first + count; p++) {
                    input.addToken(item.sequence.token(p), p, p >= item.logitsFrom);
                }
                room -= count;
                logitRoom -= rows;
            }
        }
        if (batch.stream().allMatch(item -> item.unread)) {
            input.leaveLogits();
        }
    }

    private void ensurePages(TokenSequence sequence, int length, KvPages pages) {
        int needed = (length + pages.tokensPerPage() - 1) / pages.tokensPerPage();
        int writing = sequence.computed() / pages.tokensPerPage();
        if (writing < sequence.pageCount() && pool.shared(sequence.pageTable()[writing])) {
            int old = sequence.pageTable()[writing];
            int own = pool.take();
            pages.copy(old, own);
            pool.release(old);
            sequence.pageTable()[writing] = own;
        }
        while (sequence.pageCount() < needed) {
            sequence.addPage(pool.take());
        }
    }

    private void run(Plan plan) {
        long start = System.nanoTime();
        StepResult result = plan.run(input);
        lastStepNanos = System.nanoTime() - start;
        int row = 0;
        for (StepItem item : batch) {
            if (item.error == null) {
                for (int r = 0; r < item.rows; r++, row++) {
                    if (!item.unread) {
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
                if (item.chosen == 0) {
                    item.sequence.advance(item.ran);
                }
                item.expected = true;
                expected++;
            }
            item.done = true;
            item.ready.signal();
        }
        run.end(placement, pool);
        leading = false;
        idle.signalAll();
        wakeNext();
    }

    /// Runs a change of the placement or of a sequence when no step runs; waits for the running one.
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

    /// Lets the session that waits longest lead, if nothing forbids it.
    private void wakeNext() {
        if (!waiting.isEmpty()) {
            waiting.getFirst().ready.signal();
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

    /// Ends the placement if it uses a service that is being withdrawn. Returns when no step runs on it.
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

    /// Has the next step place the model anew, because something better than what it runs on has come.
    void reconsider() {
        lock.lock();
        try {
            stale = placement != null;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the placement if it is one of those, and only then makes another, since memory may not suffice
    /// for two. Sessions wait meanwhile; their sequences run their tokens again. If making it fails there
    /// is no placement, and the next step tries again.
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
                item.done = true;
                item.ready.signal();
            }
            waiting.clear();
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
