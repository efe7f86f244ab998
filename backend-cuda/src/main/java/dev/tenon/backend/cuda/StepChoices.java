package dev.tenon.backend.cuda;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenChoice;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The tokens that the device chooses behind the rows of one step. The step may mix prompts with
/// generations, and rows that the device chooses from with rows that are the host's. Reused from
/// step to step, under the plan's lock.
final class StepChoices {
    private final List<TokenChoice> rows = new ArrayList<>();
    private boolean[] own = new boolean[16];
    private int[] tokens = new int[16];
    private int ownCount;

    /// Forgets the last step.
    void clear() {
        rows.clear();
        ownCount = 0;
    }

    /// Begins a step.
    ///
    /// @param shape its shape, in which the host chooses
    /// @param input the step
    /// @param most most rows of a step in which the device can choose
    /// @return its shape
    StepShape begin(StepShape shape, StepInput input, int most) {
        if (input.choiceCount() == 0 || input.logitRows() > most) {
            return shape;
        }
        if (own.length < most) {
            own = new boolean[most];
            tokens = new int[most];
        }
        int candidates = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            if (input.wantsLogits(t)) {
                TokenChoice choice = input.choice(t);
                int candidatesOfRow = choice == null ? 0 : TokenRing.candidates(choice);
                own[rows.size()] = candidatesOfRow > 0;
                ownCount += candidatesOfRow > 0 ? 1 : 0;
                // What the device chooses for a row of the host's is not looked at: the cheapest.
                rows.add(candidatesOfRow > 0 ? choice : TokenChoice.GREEDY);
                candidates = Math.max(candidates, candidatesOfRow);
            }
        }
        return candidates == 0 ? shape : shape.choosing(candidates);
    }

    /// {@return how each row is chosen from; what stands for a row of the host's is not looked at}
    List<TokenChoice> rows() {
        return rows;
    }

    /// Reads what the device chose in a step that has ended.
    ///
    /// @param ring the host's memory into which it writes
    /// @param shape the step's shape
    void read(MemorySegment ring, StepShape shape) {
        Arrays.fill(tokens, -1);
        TokenRing.read(ring, 0, shape, tokens, rows.size());
    }

    /// {@return the token behind a row; -1 if the device chose none}
    int token(int row) {
        return ownCount > 0 && own[row] ? tokens[row] : -1;
    }

    /// {@return whether the device chose for more than half of the rows}
    boolean most() {
        return 2 * ownCount > rows.size();
    }
}
