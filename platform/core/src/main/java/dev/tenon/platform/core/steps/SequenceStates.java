package dev.tenon.platform.core.steps;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import java.util.Optional;

/// The state slots of a placement's sequences, two for each: one for its state, one for a copy from before its
/// last step of several tokens. A state cannot be cut back, so a sequence that is shortened returns to the
/// copy, or to its beginning, and runs the tokens after it again. Guarded by the loop's lock; does nothing for
/// a plan without states.
final class SequenceStates {
    private final Optional<StateSlots> slots;
    private final int[] free;
    private int freeCount;

    SequenceStates(Plan plan) {
        slots = plan.states();
        freeCount = slots.map(StateSlots::slotCount).orElse(0);
        free = new int[freeCount];
        for (int i = 0; i < freeCount; i++) {
            free[i] = freeCount - 1 - i;
        }
    }

    /// {@return whether the plan has states}
    boolean any() {
        return slots.isPresent();
    }

    /// Prepares a sequence for a step: it has a slot, and before several tokens a copy of its state.
    ///
    /// @param count how many tokens run
    void prepare(TokenSequence sequence, int count) {
        if (slots.isEmpty()) {
            return;
        }
        if (sequence.slot() == StepInput.NO_SLOT) {
            sequence.useSlot(free[--freeCount]);
        }
        if (count > 1 && sequence.computed() > 0 && sequence.savedLength() != sequence.computed()) {
            int copy = sequence.savedSlot() == StepInput.NO_SLOT ? free[--freeCount] : sequence.savedSlot();
            sequence.save(copy, sequence.computed());
            slots.get().copy(sequence.slot(), copy);
        }
    }

    /// Has a sequence run its tokens again from the last state within its first tokens.
    ///
    /// @param length how many tokens
    void rewind(TokenSequence sequence, int length) {
        if (slots.isEmpty() || sequence.slot() == StepInput.NO_SLOT) {
            return;
        }
        int saved = sequence.savedLength();
        if (saved > 0 && saved <= length) {
            slots.get().copy(sequence.savedSlot(), sequence.slot());
            sequence.restart(saved);
        } else {
            // The copy has seen tokens that are taken back.
            sequence.save(sequence.savedSlot(), 0);
            sequence.restart(0);
        }
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
}
