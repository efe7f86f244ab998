package dev.tenon.platform.core.sampling;

import java.util.Arrays;

/// Keeps the tokens whose information content is closest to the expected one, until their probability exceeds
/// p (locally typical sampling, Meister et al. 2022).
final class TypicalP implements SamplingStep {
    private final float p;
    private long[] order = new long[0];
    private int[] ids = new int[0];
    private float[] logits = new float[0];

    /// Makes the step.
    ///
    /// @param p probability to exceed; 1 or more keeps all
    TypicalP(float p) {
        this.p = p;
    }

    @Override
    public void apply(Candidates c) {
        if (p >= 1) {
            return;
        }
        int n = c.count;
        if (order.length < n) {
            order = new long[n];
            ids = new int[n];
            logits = new float[n];
        }
        double sum = c.softmax();
        double max = c.logits[c.argMax()];
        double logSum = Math.log(sum);
        double entropy = 0;
        for (int i = 0; i < n; i++) {
            entropy -= c.weights[i] / sum * (c.logits[i] - max - logSum);
        }
        for (int i = 0; i < n; i++) {
            float distance = (float) Math.abs(-(c.logits[i] - max - logSum) - entropy);
            order[i] = ((long) Float.floatToRawIntBits(distance) << 32) | i;
        }
        Arrays.sort(order, 0, n);
        double reached = 0;
        int keep = 0;
        while (keep < n) {
            int at = (int) order[keep];
            ids[keep] = c.ids[at];
            logits[keep] = c.logits[at];
            keep++;
            reached += c.weights[at] / sum;
            if (reached > p) {
                break;
            }
        }
        System.arraycopy(ids, 0, c.ids, 0, keep);
        System.arraycopy(logits, 0, c.logits, 0, keep);
        c.reordered();
        c.truncate(keep);
    }
}
