package dev.tenon.platform.core.steps;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// In which order the prompts of a step get its room: those of a higher priority first; then the groups in turns, the
/// one first whose last turn is longest ago; then within a group, from step to step, the one that came first or the
/// one that has the fewest tokens left. So a long prompt goes on and short ones do not wait for its end. Guarded by
/// the loop's lock.
final class PrefillOrder {
    /// Groups that may be remembered which have no prompt.
    private static final int REMEMBERED = 1024;

    private final List<SequenceTask> prompts = new ArrayList<>();
    /// The step of each group's last turn.
    private final Map<String, Long> turns = new HashMap<>();
    private final Comparator<SequenceTask> oldestFirst =
            Comparator.comparingInt(SequenceTask::priority).reversed().thenComparingLong(this::lastTurn);
    private final Comparator<SequenceTask> shortestFirst = oldestFirst.thenComparingInt(SequenceTask::pending);
    private long step;

    /// Begins a step.
    void clear() {
        prompts.clear();
    }

    /// Adds a prompt; those of a higher rank first.
    void add(SequenceTask task) {
        prompts.add(task);
    }

    /// {@return the prompts in the order in which they get room}
    List<SequenceTask> sorted() {
        if (prompts.isEmpty()) {
            return prompts;
        }
        step++;
        if (prompts.size() > 1) {
            prompts.sort(step % 2 == 0 ? shortestFirst : oldestFirst);
        }
        if (turns.size() > REMEMBERED) {
            turns.keySet().retainAll(prompts.stream().map(SequenceTask::group).toList());
        }
        return prompts;
    }

    /// Notes that a prompt got room.
    void ran(SequenceTask task) {
        turns.put(task.group(), step);
    }

    private long lastTurn(SequenceTask task) {
        return turns.getOrDefault(task.group(), 0L);
    }
}
