package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.error.OutOfResourcesException;
import java.util.List;

/// Decides which of the waiting tasks the next step runs, and how much of each. Used with the loop's lock held.
final class BatchComposer {
    private static final int MAX_LOGIT_ROWS = 64;

    private final int maxBatchTokens;
    private final int maxSequences;
    private final boolean whole;
    private final PrefillBudget budget;
    private final PrefillOrder prompts = new PrefillOrder();
    private List<SequenceTask> batch;
    private StepInput input;
    private int room;
    private int logitRoom;
    private int decodeRows;

    /// @param limits limits of a step
    /// @param whole whether a step takes a sequence whole or not at all, as encoders need; none is longer than a
    ///     step
    BatchComposer(StepLimits limits, boolean whole) {
        this.maxBatchTokens = limits.maxBatchTokens();
        this.maxSequences = limits.maxSequences();
        this.budget = new PrefillBudget(limits.prefillMillis());
        this.whole = whole;
    }

    /// Fills the batch: decode rows first, then prefill chunks with the room that is left. A task has the pages
    /// for all its tokens before any of them run. One that could not have them alone fails.
    ///
    /// @param waiting in the order of their rank
    /// @param to receives the tasks that take part
    /// @param tokens receives their tokens
    /// @param placed where they run
    /// @return how many wait for pages
    int compose(List<SequenceTask> waiting, List<SequenceTask> to, StepInput tokens, PlacedSequences placed) {
        batch = to;
        input = tokens;
        room = maxBatchTokens;
        logitRoom = whole ? maxBatchTokens : Math.max(MAX_LOGIT_ROWS, maxSequences);
        prompts.clear();
        int without = 0;
        for (int i = 0; i < waiting.size(); i++) {
            SequenceTask task = waiting.get(i);
            if (!hasPages(task, i - without, without > 0, placed)) {
                without++;
            } else if (task.failed()) {
                batch.add(task);
            } else if (task.pending() == 1) {
                run(task, 1, placed);
            } else {
                prompts.add(task);
            }
        }
        decodeRows = input.tokenCount();
        List<SequenceTask> sorted = prompts.sorted();
        if (!whole && !sorted.isEmpty() && decodeRows > 0) {
            room = Math.min(room, budget.tokens(room));
        }
        for (int i = 0; i < sorted.size(); i++) {
            SequenceTask task = sorted.get(i);
            if (run(task, room, placed)) {
                prompts.ran(task);
            }
        }
        return without;
    }

    /// Notes what the step took that was composed last.
    ///
    /// @param nanos of the step
    void ran(long nanos) {
        budget.ran(decodeRows, input.tokenCount() - decodeRows, nanos);
    }

    /// {@return whether a task has the pages that it needs; also if it failed because there are too few}
    ///
    /// @param above how many tasks of a higher rank run
    /// @param othersWait whether one of them waits for pages, which those that have none yet do not overtake
    private static boolean hasPages(SequenceTask task, int above, boolean othersWait, PlacedSequences placed) {
        TokenSequence sequence = task.sequence();
        if (othersWait && sequence.pageCount() == 0) {
            return false;
        }
        if (task.pending() > 1) {
            placed.supply().reuse(task);
        }
        // Each of those above may need one soon, and would take it from this one.
        int spare = task.pending() == 1 ? 0 : above;
        try {
            return placed.supply().supply(task, sequence.length(), spare);
        } catch (OutOfResourcesException e) {
            task.assign(0, 0);
            task.fail(e);
            return true;
        }
    }

    /// Adds pending tokens of a task, as many as there is room for.
    ///
    /// @return whether it takes part
    private boolean run(SequenceTask task, int most, PlacedSequences placed) {
        TokenSequence sequence = task.sequence();
        if (room == 0 || input.sequenceCount() == maxSequences || whole && task.pending() > room) {
            return false;
        }
        int count = Math.min(task.pending(), Math.min(most, room));
        int first = sequence.computed();
        int rows = Math.max(0, first + count - Math.max(first, task.logitsFrom()));
        if (rows > logitRoom) {
            count -= rows - logitRoom;
            rows = logitRoom;
        }
        if (count <= 0 && task.pending() > 0) {
            return false;
        }
        placed.states().prepare(sequence, count);
        batch.add(task);
        task.assign(count, rows);
        add(task, first, count);
        room -= count;
        logitRoom -= rows;
        return true;
    }

    private void add(SequenceTask task, int first, int count) {
        TokenSequence sequence = task.sequence();
        input.addSequence(sequence.pageTable(), sequence.slot(), sequence.adapters());
        for (int p = first; p < first + count; p++) {
            if (task.choice() != null && p == sequence.length() - 1) {
                input.addToken(sequence.token(p), p, task.choice());
            } else {
                input.addToken(sequence.token(p), p, p >= task.logitsFrom());
            }
        }
    }
}
