package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.RouterParams;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Chooses the experts of each token, as [RouterParams] says.
///
/// @param params how
/// @param bias `[experts]`, or empty
/// @param logits `[rows, experts]`
/// @param chosen `[rows, used]`
/// @param shares `[rows, used]`
public record RouterRows(RouterParams params, float[] bias, Activations logits, Activations chosen, Activations shares)
        implements CpuRows.Function {
    /// {@return floats of scratch that a row needs}
    public int scratchFloats() {
        return 2 * logits.width + params.groups();
    }

    @Override
    public void row(StepContext c, int row, float[] scratch) {
        int experts = logits.width;
        probabilities(row * experts, scratch);
        for (int e = 0; e < experts; e++) {
            scratch[experts + e] = scratch[e] + (bias.length > 0 ? bias[e] : 0);
        }
        if (params.groupsUsed() < params.groups()) {
            dropGroups(scratch);
        }
        int used = params.used();
        double sum = 0;
        for (int k = 0; k < used; k++) {
            int best = highest(scratch, experts, 2 * experts);
            scratch[best] = Float.NEGATIVE_INFINITY;
            chosen.data[row * used + k] = best - experts;
            shares.data[row * used + k] = scratch[best - experts];
            sum += scratch[best - experts];
        }
        double factor = params.normalise() ? params.scale() / Math.max(RouterParams.LEAST_SUM, sum) : params.scale();
        for (int k = row * used; k < (row + 1) * used; k++) {
            shares.data[k] = (float) (shares.data[k] * factor);
        }
    }

    private void probabilities(int from, float[] p) {
        int experts = logits.width;
        float max = logits.data[highest(logits.data, from, from + experts)];
        double sum = 0;
        for (int e = 0; e < experts; e++) {
            double logit = logits.data[from + e];
            double value = switch (params.gating()) {
                case SOFTMAX -> Math.exp(logit - max);
                case SIGMOID -> 1 / (1 + Math.exp(-logit));
                case SOFTPLUS_ROOT -> Math.sqrt(Math.max(logit, 0) + Math.log1p(Math.exp(-Math.abs(logit))));
            };
            p[e] = (float) value;
            sum += value;
        }
        for (int e = 0; params.gating() == RouterParams.Gating.SOFTMAX && e < experts; e++) {
            p[e] = (float) (p[e] / sum);
        }
    }

    /// Lets no expert be chosen that is not in one of the highest groups.
    private void dropGroups(float[] scratch) {
        int experts = logits.width;
        int size = experts / params.groups();
        int sums = 2 * experts;
        for (int g = 0; g < params.groups(); g++) {
            float first = Float.NEGATIVE_INFINITY;
            float second = Float.NEGATIVE_INFINITY;
            for (int e = experts + g * size; e < experts + (g + 1) * size; e++) {
                second = Math.max(second, Math.min(first, scratch[e]));
                first = Math.max(first, scratch[e]);
            }
            scratch[sums + g] = size > 1 ? first + second : first;
        }
        for (int dropped = params.groupsUsed(); dropped < params.groups(); dropped++) {
            int lowest = params.groups() - 1;
            for (int g = lowest - 1; g >= 0; g--) {
                lowest = scratch[sums + g] < scratch[sums + lowest] ? g : lowest;
            }
            scratch[sums + lowest] = Float.POSITIVE_INFINITY;
            for (int e = experts + lowest * size; e < experts + (lowest + 1) * size; e++) {
                scratch[e] = Float.NEGATIVE_INFINITY;
            }
        }
    }

    private static int highest(float[] values, int from, int to) {
        int best = from;
        for (int i = from + 1; i < to; i++) {
            best = values[i] > values[best] ? i : best;
        }
        return best;
    }
}
