package dev.tenon.platform.core.steps;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// In which order the prompts of a step get its room: those of a higher priority first; then the groups in turns, the
/// one first whose last turn is longest ago; then within a group, from turn to turn, the one that came first or the
/// one that has the fewest tokens left. So a long prompt goes on, and a short one that comes while it ran is first in
/// the group's next turn. Guarded by the loop's lock.
final class PrefillOrder {
    /// Groups that may be remembered which have no prompt.
    private static final int REMEMBERED = 1024;

    private final List<SequenceTask> prompts = new ArrayList<>();
    /// The step of each group's last turn.
    private final Map<String, Long> turns = new HashMap<>();
    /// Groups in whose last turn the prompt that came first was the first.
    private final Set<String> oldestWasFirst = new HashSet<>();
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
        prompts.sort(oldestFirst);
        SequenceTask oldest = prompts.getFirst();
        if (oldestWasFirst.contains(oldest.group())) {
            prompts.sort(shortestFirst);
        }
        if (prompts.getFirst() == oldest) {
            oldestWasFirst.add(oldest.group());
        } else {
            oldestWasFirst.remove(oldest.group());
        }
        if (turns.size() > REMEMBERED) {
            turns.keySet().retainAll(prompts.stream().map(SequenceTask::group).toList());
            oldestWasFirst.retainAll(turns.keySet());
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
