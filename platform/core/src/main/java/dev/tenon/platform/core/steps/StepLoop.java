package dev.tenon.platform.core.steps;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.placement.PlacingThread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;

/// Runs the steps of a model: puts the pending tokens of all tasks into flat batches, one after the
/// other.
///
/// One thread drives it, however many sequences there are. It evaluates each step too: a task takes
/// its tokens and either queues again, pauses until its consumer has caught up, or ends
/// ([SequenceTask]). No consumer is called here. An [evaluation][#evaluate] is driven by its
/// calling thread where nobody else drives, which saves two hand-overs.
///
/// Placements change, and sequences are shortened, only while nobody drives.
public final class StepLoop {
    private final ReentrantLock lock = new ReentrantLock();
    /// Signalled when there may be something to run.
    private final Condition work = lock.newCondition();
    /// Signalled when nobody drives any more.
    private final Condition idle = lock.newCondition();
    private final List<SequenceTask> queued = new ArrayList<>();
    private final Set<SequenceTask> paused = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<TokenSequence> sequences = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<SequenceTask> batch = new ArrayList<>();
    private final List<SequenceTask.State> states = new ArrayList<>();
    private final StepInput input = new StepInput();
    private final Supplier<Placement> source;
    private final BatchComposer composer;
    private final Evaluators evaluators = new Evaluators();
    /// What the device samples by itself.
    private final DeviceRun run = new DeviceRun();
    private Placement placement;
    private PagePool pool;
    /// Started when it is first needed.
    private Thread thread;
    /// Whether a step is being placed, composed, run or evaluated.
    private boolean driving;
    /// Changes that wait for the running step; no other step begins before them.
    private int changes;
    /// Whether the next step shall place the model again although it has a placement.
    private boolean stale;
    private boolean closed;
    /// Whether somebody waits for the running step to end.
    private volatile boolean wanted;

    public StepLoop(Placement placement, Supplier<Placement> source, int maxBatchTokens, int maxSequences) {
        this.placement = placement;
        this.source = source;
        this.composer = new BatchComposer(maxBatchTokens, maxSequences);
        this.pool = new PagePool(placement.plan().kvPages().pageCount());
    }

    /// Registers a session's sequence.
    public void open(TokenSequence sequence, int limit) {
        lock.lock();
        try {
            requireOpen();
            if (sequences.size() >= limit) {
                throw new OutOfResourcesException(
                        ErrorCode.KV_PAGES,
                        "All " + limit + " sequences of the model are taken. Close a session, or load the model for"
                                + " more sequences.",
                        1,
                        sequences.size(),
                        limit);
            }
            sequences.add(sequence);
        } finally {
            lock.unlock();
        }
    }

    /// Forgets a session's sequence and releases its pages. It has no task.
    public void close(TokenSequence sequence) {
        exclusively(() -> {
            evaluators.leave(sequence);
            if (sequences.remove(sequence) && placement != null) {
                sequence.truncate(0, placement.plan().kvPages().tokensPerPage(), pool);
            }
        });
    }

    /// Shortens a session's sequence. It has no task.
    public void truncate(TokenSequence sequence, int length) {
        exclusively(() -> {
            if (placement == null) {
                sequence.forgetCache();
            }
            int pageTokens = placement == null ? 1 : placement.plan().kvPages().tokensPerPage();
            sequence.truncate(length, pageTokens, pool);
        });
    }

    /// Queues a task; returns at once.
    public void submit(SequenceTask task) {
        lock.lock();
        try {
            requireOpen();
            enqueue(task);
            wake();
        } finally {
            lock.unlock();
        }
    }

    /// Runs steps until the task has run once; on this thread if nobody drives.
    public void evaluate(EvaluationTask task) {
        lock.lock();
        try {
            requireOpen();
            enqueue(task);
            evaluators.arrive(task.sequence);
            if (nanosToWait() == 0) {
                step();
            }
            if (!task.ended() || !queued.isEmpty()) {
                wake();
            }
        } finally {
            lock.unlock();
        }
        task.await();
    }

    /// Has a paused task go on.
    public void resume(SequenceTask task) {
        lock.lock();
        try {
            if (paused.remove(task)) {
                enqueue(task);
                wake();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Has cancelled tasks looked at.
    public void wake() {
        lock.lock();
        try {
            wanted = true;
            if (thread == null && !closed) {
                thread = Thread.ofPlatform().name("tenon-steps").daemon(true).unstarted(this::drive);
                thread.setContextClassLoader(null);
                thread.start();
            }
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    private void enqueue(SequenceTask task) {
        task.state = SequenceTask.State.QUEUED;
        queued.add(task);
        wanted = true;
    }

    private void drive() {
        lock.lock();
        try {
            while (!closed) {
                long nanos = nanosToWait();
                if (nanos == 0) {
                    step();
                } else if (nanos == Long.MAX_VALUE) {
                    work.awaitUninterruptibly();
                } else {
                    await(nanos);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void await(long nanos) {
        try {
            work.awaitNanos(nanos);
        } catch (InterruptedException e) {
            // Nobody has this thread to interrupt it; the loop looks again in any case.
        }
    }

    /// {@return how long whoever wants to drive has to wait: 0 if a step can begin,
    ///     [Long#MAX_VALUE] for a signal}
    private long nanosToWait() {
        return driving || changes > 0 || queued.isEmpty() ? Long.MAX_VALUE : evaluators.nanosToWait();
    }

    /// Runs a step; the lock is held before and after, not meanwhile.
    private void step() {
        driving = true;
        batch.clear();
        states.clear();
        input.clear();
        Throwable failure = null;
        int steps = 0;
        try {
            endCancelled();
            failure = queued.isEmpty() ? null : ensurePlaced();
            if (failure == null && !queued.isEmpty()) {
                composer.compose(queued, batch, input, placement.plan().kvPages(), pool);
                wanted = queued.size() > batch.size() || changes > 0;
                steps = run.prepare(placement.plan(), pool, batch, input, wanted);
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        }
        if (failure != null) {
            batch.clear();
            batch.addAll(queued);
        }
        batch.forEach(task -> task.state = SequenceTask.State.RUNNING);
        queued.removeIf(task -> task.state == SequenceTask.State.RUNNING);
        lock.unlock();
        long begin = System.nanoTime();
        try {
            if (steps > 0) {
                run.generate(steps, () -> wanted, states);
            } else if (failure == null && input.tokenCount() > 0) {
                take(placement.plan().run(input));
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        } finally {
            lock.lock();
            finish(failure == null ? null : asException(failure), System.nanoTime() - begin);
        }
    }

    /// Lets the tasks of the batch take what the step gave.
    private void take(StepResult result) {
        int row = 0;
        for (SequenceTask task : batch) {
            SequenceTask.State state = SequenceTask.State.ENDED;
            if (task.error == null) {
                task.sequence.advance(task.ran);
                try {
                    state = task.stepped(result, row);
                } catch (RuntimeException | Error e) {
                    task.error = asException(e);
                }
                row += task.rows;
            }
            states.add(state);
        }
    }

    /// An error, such as a class that a stopped bundle can no longer load, reaches the tasks as an
    /// exception.
    private static RuntimeException asException(Throwable failure) {
        return failure instanceof TenonException || failure instanceof IllegalArgumentException
                ? (RuntimeException) failure
                : new BackendException(ErrorCode.BACKEND_FAILED, "A step failed: " + failure, 0, failure);
    }

    /// Sends each task of the batch where it goes after the step.
    private void finish(RuntimeException failure, long nanos) {
        run.end(placement, pool);
        for (int i = 0; i < batch.size(); i++) {
            SequenceTask task = batch.get(i);
            RuntimeException why = task.error != null ? task.error : failure;
            SequenceTask.State state = why != null ? SequenceTask.State.ENDED : states.get(i);
            switch (state) {
                case ENDED -> {
                    if (why == null && task instanceof EvaluationTask) {
                        evaluators.ran(task.sequence);
                    }
                    end(task, why);
                }
                case PAUSED -> pause(task);
                default -> enqueue(task);
            }
        }
        evaluators.stepEnded(nanos);
        batch.clear();
        release();
    }

    private void pause(SequenceTask task) {
        if (task.stillPaused()) {
            task.state = SequenceTask.State.PAUSED;
            paused.add(task);
        } else {
            enqueue(task);
        }
    }

    private static void end(SequenceTask task, RuntimeException why) {
        task.state = SequenceTask.State.ENDED;
        task.error = null;
        task.end(why);
    }

    private void endCancelled() {
        for (SequenceTask task : List.copyOf(queued)) {
            if (task.cancelled()) {
                queued.remove(task);
                end(task, null);
            }
        }
    }

    /// Lets others drive, or change what they wait to change.
    private void release() {
        driving = false;
        idle.signalAll();
        work.signal();
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
            fresh = PlacingThread.run(source);
        } catch (RuntimeException | Error e) {
            failure = e;
        } finally {
            lock.lock();
        }
        if (fresh != null) {
            install(fresh, "the model was placed again");
        }
        return failure;
    }

    /// Changes the placement or a sequence while nobody drives; waits for the running step.
    private void exclusively(Runnable change) {
        lock.lock();
        changes++;
        wanted = true;
        try {
            while (driving) {
                idle.awaitUninterruptibly();
            }
            change.run();
        } finally {
            changes--;
            work.signal();
            lock.unlock();
        }
    }

    /// Puts another placement in the place of the current one; sequences run their tokens again.
    public void move(Placement next, String reason) {
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
        sequences.forEach(TokenSequence::forgetCache);
        return old;
    }

    /// Ends the placement if it uses a service that is being withdrawn. Returns when no step runs
    /// on it.
    ///
    /// @return whether it used the service
    public boolean withdraw(Object service) {
        boolean[] used = new boolean[1];
        exclusively(() -> {
            if (placement != null && placement.uses(service)) {
                used[0] = true;
                takePlacement().close();
            }
        });
        return used[0];
    }

    /// Has the next step place the model again, because something better than what it runs on has
    /// come.
    public void reconsider() {
        lock.lock();
        try {
            stale = placement != null;
        } finally {
            lock.unlock();
        }
    }

    /// Ends the placement if it is one of those, and only then makes another, since memory may not
    /// suffice for two. Tasks wait meanwhile; their sequences run their tokens again. If making it
    /// fails there is no placement, and the next step tries again.
    public void replace(Predicate<Placement> which, Supplier<Placement> next, String reason) {
        Placement old;
        lock.lock();
        changes++;
        wanted = true;
        try {
            while (driving) {
                idle.awaitUninterruptibly();
            }
            if (closed || placement == null || !which.test(placement)) {
                return;
            }
            driving = true;
            old = takePlacement();
        } finally {
            changes--;
            work.signal();
            lock.unlock();
        }
        Placement fresh = null;
        try {
            old.close();
            fresh = next.get();
        } finally {
            lock.lock();
            if (fresh != null) {
                install(fresh, reason);
            }
            release();
            lock.unlock();
        }
    }

    /// Ends everything; tasks that wait get an error.
    public void close() {
        exclusively(() -> {
            closed = true;
            sequences.forEach(TokenSequence::forgetCache);
            sequences.clear();
            List<SequenceTask> left = new ArrayList<>(queued);
            left.addAll(paused);
            left.forEach(task -> end(task, closedError()));
            queued.clear();
            paused.clear();
            work.signalAll();
            if (placement != null) {
                placement.close();
                placement = null;
            }
        });
        awaitEndOfThread();
    }

    private void awaitEndOfThread() {
        boolean interrupted = false;
        while (thread != null && thread != Thread.currentThread() && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// The current placement, or null while there is none.
    public Placement placement() {
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
        KvPages pages = next.plan().kvPages();
        pool = new PagePool(pages.pageCount());
        for (TokenSequence sequence : sequences) {
            sequence.forgetCache();
            sequence.moved(reason + " (" + next.backend().id() + ")");
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
