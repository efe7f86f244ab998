package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;

/// What [CoreOp.Attention] adds to a score, after scale and cap, by the head and by how far the key is from the query.
/// Immutable; made by [#alibi(List)] or [#relative(Weight, int)].
///
/// @param slopes of the heads: `-slope * |distance|` is added (ALiBi, Press et al. 2022); empty for a table
/// @param table `[buckets, headCount]`: the element of the distance's bucket and the head is added (T5, Raffel et al.
///     2020); empty for slopes
/// @param maxDistance from where on all distances are in the last bucket of a table; 0 for slopes
public record ScoreBias(List<Float> slopes, Optional<Weight> table, int maxDistance) {
    /// Copies the slopes and checks what belongs together.
    public ScoreBias {
        slopes = List.copyOf(slopes);
        if (slopes.isEmpty() != table.isPresent() || table.isPresent() != maxDistance > 0) {
            throw new IllegalArgumentException("score bias with " + slopes.size() + " slopes, table " + table
                    + " and longest distance " + maxDistance + "; expected slopes, or a table with a distance");
        }
        if (table.isPresent()) {
            // Half of them are exact, and of an encoder half are for keys after the query.
            int buckets = table.get().rows();
            if (table.get().slices() != 1 || buckets < 4 || buckets % 4 != 0 || maxDistance <= buckets / 2) {
                throw new IllegalArgumentException("score bias with table " + table.get() + " and longest distance "
                        + maxDistance + "; expected a multiple of 4 buckets, and a distance of more than half of them");
            }
        }
    }

    /// {@return a bias that falls with the distance}
    ///
    /// @param slopes of each query head
    public static ScoreBias alibi(List<Float> slopes) {
        return new ScoreBias(slopes, Optional.empty(), 0);
    }

    /// {@return the slopes of Press et al. (2022): of `n` heads, a power of two, `2^(-maxBias i / n)` with `i` from 1
    /// on; for other numbers those of the power below, and then every second one of twice that power}
    ///
    /// @param headCount query heads
    /// @param maxBias 8 in the paper (`attention.max_alibi_bias`)
    public static List<Float> slopes(int headCount, float maxBias) {
        int power = Integer.highestOneBit(headCount);
        Float[] slopes = new Float[headCount];
        for (int h = 0; h < headCount; h++) {
            double exponent = h < power ? (h + 1.0) / power : (2 * (h - power) + 1.0) / (2 * power);
            slopes[h] = (float) Math.pow(2, -maxBias * exponent);
        }
        return List.of(slopes);
    }

    /// {@return a bias of the model for each bucket of distances}
    ///
    /// @param table `[buckets, headCount]`, such as `attn_rel_b.weight`
    /// @param maxDistance from where on all distances are in the last bucket; 128 in T5
    public static ScoreBias relative(Weight table, int maxDistance) {
        return new ScoreBias(List.of(), Optional.of(table), maxDistance);
    }

    /// {@return the query heads that it is for}
    public int headCount() {
        return table.map(Weight::cols).orElseGet(slopes::size);
    }

    /// {@return the bucket of a table that a distance is in: the smaller half of them is one distance each, the
    /// others grow by a constant factor up to the longest distance; without a causal mask keys after the query have
    /// buckets of their own, the second half of all}
    ///
    /// @param distance position of the key minus that of the query
    /// @param causal whether keys after the query are not seen
    public int bucket(int distance, boolean causal) {
        int buckets = causal ? table.orElseThrow().rows() : table.orElseThrow().rows() / 2;
        int first = !causal && distance > 0 ? buckets : 0;
        int away = causal ? Math.max(-distance, 0) : Math.abs(distance);
        int exact = buckets / 2;
        if (away < exact) {
            return first + away;
        }
        double grown = Math.log((double) away / exact) / Math.log((double) maxDistance / exact) * (buckets - exact);
        return first + Math.min(exact + (int) grown, buckets - 1);
    }

    /// {@return what is added to a score}
    ///
    /// @param head the query head
    /// @param distance position of the key minus that of the query
    /// @param causal whether keys after the query are not seen
    /// @param values the table's elements, row by row; not read for slopes
    public double at(int head, int distance, boolean causal, float[] values) {
        return table.isPresent()
                ? values[bucket(distance, causal) * headCount() + head]
                : -slopes.get(head) * Math.abs((double) distance);
    }
}
