package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.text.TokenSampling;
import java.util.List;

/// Decides which of the waiting tasks the next step runs, and how much of each. Used with the loop's lock held.
final class BatchComposer {
    private static final int MAX_LOGIT_ROWS = 64;
    /// Tokens that run in such a step in any case: fewer would read the weights too often.
    private static final int LEAST_ALONE = 32;
    /// Tokens that a sequence runs again beside others' next tokens, and not as a prompt.
    private static final int MOST_AGAIN = 32;

    private final int maxBatchTokens;
    private final int maxSequences;
    private final boolean whole;
    /// Of prompts beside sequences that wait for their next tokens.
    private final PrefillBudget beside;
    /// Of prompts alone.
    private final PrefillBudget alone;
    private final StepCosts costs;
    private final PrefillOrder prompts = new PrefillOrder();
    private CheckpointStops stops;
    private List<SequenceTask> batch;
    private StepInput input;
    /// Whether the plan takes masks.
    private boolean masks;
    private int room;
    private int logitRoom;
    private int decodeRows;
    /// Tasks whose proposals run.
    private int proposing;

    /// @param limits limits of a step
    /// @param whole whether a step takes a sequence whole or not at all, as encoders need; none is longer than a
    ///     step
    /// @param costs learns what steps take
    BatchComposer(StepLimits limits, boolean whole, StepCosts costs) {
        this.maxBatchTokens = limits.maxBatchTokens();
        this.maxSequences = limits.maxSequences();
        this.beside = new PrefillBudget(limits.prefillMillis(), 1);
        this.alone = new PrefillBudget(limits.aloneMillis(), LEAST_ALONE);
        this.whole = whole;
        this.costs = costs;
    }

    /// Fills the batch: decode rows first, then prefill chunks with the room that is left. A task has the pages
    /// for all its tokens before any of them run. One that could not have them alone fails.
    ///
    /// @param waiting in the order of their rank
    /// @param to receives the tasks that take part
    /// @param tokens receives their tokens
    /// @param placed where they run
    /// @return how many wait for pages, or are late
    int compose(List<SequenceTask> waiting, List<SequenceTask> to, StepInput tokens, PlacedSequences placed) {
        batch = to;
        input = tokens;
        masks = placed.placement().plan().takesMasks();
        placed.states().tokenNanos(beside.tokenNanos());
        stops = new CheckpointStops(placed.tokensPerPage(), beside.tokensOfAStep());
        room = maxBatchTokens;
        logitRoom = whole ? maxBatchTokens : Math.max(MAX_LOGIT_ROWS, maxSequences);
        prompts.clear();
        proposing = 0;
        int without = 0;
        int late = 0;
        for (int i = 0; i < waiting.size(); i++) {
            SequenceTask task = waiting.get(i);
            if (task.late() && promptTokens(task) <= 0) {
                late++;
            } else if (!hasPages(task, i - late - without, without > 0, placed)) {
                without++;
            } else if (task.failed()) {
                batch.add(task);
            } else if (task.pending() == 1 || runsAgain(task, placed)) {
                run(task, task.pending(), proposed(task, waiting.size() - i - 1, placed), placed);
            } else {
                prompts.add(task);
            }
        }
        decodeRows = input.tokenCount();
        List<SequenceTask> sorted = prompts.sorted();
        if (!whole && !sorted.isEmpty()) {
            room = Math.min(room, (decodeRows > 0 ? beside : alone).tokens(room));
        }
        for (int i = 0; i < sorted.size(); i++) {
            SequenceTask task = sorted.get(i);
            if (run(task, room, 0, placed)) {
                prompts.ran(task);
            }
        }
        return without + late;
    }

    /// {@return how many of its pending tokens want no logits}
    private static int promptTokens(SequenceTask task) {
        return Math.min(task.pending(), task.logitsFrom() - task.sequence().computed());
    }

    /// {@return whether the tokens before a task's last one have run in its last steps, and run again because its state
    ///     had seen more than was taken}
    private static boolean runsAgain(SequenceTask task, PlacedSequences placed) {
        return placed.states().any()
                && task.pending() <= MOST_AGAIN
                && task.sequence().ran() >= task.sequence().length() - 1;
    }

    /// {@return how many of a task's proposals run: so many that each task after it has room and a page}
    private int proposed(SequenceTask task, int after, PlacedSequences placed) {
        int wanted = Math.min(task.proposals().length, Math.min(room, logitRoom) - task.pending() - after);
        if (placed.states().any()) {
            wanted = Math.min(wanted, stops.proposals(task.sequence()));
        }
        return wanted <= 0 ? 0 : placed.supply().supplyAfter(task.sequence(), wanted, after);
    }

    /// Notes what the step took that was composed last, or each step of a run in which the device sampled.
    ///
    /// @param nanos of a step
    void ran(long nanos, boolean onDevice) {
        int prompts = input.tokenCount() - decodeRows;
        if (!onDevice) {
            beside.ran(decodeRows, prompts, nanos);
            alone.ran(decodeRows > 0 && prompts > 0 ? 0 : 1, prompts, nanos);
        }
        if (prompts == 0) {
            costs.ran(input.sequenceCount(), proposing, input.tokenCount(), nanos);
        }
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
            task.assign(0, 0, 0);
            task.fail(e);
            return true;
        }
    }

    /// Adds pending tokens of a task, as many as there is room for.
    ///
    /// @param proposed how many proposals follow them
    /// @return whether it takes part
    private boolean run(SequenceTask task, int most, int proposed, PlacedSequences placed) {
        TokenSequence sequence = task.sequence();
        if (room <= 0 || input.sequenceCount() == maxSequences || whole && task.pending() > room) {
            return false;
        }
        int count = Math.min(task.late() ? promptTokens(task) : task.pending(), Math.min(most, room));
        int first = sequence.computed();
        int rows = Math.max(0, first + count - Math.max(first, task.logitsFrom()));
        if (rows > logitRoom) {
            count -= rows - logitRoom;
            rows = logitRoom;
        }
        count = whole(sequence.rows(), first, count);
        if (count <= 0 && task.pending() > 0) {
            return false;
        }
        rows = Math.max(0, first + count - Math.max(first, task.logitsFrom()));
        if (placed.states().keepsCheckpoints() && placed.supply().sharesPages(task)) {
            int stopped = stops.stop(task, count + proposed, placed.states().lastCheckpoint(sequence));
            rows = stopped < count ? Math.max(0, rows - (count - stopped)) : rows;
            count = Math.min(count, stopped);
        }
        placed.states().prepare(sequence, count + proposed);
        placed.pool().windows().supply(sequence, first + count + proposed);
        batch.add(task);
        task.assign(count, rows, proposed);
        proposing += proposed > 0 ? 1 : 0;
        add(task, first, count);
        addProposals(task);
        room -= count + proposed;
        logitRoom -= rows + proposed;
        return true;
    }

    /// {@return how many tokens run so that rows that see each other do so in one step, be it more than prompts may
    /// take; 0 if there is no room for them}
    private int whole(SequenceRows rows, int first, int count) {
        int before = rows.wholeTo(first + count) - first;
        int after = rows.wholeFrom(first + count) - first;
        return before > 0 ? before : after <= maxBatchTokens - input.tokenCount() ? after : 0;
    }

    private void add(SequenceTask task, int first, int count) {
        TokenSequence sequence = task.sequence();
        input.addSequence(sequence.pageTable(), sequence.window().table(), sequence.slot(), sequence.adapters());
        SequenceRows rows = sequence.rows();
        for (int p = first; p < first + count; p++) {
            float[] row = rows.any() ? rows.row(p) : null;
            if (row == null && sequence.token(p) < 0) {
                throw new IllegalStateException("token " + p + " stands for a row that the sequence does not have");
            }
            if (row != null) {
                input.addToken(0, p, p >= task.logitsFrom(), row);
            } else if (p == sequence.length() - 1 && task.choice() != null && (task.mask() == null || masks)) {
                input.addToken(sequence.token(p), p, task.choice(), task.mask());
            } else {
                input.addToken(sequence.token(p), p, p >= task.logitsFrom());
            }
            if (rows.any()) {
                rows.placeIn(input, p);
            }
        }
    }

    private void addProposals(SequenceTask task) {
        int first = task.sequence().length();
        for (int i = 0; i < task.checked(); i++) {
            if (task.choice() == null || task.mask() != null) {
                input.addToken(task.proposals()[i], first + i, true);
            } else {
                input.addToken(task.proposals()[i], first + i, later(task.choice(), i + 1));
            }
        }
    }

    /// {@return how a token is sampled some tokens after the next one}
    private static TokenSampling later(TokenSampling next, int tokens) {
        return next.params().temperature() == 0 ? next : new TokenSampling(next.params(), next.drawn() + tokens);
    }
}
