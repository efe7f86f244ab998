package dev.tenon.backend.cuda.plan;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.kernels.nvidia.run.Step;
import dev.tenon.kernels.nvidia.run.StepRunner;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Runs steps whose tokens the device samples and gives to the next step itself. There are always some
/// steps under way beyond the one that is waited for, so that the device need not wait for the host.
///
/// @param runner the plan's
/// @param device runs the plan's steps
/// @param context the plan's
record CudaGenerator(StepRunner runner, CudaSteps device, CudaContext context) implements TokenGenerator {
    /// Steps that are under way while the host waits for a token: one that runs and one after it.
    private static final int STEPS_UNDER_WAY = 2;
    /// Looks at a memory location so often between two questions to the driver.
    private static final int LOOKS = 10_000;

    @Override
    public boolean supports(TokenSampling choice) {
        return TokenRing.candidates(choice) > 0;
    }

    @Override
    public void generate(StepInput input, List<TokenSampling> choices, int steps, TokenSink sink) {
        runner.turn().begin("generate");
        try {
            Step first = runner.first(input, choices, steps);
            MemorySegment ring = device.sampled().orElseThrow();
            TokenRing.clear(ring);
            device.send(first);
            try {
                if (run(first, ring, steps, sink) == steps) {
                    runner.allRan(input, steps);
                }
            } finally {
                context.synchronize();
            }
        } finally {
            runner.turn().end();
        }
    }

    /// {@return how many steps the sink took; fewer than `steps` if it had enough}
    private int run(Step first, MemorySegment ring, int steps, TokenSink sink) {
        int[] tokens = new int[first.input().tokenCount()];
        int last = StepLimits.lastPosition(first.input());
        int started = 0;
        for (int done = 0; done < steps; done++) {
            while (started < Math.min(steps, done + STEPS_UNDER_WAY)) {
                device.start(runner.limits().at(first.shape(), last + started), first.input(), started);
                started++;
            }
            await(ring, done);
            TokenRing.read(ring, done, first.shape(), tokens, tokens.length);
            check(tokens, done);
            if (!sink.accept(tokens)) {
                return done + 1;
            }
        }
        return steps;
    }

    /// Waits until a step has given its tokens.
    private void await(MemorySegment ring, int step) {
        while (TokenRing.arrived(ring) <= step) {
            for (int i = 0; i < LOOKS; i++) {
                Thread.onSpinWait();
                if (TokenRing.arrived(ring) > step) {
                    return;
                }
            }
            if (context.ended() && TokenRing.arrived(ring) <= step) {
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
    private static void check(int[] tokens, int step) {
        for (int i = 0; i < tokens.length; i++) {
            if (tokens[i] < 0) {
                throw new BackendException(
                        ErrorCode.MODEL_DATA,
                        "The model produced logits of which no token can be sampled, NaN or infinite, in sequence " + i
                                + ", step " + step + ". Its weights are damaged or a kernel overflowed: check the"
                                + " file's checksum, then try another backend.");
            }
        }
    }
}
