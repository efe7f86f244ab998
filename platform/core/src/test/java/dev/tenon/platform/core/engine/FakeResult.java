package dev.tenon.platform.core.engine;

import dev.tenon.api.device.StepResult;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// What a step of a [FakeBackend] gives.
///
/// @param best the most probable token of each row
/// @param tokens the token that it chose for each row; -1 where it left that to the host
/// @param states the hidden state of each row of an output, which is a number
/// @param read counts rows of logits that are read
record FakeResult(List<Integer> best, List<Integer> tokens, List<Integer> states, AtomicInteger read)
        implements StepResult {
    @Override
    public int rows() {
        return best.size();
    }

    @Override
    public void logits(int row, float[] target) {
        read.incrementAndGet();
        fill(target, best.get(row));
    }

    @Override
    public int token(int row) {
        return tokens.get(row);
    }

    @Override
    public int rows(String output) {
        return states.size();
    }

    @Override
    public void output(String output, int row, float[] target) {
        Arrays.fill(target, states.get(row));
    }

    static void fill(float[] logits, int best) {
        Arrays.fill(logits, -1);
        logits[best] = 1;
    }
}
