package dev.tenon.backend.cuda;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenChoice;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// What a plan needs to generate tokens without the host; the plan runs the steps.
///
/// @param plan runs them
record CudaGenerator(Steps plan) implements TokenGenerator {
    /// Looks at a memory location so often between two questions to the driver.
    private static final int LOOKS = 10_000;

    /// Runs the steps; as [TokenGenerator#generate].
    interface Steps {
        void generate(StepInput input, List<TokenChoice> choices, int steps, TokenSink sink);
    }

    @Override
    public boolean supports(TokenChoice choice) {
        return TokenRing.candidates(choice) > 0;
    }

    @Override
    public void generate(StepInput input, List<TokenChoice> choices, int steps, TokenSink sink) {
        plan.generate(input, choices, steps, sink);
    }

    /// {@return the shape of the steps}
    ///
    /// @throws IllegalArgumentException if the input is not what `generate` takes
    static StepShape shape(StepInput input, List<TokenChoice> choices, int steps, int mostRows) {
        int rows = input.tokenCount();
        if (steps < 1 || rows < 1 || rows > mostRows) {
            throw new IllegalArgumentException(
                    steps + " steps of " + rows + " tokens; expected at least 1 step and 1 to " + mostRows + " tokens");
        }
        if (rows != input.logitRows() || rows != input.sequenceCount() || rows != choices.size()) {
            throw new IllegalArgumentException(rows + " tokens, " + input.logitRows() + " that want logits, "
                    + input.sequenceCount() + " sequences, " + choices.size() + " choices; expected one of each");
        }
        int candidates = 0;
        for (TokenChoice choice : choices) {
            int own = TokenRing.candidates(choice);
            if (own == 0) {
                throw new IllegalArgumentException("the device cannot choose as " + choice
                        + " says; expected temperature 0 or a top-k of 1 to " + TokenRing.MOST_CANDIDATES);
            }
            candidates = Math.max(candidates, own);
        }
        return StepShape.choosing(rows, candidates);
    }

    /// Waits until a step has given its tokens.
    static void await(MemorySegment chosen, int step, CudaContext context) {
        while (TokenRing.arrived(chosen) <= step) {
            for (int i = 0; i < LOOKS; i++) {
                Thread.onSpinWait();
                if (TokenRing.arrived(chosen) > step) {
                    return;
                }
            }
            if (context.ended() && TokenRing.arrived(chosen) <= step) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED,
                        "step " + step + " of a generation ended on the device without giving a token; load the"
                                + " model again, or choose another backend",
                        0,
                        null);
            }
        }
    }

    /// Refuses what is no token.
    static void check(int[] tokens, int step) {
        for (int i = 0; i < tokens.length; i++) {
            if (tokens[i] < 0) {
                throw new BackendException(
                        ErrorCode.MODEL_DATA,
                        "The model produced logits of which no token can be chosen, NaN or infinite, in sequence " + i
                                + ", step " + step + ". Its weights are damaged or a kernel overflowed: check the"
                                + " file's checksum, then try another backend.");
            }
        }
    }
}
