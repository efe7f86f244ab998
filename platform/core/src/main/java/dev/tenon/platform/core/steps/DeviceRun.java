package dev.tenon.platform.core.steps;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.text.TokenSampling;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Several steps of a batch in one call, in which the device samples the tokens. Possible where
/// every task of the batch has one token pending and leaves the sampling to the device, no mask
/// depends on the tokens, and nobody else waits. Used by the thread that drives the loop; [#prepare]
/// and [#end] with the loop's lock.
final class DeviceRun {
    /// Most steps of a run of one session, and of several.
    private static final int ALONE = 64;

    private static final int TOGETHER = 16;

    private final List<SequenceTask> tasks = new ArrayList<>();
    private final List<TokenSampling> choices = new ArrayList<>();
    private StepInput input;
    private TokenGenerator generator;
    private PagePool pool;
    private int tokensPerPage;
    private int done;

    /// Finds out whether a batch can run in this way, and takes pages for its tokens.
    ///
    /// @param composed the batch's input; composed again for the run
    /// @return how many steps to run; 0 if the batch is to be run as any other
    int prepare(Plan plan, PlacedSequences placed, List<SequenceTask> batch, StepInput composed) {
        if (batch.isEmpty() || plan.generator().isEmpty() || placed.head() != null) { // which needs each hidden state
            return 0;
        }
        generator = plan.generator().get();
        tokensPerPage = plan.kvPages().tokensPerPage();
        int steps = batch.size() == 1 ? ALONE : TOGETHER;
        for (SequenceTask task : batch) {
            if (!canRun(task)) {
                return 0;
            }
            steps = Math.min(steps, task.mostTokens());
            if (placed.states().any()) { // others go on from states at the ends of pages
                steps = Math.min(steps, tokensPerPage - task.sequence().computed() % tokensPerPage);
            }
        }
        tasks.addAll(batch);
        for (SequenceTask task : tasks) {
            choices.add(task.choice());
        }
        input = composed;
        pool = placed.pool();
        if (pagesFor(steps) > pool.freePages()
                || windowPagesFor(steps) > pool.windows().freePages()) {
            return 1;
        }
        input.clear();
        for (SequenceTask task : tasks) {
            TokenSequence sequence = task.sequence();
            int first = sequence.computed();
            int end = first + steps;
            placed.supply().supplyFree(sequence, end);
            placed.states().prepare(sequence, steps);
            pool.windows().supply(sequence, end);
            sequence.stop(end % tokensPerPage == 0 ? end : 0, true);
            input.addSequence(sequence.pageTable(), sequence.window().table(), sequence.slot(), sequence.adapters());
            input.addToken(sequence.token(first), first, true);
        }
        return steps;
    }

    private boolean canRun(SequenceTask task) {
        return task.choice() != null
                && task.mask() == null
                && !task.failed()
                && task.pending() == 1
                && !task.sequence().hasRows()
                && task.rows() == 1
                && task.mostTokens() >= 1
                && generator.supports(task.choice());
    }

    private int pagesFor(int steps) {
        int pages = 0;
        for (SequenceTask task : tasks) {
            int needed = (task.sequence().computed() + steps + tokensPerPage - 1) / tokensPerPage;
            pages += Math.max(0, needed - task.sequence().pageCount());
        }
        return pages;
    }

    private int windowPagesFor(int steps) {
        return tasks.stream()
                .map(SequenceTask::sequence)
                .mapToInt(sequence -> pool.windows().lacking(sequence, sequence.computed() + steps))
                .sum();
    }

    /// Runs the steps; ends early when a task has what it wants or somebody waits.
    ///
    /// @param steps most steps
    /// @param check run before tokens are taken; fails if they are not the model's
    /// @param othersWait whether somebody waits
    void generate(int steps, Runnable check, BooleanSupplier othersWait) {
        generator.generate(input, choices, steps, tokens -> {
            check.run();
            done++;
            boolean more = !othersWait.getAsBoolean();
            for (int i = 0; i < tokens.length; i++) {
                more &= tasks.get(i).take(tokens[i]);
            }
            return more;
        });
    }

    /// Releases the pages that the run has not used.
    ///
    /// @return how many steps it had, at least 1
    int end() {
        int steps = Math.max(1, done);
        done = 0;
        for (SequenceTask task : tasks) {
            task.sequence().truncate(task.sequence().length(), tokensPerPage, pool);
        }
        tasks.clear();
        choices.clear();
        generator = null;
        pool = null;
        return steps;
    }
}
