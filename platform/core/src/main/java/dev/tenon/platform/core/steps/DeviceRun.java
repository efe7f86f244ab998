package dev.tenon.platform.core.steps;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenChoice;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.steps.SequenceTask.State;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Several steps of a batch in one go, in which the device samples the tokens. Possible where every
/// task of the batch has one token pending and leaves the sampling to the device, and nobody else
/// waits. Used by the thread that drives the loop; [#prepare] and [#end] under the loop's lock.
final class DeviceRun {
    /// Most steps of a run of one session, and of several.
    private static final int ALONE = 64;

    private static final int TOGETHER = 16;

    private final List<SequenceTask> tasks = new ArrayList<>();
    private final List<TokenChoice> choices = new ArrayList<>();
    private StepInput input;
    private TokenGenerator generator;

    /// Finds out whether a batch can run in this way, and takes pages for its tokens.
    ///
    /// @return how many steps to run; 0 if the batch is to be run as any other
    int prepare(Plan plan, PagePool pool, List<SequenceTask> batch, StepInput composed, boolean othersWait) {
        tasks.clear();
        choices.clear();
        if (batch.isEmpty() || othersWait || plan.generator().isEmpty()) {
            return 0;
        }
        generator = plan.generator().get();
        int steps = batch.size() == 1 ? ALONE : TOGETHER;
        for (SequenceTask task : batch) {
            if (task.choice == null
                    || task.error != null
                    || task.pending() != 1
                    || task.rows != 1
                    || task.mostTokens < 1
                    || !generator.supports(task.choice)) {
                choices.clear();
                return 0;
            }
            choices.add(task.choice);
            steps = Math.min(steps, task.mostTokens);
        }
        tasks.addAll(batch);
        input = composed;
        KvPages pages = plan.kvPages();
        int tokensPerPage = pages.tokensPerPage();
        if (pagesFor(steps, tokensPerPage) > pool.freePages()) {
            return 1;
        }
        input.clear();
        for (SequenceTask task : tasks) {
            int first = task.sequence.computed();
            while (task.sequence.pageCount() * tokensPerPage < first + steps) {
                task.sequence.addPage(pool.take());
            }
            input.addSequence(task.sequence.pageTable());
            input.addToken(task.sequence.token(first), first, true);
        }
        return steps;
    }

    private int pagesFor(int steps, int tokensPerPage) {
        int pages = 0;
        for (SequenceTask task : tasks) {
            int needed = (task.sequence.computed() + steps + tokensPerPage - 1) / tokensPerPage;
            pages += Math.max(0, needed - task.sequence.pageCount());
        }
        return pages;
    }

    /// Runs the steps; ends early when a task has what it wants or somebody waits.
    ///
    /// @param steps most steps
    /// @param wanted whether somebody waits
    /// @param states receives where each task goes afterwards, in the order of the batch
    void generate(int steps, BooleanSupplier wanted, List<State> states) {
        tasks.forEach(task -> states.add(State.QUEUED));
        generator.generate(input, choices, steps, tokens -> {
            boolean more = !wanted.getAsBoolean();
            for (int i = 0; i < tokens.length; i++) {
                State state = take(tasks.get(i), tokens[i]);
                states.set(i, state);
                more &= state == State.QUEUED;
            }
            return more;
        });
    }

    private static State take(SequenceTask task, int token) {
        task.sequence.advance(1);
        task.sequence.append(token);
        try {
            return task.took(token);
        } catch (RuntimeException e) {
            task.error = e;
            return State.ENDED;
        }
    }

    /// Releases the pages that a run has not come to.
    void end(Placement placement, PagePool pool) {
        if (placement != null) {
            int tokensPerPage = placement.plan().kvPages().tokensPerPage();
            for (SequenceTask task : tasks) {
                task.sequence.truncate(task.sequence.length(), tokensPerPage, pool);
            }
        }
        tasks.clear();
        choices.clear();
    }
}
