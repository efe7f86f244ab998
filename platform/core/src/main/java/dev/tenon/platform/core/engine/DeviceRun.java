package dev.tenon.platform.core.engine;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenChoice;
import dev.tenon.api.device.TokenGenerator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Several steps of a batch in one go, in which the device chooses the tokens. Possible where every item
/// of the batch has one token pending and leaves the choice to the device, and nobody else waits.
///
/// A single session hears each token as it comes, on its own thread; several get theirs when the run has
/// ended, which is why theirs is short. Used by the scheduler's leader; [#prepare] and [#end] under the
/// scheduler's lock.
final class DeviceRun {
    /// Most steps of a run of one session, and of several.
    private static final int ALONE = 64;

    private static final int TOGETHER = 16;

    private final List<StepItem> items = new ArrayList<>();
    private final List<TokenChoice> choices = new ArrayList<>();
    private StepInput input;
    private TokenGenerator generator;
    private boolean alone;

    /// Finds out whether a batch can run in this way, and takes pages for its tokens.
    ///
    /// @return how many steps to run; 0 if the batch is to be run as any other
    int prepare(
            Plan plan, PagePool pool, List<StepItem> batch, StepInput composed, StepItem leader, boolean othersWait) {
        items.clear();
        choices.clear();
        if (batch.isEmpty() || othersWait || plan.generator().isEmpty()) {
            return 0;
        }
        generator = plan.generator().get();
        int steps = batch.size() == 1 ? ALONE : TOGETHER;
        for (StepItem item : batch) {
            if (item.choice == null
                    || item.error != null
                    || item.pending() != 1
                    || item.rows != 1
                    || !generator.supports(item.choice)) {
                choices.clear();
                return 0;
            }
            choices.add(item.choice);
            steps = Math.min(steps, item.mostTokens);
        }
        items.addAll(batch);
        input = composed;
        alone = batch.size() == 1 && batch.getFirst() == leader;
        KvPages pages = plan.kvPages();
        int tokensPerPage = pages.tokensPerPage();
        if (pagesFor(steps, tokensPerPage) > pool.freePages()) {
            return 1;
        }
        input.clear();
        for (StepItem item : items) {
            int first = item.sequence.computed();
            while (item.sequence.pageCount() * tokensPerPage < first + steps) {
                item.sequence.addPage(pool.take());
            }
            input.addSequence(item.sequence.pageTable());
            input.addToken(item.sequence.token(first), first, true);
        }
        return steps;
    }

    private int pagesFor(int steps, int tokensPerPage) {
        int pages = 0;
        for (StepItem item : items) {
            int needed = (item.sequence.computed() + steps + tokensPerPage - 1) / tokensPerPage;
            pages += Math.max(0, needed - item.sequence.pageCount());
        }
        return pages;
    }

    /// Runs the steps; ends early when a session has what it wants or somebody waits.
    void generate(int steps, BooleanSupplier wanted) {
        generator.generate(input, choices, steps, tokens -> {
            boolean more = !wanted.getAsBoolean();
            for (int i = 0; i < tokens.length; i++) {
                StepItem item = items.get(i);
                item.sequence.advance(1);
                item.sequence.append(tokens[i]);
                item.chosen++;
                if (alone) {
                    more &= item.taker.test(tokens[i]);
                    item.taken++;
                } else {
                    more &= !item.ends.test(tokens[i]);
                }
            }
            return more;
        });
    }

    /// Gives back the pages that a run has not come to.
    void end(Placement placement, PagePool pool) {
        if (placement != null) {
            int tokensPerPage = placement.plan().kvPages().tokensPerPage();
            for (StepItem item : items) {
                item.sequence.truncate(item.sequence.length(), tokensPerPage, pool);
            }
        }
        items.clear();
        choices.clear();
    }
}
