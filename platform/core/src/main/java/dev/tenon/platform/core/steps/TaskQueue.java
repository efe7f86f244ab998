package dev.tenon.platform.core.steps;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/// The tasks of a [StepLoop] that no step runs: those that wait for the next one, in the order of their
/// [rank][SequenceTask#outranks], and those that wait for their consumers. Guarded by the loop's lock.
final class TaskQueue {
    private final List<SequenceTask> queued = new ArrayList<>();
    private final Set<SequenceTask> paused = Collections.newSetFromMap(new IdentityHashMap<>());
    /// Number of the next task that arrives; also tells when tasks ended.
    private long arrivals;
    /// Whether all that are queued wait for pages of tasks that are not.
    private boolean stuck;

    /// {@return those that wait for the next step, the one of the highest rank first}
    List<SequenceTask> queued() {
        return queued;
    }

    /// {@return whether a step may find something to run}
    boolean runnable() {
        return !queued.isEmpty() && !stuck;
    }

    /// Notes that something has changed, such as what holds pages.
    void changed() {
        stuck = false;
    }

    /// Has a task wait for the next step.
    void add(SequenceTask task) {
        task.queue(arrivals++);
        int at = queued.size();
        while (at > 0 && task.outranks(queued.get(at - 1))) {
            at--;
        }
        queued.add(at, task);
        stuck = false;
    }

    /// Has a task wait for its consumer, unless that is no longer needed.
    void pause(SequenceTask task) {
        task.pause();
        if (task.stillPaused()) {
            paused.add(task);
        } else {
            add(task);
        }
    }

    /// Has a task that waits for its consumer wait for the next step.
    ///
    /// @return whether it waited
    boolean resume(SequenceTask task) {
        boolean waited = paused.remove(task);
        if (waited) {
            add(task);
        }
        return waited;
    }

    /// Notes that a task has ended after a step; others may use its sequence unless it comes back.
    void ended(SequenceTask task) {
        if (!task.comesBack()) {
            ended(task.sequence());
        }
    }

    /// Notes that no task uses a sequence any more.
    void ended(TokenSequence sequence) {
        sequence.unused(arrivals++);
        stuck = false;
    }

    /// Ends tasks that are over before the next step.
    ///
    /// @param settle called for others that tokens leave
    void endOver(Consumer<SequenceTask> settle) {
        queued.removeIf(task -> {
            boolean over = task.over();
            if (over) {
                ended(task.sequence());
                task.finish();
            } else if (task.sequence().leaving() > 0) {
                settle.accept(task);
            }
            return over;
        });
    }

    /// Takes the tasks out that a step runs. If there are none, no other step is tried until something changes.
    void run(List<SequenceTask> tasks) {
        stuck = tasks.isEmpty();
        for (int i = 0; i < tasks.size(); i++) {
            tasks.get(i).run();
        }
        queued.removeIf(SequenceTask::running);
    }

    /// Takes all tasks out.
    void drain(Consumer<SequenceTask> to) {
        queued.addAll(paused);
        queued.forEach(to);
        queued.clear();
        paused.clear();
    }
}
