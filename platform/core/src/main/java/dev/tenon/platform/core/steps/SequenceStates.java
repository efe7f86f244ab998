package dev.tenon.platform.core.steps;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.platform.core.steps.PrefixCache.Page;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/// The state slots of a placement's sequences, two for each: one for its state, one for a copy from before its
/// last step of several tokens. A state cannot be cut back, so a sequence that is shortened returns to that
/// copy, to a [checkpoint][StateCheckpoints] of its shared pages, or to its beginning, and runs the tokens after it
/// again. Guarded by the loop's lock; does nothing for a plan without states.
final class SequenceStates implements AutoCloseable {
    private final Optional<StateSlots> slots;
    private final StateCheckpoints checkpoints;
    private final int tokensPerPage;
    private final int[] free;
    private int freeCount;

    /// @param plan has the slots
    /// @param sequences most sequences; slots beyond those for them hold checkpoints
    /// @param limits of what checkpoints take besides
    /// @param tokensPerPage tokens of a page
    SequenceStates(Plan plan, int sequences, CheckpointLimits limits, int tokensPerPage) {
        slots = plan.states();
        this.tokensPerPage = tokensPerPage;
        freeCount = slots.map(all -> Math.min(all.slotCount(), 2 * sequences)).orElse(0);
        free = new int[freeCount];
        for (int i = 0; i < freeCount; i++) {
            free[i] = freeCount - 1 - i;
        }
        checkpoints = slots.map(all -> new StateCheckpoints(all, free.length, limits, tokensPerPage))
                .orElse(null);
    }

    /// {@return whether the plan has states}
    boolean any() {
        return slots.isPresent();
    }

    /// {@return whether there are slots for checkpoints}
    boolean keepsCheckpoints() {
        return any() && slots.get().slotCount() > free.length;
    }

    /// {@return how many checkpoints there are}
    int checkpoints() {
        return any() ? checkpoints.count() : 0;
    }

    /// Notes what running a token of a prompt takes.
    ///
    /// @param nanos 0 as long as that is not known
    void tokenNanos(double nanos) {
        if (any()) {
            checkpoints.tokenNanos(nanos);
        }
    }

    /// Prepares a sequence for a step: it has a slot, and before several tokens there is a copy of its state.
    ///
    /// @param count how many tokens run, proposals too
    void prepare(TokenSequence sequence, int count) {
        if (slots.isEmpty()) {
            return;
        }
        int computed = sequence.computed();
        takeSlot(sequence);
        sequence.seen(computed + count);
        if (count > 1 && computed > 0 && sequence.savedLength() != computed && !isCheckpoint(sequence, computed)) {
            int copy = sequence.savedSlot() == StepInput.NO_SLOT ? free[--freeCount] : sequence.savedSlot();
            sequence.save(copy, computed);
            slots.get().copy(sequence.slot(), copy);
        }
    }

    private void takeSlot(TokenSequence sequence) {
        if (sequence.slot() == StepInput.NO_SLOT) {
            sequence.useSlot(free[--freeCount]);
        }
    }

    private boolean isCheckpoint(TokenSequence sequence, int position) {
        return sequence.sharedPages() * tokensPerPage == position && checkpoints.inMemory(sequence.lastShared());
    }

    /// {@return after how many of the pages that follow its own a sequence can go on}
    int goesOnAfter(List<Page> pages) {
        int most = pages.size();
        while (any() && most > 0 && !checkpoints.has(pages.get(most - 1))) {
            most--;
        }
        int inMemory = most;
        while (any() && inMemory > 0 && !checkpoints.inMemory(pages.get(inMemory - 1))) {
            inMemory--;
        }
        boolean fetched = most > inMemory && checkpoints.fetch(pages.get(most - 1), (most - inMemory) * tokensPerPage);
        return fetched ? most : inMemory;
    }

    /// Has a sequence go on at the end of its shared pages, after which it can.
    void goOn(TokenSequence sequence) {
        if (any()) {
            takeSlot(sequence);
            checkpoints.restore(sequence.lastShared(), sequence.slot());
            sequence.seen(sequence.computed());
        }
    }

    /// {@return the last position of a sequence, from which others can go on: 0 or the end of one of its pages}
    int lastCheckpoint(TokenSequence sequence) {
        return end(last(sequence, sequence.computed(), checkpoints::has));
    }

    /// {@return the last page within the first tokens of a sequence of which something is true; null if there is none}
    private Page last(TokenSequence sequence, int length, Predicate<Page> which) {
        Page page = sequence.lastShared();
        while (page != null && (end(page) > length || !which.test(page))) {
            page = page.before();
        }
        return page;
    }

    /// {@return how many tokens there are up to the end of a page; 0 for null}
    private int end(Page page) {
        return page == null ? 0 : page.depth() * tokensPerPage;
    }

    /// Leaves others the state of a sequence where it stopped for that, if it is at the end of its shared pages.
    void keep(TokenSequence sequence) {
        int at = sequence.computed();
        if (any() && at > 0 && sequence.stop() == at && sequence.sharedPages() * tokensPerPage == at) {
            checkpoints.keep(sequence.lastShared(), sequence.slot());
            if (sequence.stopsInReply()) {
                if (sequence.replaceable() != null && sequence.replaceable() != sequence.lastShared()) {
                    checkpoints.drop(sequence.replaceable());
                }
                sequence.replaceable(sequence.lastShared());
            }
        }
    }

    /// Forgets the checkpoint of a page that is gone.
    void gone(Page page) {
        if (any()) {
            checkpoints.drop(page);
        }
    }

    /// Has a sequence whose state has seen tokens that do not count as computed, such as proposals that were wrong,
    /// run tokens again.
    ///
    /// @return whether it has to
    boolean settle(TokenSequence sequence) {
        boolean ahead = any() && sequence.slot() != StepInput.NO_SLOT && sequence.seen() > sequence.computed();
        if (ahead) {
            rewind(sequence, sequence.computed());
        }
        return ahead;
    }

    /// Has a sequence run its tokens again from the last state within its first tokens.
    ///
    /// @param length how many tokens
    void rewind(TokenSequence sequence, int length) {
        if (slots.isEmpty() || sequence.slot() == StepInput.NO_SLOT) {
            return;
        }
        int saved = sequence.savedLength() <= length ? sequence.savedLength() : 0;
        Page page = last(sequence, length, checkpoints::has);
        if (page != null && !checkpoints.fetch(page, end(page) - saved)) {
            page = last(sequence, length, checkpoints::inMemory);
        }
        int kept = end(page);
        if (kept > saved) {
            checkpoints.restore(page, sequence.slot());
        } else if (saved > 0) {
            slots.get().copy(sequence.savedSlot(), sequence.slot());
        }
        if (saved == 0) {
            // The copy has seen tokens that are taken back.
            sequence.save(sequence.savedSlot(), 0);
        }
        sequence.restart(Math.max(saved, kept));
        sequence.seen(sequence.computed());
    }

    /// Takes the slots of a sequence back.
    void release(TokenSequence sequence) {
        if (sequence.slot() != StepInput.NO_SLOT) {
            free[freeCount++] = sequence.slot();
        }
        if (sequence.savedSlot() != StepInput.NO_SLOT) {
            free[freeCount++] = sequence.savedSlot();
        }
        sequence.useSlot(StepInput.NO_SLOT);
        sequence.save(StepInput.NO_SLOT, 0);
    }

    /// Frees the memory of checkpoints.
    @Override
    public void close() {
        if (any()) {
            checkpoints.close();
        }
    }
}
