package dev.tenon.platform.core.steps;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.placement.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/// Runs the steps of a model, one after the other: each takes pending tokens of as many tasks as it has room for
/// ([BatchStep]).
///
/// One thread drives the loop, however many sequences there are. In each step the tasks take their tokens on that
/// thread, and are then queued again, pause or end ([SequenceTask]). No consumer is called here. An
/// [evaluation][#evaluate] is driven by its calling thread where nobody else drives, which saves two hand-overs
/// between threads. Sequences are shortened and moved only while nobody drives. All methods are safe for any thread.
public final class StepLoop {
    private final DriveLock lock = new DriveLock(this::wakeAfterChange);
    private final PlacedSequences placed;
    private final PlacementUse alone;
    private final TaskQueue tasks = new TaskQueue();
    private final Evaluators evaluators = new Evaluators();
    private final StepCosts costs;
    private final BatchStep step;
    private final BooleanSupplier othersWait = lock::othersWait;
    /// Started when it is first needed.
    private Thread thread;
    private boolean closed;

    /// Creates a loop without tasks.
    ///
    /// @param placement where the model runs first; owned by the loop
    /// @param source makes the next placement when there is none; it is told whether a change waits, and may then
    ///     return null, after which it is asked again
    /// @param limits what bounds its steps
    public StepLoop(Placement placement, Function<BooleanSupplier, Placement> source, StepLimits limits) {
        this.placed = new PlacedSequences(lock, placement, limits);
        this.alone = new PlacementUse(lock, placed, source, this::requireOpen);
        this.costs = new StepCosts(placement.plan().states().isPresent());
        boolean whole = !placement.definition().graph().isCausal();
        this.step = new BatchStep(new BatchComposer(limits, whole, costs));
    }

    /// {@return the sequences and the placement that they use}
    public PlacedSequences placed() {
        return placed;
    }

    /// {@return what its steps take; for tasks, while they take what a step gave}
    public StepCosts costs() {
        return costs;
    }

    /// Registers a session's sequence.
    ///
    /// @param limit most sequences
    public void open(TokenSequence sequence, int limit) {
        lock.lock();
        try {
            requireOpen();
            placed.add(sequence, limit);
        } finally {
            lock.unlock();
        }
    }

    /// Forgets a session's sequence and releases its pages. It has no task.
    public void close(TokenSequence sequence) {
        lock.exclusively(() -> {
            tasks.ended(sequence);
            evaluators.leave(sequence);
            placed.remove(sequence);
        });
    }

    /// Shortens a session's sequence. It has no task, or one that does not come back.
    public void truncate(TokenSequence sequence, int length) {
        lock.exclusively(() -> {
            tasks.ended(sequence);
            placed.truncate(sequence, length);
        });
    }

    /// Queues a task; returns at once.
    public void submit(SequenceTask task) {
        lock.lock();
        try {
            requireOpen();
            enqueue(task);
            wakeIn(nanosToWait());
        } finally {
            lock.unlock();
        }
    }

    /// Runs steps until the task has been in one; on this thread if nobody drives.
    ///
    /// @throws RuntimeException what made the step fail
    public void evaluate(EvaluationTask task) {
        long nanos;
        lock.enter();
        try {
            requireOpen();
            task.begin();
            enqueue(task);
            evaluators.arrive(task.sequence());
            nanos = nanosToWait();
            if (nanos == 0) {
                begin();
            } else {
                wakeIn(nanos);
            }
        } finally {
            lock.unlock();
        }
        if (nanos == 0) {
            step();
        }
        task.await();
    }

    /// {@return what uses the placement for something else than steps}
    public PlacementUse alone() {
        return alone;
    }

    /// Queues a paused task again.
    public void resume(SequenceTask task) {
        lock.lock();
        try {
            if (tasks.resume(task)) {
                lock.othersWait(true);
                wakeIn(nanosToWait());
            }
        } finally {
            lock.unlock();
        }
    }

    /// Has the loop's thread look for work, such as cancelled tasks that have to end.
    public void wake() {
        lock.lock();
        try {
            tasks.changed();
            lock.othersWait(true);
            wakeIn(0);
        } finally {
            lock.unlock();
        }
    }

    /// Has the loop's thread look for work in time; the lock is held. With [Long#MAX_VALUE], whoever
    /// drives or makes a change does that after it.
    private void wakeIn(long nanos) {
        if (thread == null && !closed && nanos < Long.MAX_VALUE) {
            thread = Thread.ofPlatform().name("tenon-steps").daemon(true).unstarted(this::drive);
            thread.setContextClassLoader(null);
            thread.start();
        }
        lock.signalWork(nanos);
    }

    private void wakeAfterChange() {
        tasks.changed();
        wakeIn(closed ? 0 : nanosToWait());
    }

    private void enqueue(SequenceTask task) {
        tasks.add(task);
        lock.othersWait(true);
    }

    private void drive() {
        while (awaitStep()) {
            step();
        }
    }

    /// Waits for work, and begins to drive.
    ///
    /// @return false if the loop was closed
    private boolean awaitStep() {
        lock.lock();
        try {
            for (long nanos = nanosToWait(); nanos > 0 && !closed; nanos = nanosToWait()) {
                lock.awaitWork(nanos);
            }
            if (!closed) {
                begin();
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /// {@return how long to wait for a step: 0 if one can begin, [Long#MAX_VALUE] for a signal}
    private long nanosToWait() {
        return !tasks.runnable() || !lock.free() ? Long.MAX_VALUE : evaluators.nanosToWait();
    }

    /// Begins to drive, and composes the step; the lock is held.
    private void begin() {
        lock.drive();
        compose();
        tasks.run(step.tasks());
    }

    /// Runs the step without the lock. Its tasks end after the lock was released: who waits comes back at once.
    private void step() {
        long begin = System.nanoTime();
        try {
            step.run(othersWait);
        } finally {
            EvaluationTask.endAll(finish(System.nanoTime() - begin));
        }
    }

    private void compose() {
        try {
            tasks.endOver(placed::settle);
            if (tasks.runnable() && placed.unplaced()) {
                alone.place();
            }
            if (tasks.runnable() && !placed.unplaced()) {
                lock.othersWait(step.compose(tasks.queued(), placed, lock.changesWait()));
            }
        } catch (RuntimeException | Error e) {
            step.fail(tasks.queued(), e);
        }
    }

    /// {@return the tasks that have to end, after each of the step went its way; others may drive}
    private List<SequenceTask> finish(long nanos) {
        lock.lock();
        try {
            step.settle(placed, nanos);
            List<SequenceTask> ended = List.of();
            for (SequenceTask task : step.tasks()) {
                switch (task.next()) {
                    case ENDED -> {
                        ended = ended.isEmpty() ? new ArrayList<>(step.tasks().size()) : ended;
                        ended.add(task);
                        if (task instanceof EvaluationTask && !task.failed()) {
                            evaluators.ran(task.sequence());
                        }
                        tasks.ended(task);
                    }
                    case PAUSED -> tasks.pause(task);
                    default -> enqueue(task);
                }
            }
            step.clear();
            evaluators.stepEnded(nanos);
            lock.release();
            wakeIn(nanosToWait());
            return ended;
        } finally {
            lock.unlock();
        }
    }

    /// Ends everything; tasks that wait get an error. Returns when the loop's thread has ended.
    public void close() {
        lock.exclusively(() -> {
            closed = true;
            tasks.drain(task -> {
                task.fail(closedError());
                task.finish();
            });
            placed.close();
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

    private void requireOpen() {
        if (closed) {
            throw closedError();
        }
    }

    private static TenonException closedError() {
        return new TenonException(ErrorCode.CLOSED, "The model was closed; load it again");
    }
}
