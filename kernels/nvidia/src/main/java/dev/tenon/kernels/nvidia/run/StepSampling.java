package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenMasks;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/// The tokens that the device samples from the rows of one step. The step may mix prompts with
/// generations, and rows that the device samples from with rows that are the host's. Reused from step to
/// step, in the plan's turn.
final class StepSampling {
    private final int maxRows;
    private final int width;
    private final MemorySegment masks;
    private final BitSet masked = new BitSet();
    private final List<TokenSampling> rows = new ArrayList<>();
    private final boolean[] own;
    private final int[] tokens;
    private int ownCount;

    /// @param maxRows most rows of a step in which the device can sample; 0 if it cannot
    /// @param width logits in a row
    /// @param masks the host's memory of masks
    StepSampling(int maxRows, int width, MemorySegment masks) {
        this.maxRows = maxRows;
        this.width = width;
        this.masks = masks;
        this.own = new boolean[maxRows];
        this.tokens = new int[maxRows];
    }

    /// Forgets the last step.
    void clear() {
        rows.clear();
        masked.clear();
        ownCount = 0;
    }

    /// {@return whether the device can sample}
    boolean possible() {
        return maxRows > 0;
    }

    /// Begins a step, and writes its masks.
    ///
    /// @param shape its shape, in which the host samples
    /// @param input the step
    /// @return its shape
    StepShape begin(StepShape shape, StepInput input) {
        if (input.samplingCount() == 0 || input.logitRows() > maxRows) {
            return shape;
        }
        int candidates = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            if (input.wantsLogits(t)) {
                TokenSampling choice = input.sampling(t);
                int candidatesOfRow = choice == null ? 0 : TokenRing.candidates(choice);
                if (candidatesOfRow > 0 && input.mask(t) != null) {
                    TokenMasks.write(masks, rows.size(), width, input.mask(t));
                    masked.set(rows.size());
                }
                own[rows.size()] = candidatesOfRow > 0;
                ownCount += candidatesOfRow > 0 ? 1 : 0;
                // What the device samples for a row of the host's is not looked at: the cheapest.
                rows.add(candidatesOfRow > 0 ? choice : TokenSampling.GREEDY);
                candidates = Math.max(candidates, candidatesOfRow);
            }
        }
        return candidates == 0 ? shape : shape.sampling(candidates);
    }

    /// {@return how each row is sampled from; what stands for a row of the host's is not looked at}
    List<TokenSampling> rows() {
        return rows;
    }

    /// {@return the rows that have a mask}
    BitSet masked() {
        return masked;
    }

    /// Reads what the device sampled in a step that has ended.
    ///
    /// @param ring the host's memory into which it writes
    /// @param shape the step's shape
    void read(MemorySegment ring, StepShape shape) {
        Arrays.fill(tokens, -1);
        TokenRing.read(ring, 0, shape, tokens, rows.size());
    }

    /// {@return the token sampled from a row; -1 if the device sampled none}
    int token(int row) {
        return ownCount > 0 && own[row] ? tokens[row] : -1;
    }

    /// {@return whether the device sampled from more than one of two rows}
    boolean most() {
        return 2 * ownCount > rows.size();
    }
}
