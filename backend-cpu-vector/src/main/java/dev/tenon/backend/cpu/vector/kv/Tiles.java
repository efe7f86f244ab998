package dev.tenon.backend.cpu.vector.kv;

import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.attention.SoftmaxRows;
import java.util.Arrays;

/// A thread's memory for attention: query rows, one page of one head in float32, its raw elements on
/// their way, scores, and the running state of each row within a segment and before it. Arrays are as
/// long as the largest layer needs.
///
/// @param q `[rows, keyLength]`, scaled queries
/// @param keys `[keyLength, TILE]`
/// @param values `[TILE, aligned valueLength]`
/// @param softmax scores, and the state within the segment
/// @param segment the same state
/// @param total state of the segments before
/// @param f16 F16 elements of a page
/// @param levels int8 elements of a page
/// @param scales scales of a page's int8 elements
/// @param runs what an attention kernel is told of rows that see the same positions
/// @param rows queries, state within the segment and runs as such a kernel takes them
public record Tiles(
        float[] q,
        float[] keys,
        float[] values,
        SoftmaxRows softmax,
        State segment,
        State total,
        short[] f16,
        byte[] levels,
        float[] scales,
        int[] runs,
        AttentionRows rows) {
    /// Softmax state of rows: maxima, sums of weights, weighted values `[rows, aligned valueLength]`.
    public record State(float[] max, float[] sum, float[] acc) {
        /// Clears some rows.
        public void clear(int rows, int stride) {
            Arrays.fill(max, 0, rows, Float.NEGATIVE_INFINITY);
            Arrays.fill(sum, 0, rows, 0f);
            Arrays.fill(acc, 0, rows * stride, 0f);
        }

        /// Merges a row of another state into a row of this one: what comes later in the context second.
        public void merge(int row, State other, int otherRow, int stride) {
            float otherMax = other.max[otherRow];
            if (otherMax == Float.NEGATIVE_INFINITY) {
                return;
            }
            int at = row * stride;
            int from = otherRow * stride;
            if (max[row] == Float.NEGATIVE_INFINITY) {
                max[row] = otherMax;
                sum[row] = other.sum[otherRow];
                System.arraycopy(other.acc, from, acc, at, stride);
                return;
            }
            float newMax = Math.max(max[row], otherMax);
            float a = AttentionMath.exp(max[row] - newMax);
            float b = AttentionMath.exp(otherMax - newMax);
            max[row] = newMax;
            sum[row] = sum[row] * a + other.sum[otherRow] * b;
            for (int i = 0; i < stride; i++) {
                acc[at + i] = acc[at + i] * a + other.acc[from + i] * b;
            }
        }
    }
}
