package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.floats;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.ints;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.util.stream.IntStream;

/// `attention.cu`, `attention_prefill.cu`, and `rope_append` of `small.cu`.
///
/// @param keys keys of the layer
/// @param values values of the layer
/// @param heads query heads
/// @param scale of scores
/// @param window positions that a token sees; 0 for all
/// @param softCap limit of scores; 0 for none
/// @param sinks one more score of each head, or null
/// @param lasts the last position of each row's sequence in the step, for rows that see what follows them; or
///     null
/// @param bias what is added to scores by distance
/// @param growth how queries are scaled by their position
/// @param chunk positions of a run; 0 for one run
/// @param firsts where the window of each row ends, after which it sees all up to its last position; or null
record Attention(
        KvCache keys,
        KvCache values,
        int heads,
        float scale,
        int window,
        float softCap,
        float[] sinks,
        int[] lasts,
        Bias bias,
        Growth growth,
        int chunk,
        int[] firsts) {
    /// What queries are scaled with by their position.
    private record Growth(float gain, int offset, int period) {
        static final Growth NONE = new Growth(0, 0, 1);

        double at(int position) {
            return 1 + gain * Math.log(1 + (position + offset) / period);
        }
    }

    /// What is added to the scores of a head, by the distance of key and query.
    private record Bias(float[] values, int reach, int span) {
        static final Bias NONE = new Bias(null, 0, 1);

        double at(int head, int distance) {
            return values == null ? 0 : values[head * span + Math.clamp(distance + reach, 0, span - 1)];
        }
    }

    private static Growth growth(KernelLaunch launch, int from) {
        return new Growth(launch.floatParameter(from), launch.intParameter(from + 1), launch.intParameter(from + 2));
    }

    /// `rope_append_T(q, k, v, qNorm, kNorm, eps, table, positions, sequences, pages, maxPages, kCache,
    /// vCache, heads, kvHeads, keyLength, valueLength, ropeDim, pairing)`.
    static void ropeAppend(KernelLaunch launch, String type) {
        int rows = launch.geometry().gridY();
        int heads = launch.longParameter(0) == 0 ? 0 : launch.intParameter(13);
        int kvHeads = launch.intParameter(14);
        int keyLength = launch.intParameter(15);
        int valueLength = launch.intParameter(16);
        long pages = launch.longParameter(9);
        int maxPages = launch.intParameter(10);
        Attention attention = new Attention(
                new KvCache(launch, type, launch.longParameter(11), pages, maxPages, kvHeads, keyLength),
                new KvCache(launch, type, launch.longParameter(12), pages, maxPages, kvHeads, valueLength),
                heads,
                1,
                0,
                0,
                null,
                null,
                Bias.NONE,
                Growth.NONE,
                0,
                null);
        int[] positions = ints(launch, launch.longParameter(7), rows);
        int[] sequences = ints(launch, launch.longParameter(8), rows);
        long table = launch.longParameter(6);
        Head query = head(launch, 3, table, 17, rows);
        float[] q = heads == 0 ? null : floats(launch, launch.longParameter(0), (long) rows * heads * keyLength);
        for (int t = 0; t < rows; t++) {
            for (int h = 0; sequences[t] >= 0 && h < heads; h++) {
                int at = (t * heads + h) * keyLength;
                query.prepare(t, q, at, q, at, keyLength);
            }
        }
        if (q != null) {
            Arrays.write(launch, launch.longParameter(0), q);
        }
        attention.append(launch, head(launch, 4, table, 17, rows), positions, sequences);
    }

    private static Head head(KernelLaunch launch, int norm, long table, int ropeDim, int rows) {
        return new Head(
                launch,
                launch.longParameter(norm),
                launch.floatParameter(5),
                table,
                launch.intParameter(ropeDim),
                launch.intParameter(ropeDim + 1),
                rows);
    }

    /// Appends the keys and values of all rows (parameters 1 and 2) to the cache.
    private void append(KernelLaunch launch, Head key, int[] positions, int[] sequences) {
        int kvHeads = keys.heads();
        int rows = positions.length;
        float[] k = floats(launch, launch.longParameter(1), (long) rows * kvHeads * keys.length());
        float[] v = floats(launch, launch.longParameter(2), (long) rows * kvHeads * values.length());
        float[] prepared = new float[keys.length()];
        for (int t = 0; t < rows; t++) {
            for (int h = 0; sequences[t] >= 0 && h < kvHeads; h++) {
                int head = t * kvHeads + h;
                key.prepare(t, k, head * keys.length(), prepared, 0, keys.length());
                keys.write(sequences[t], positions[t], h, prepared, 0);
                values.write(sequences[t], positions[t], h, v, head * values.length());
            }
        }
    }

    /// `attention_T_dN(q, k, v, qNorm, kNorm, eps, table, positions, sequences, pages, maxPages, kCache,
    /// vCache, out, partial, counters, heads, kvHeads, keyLength, valueLength, ropeDim, pairing, scale,
    /// window, softCap, sinks, lasts, gain, offset, period, chunk, bias, biasReach, biasSpan, firsts)`: with k,
    /// queries and keys are raw, and the rows are appended first.
    static void attend(KernelLaunch launch, String type) {
        int rows = launch.geometry().gridZ();
        int kvHeads = launch.intParameter(17);
        int keyLength = launch.intParameter(18);
        int valueLength = launch.intParameter(19);
        long pages = launch.longParameter(9);
        int maxPages = launch.intParameter(10);
        int heads = launch.intParameter(16);
        int span = launch.intParameter(33);
        Attention attention = new Attention(
                new KvCache(launch, type, launch.longParameter(11), pages, maxPages, kvHeads, keyLength),
                new KvCache(launch, type, launch.longParameter(12), pages, maxPages, kvHeads, valueLength),
                heads,
                launch.floatParameter(22),
                launch.intParameter(23),
                launch.floatParameter(24),
                floats(launch, launch.longParameter(25), heads),
                rowPositions(launch, 26, rows),
                new Bias(floats(launch, launch.longParameter(31), (long) heads * span), launch.intParameter(32), span),
                growth(launch, 27),
                launch.intParameter(30),
                rowPositions(launch, 34, rows));
        int[] positions = ints(launch, launch.longParameter(7), rows);
        int[] sequences = ints(launch, launch.longParameter(8), rows);
        float[] q = floats(launch, launch.longParameter(0), (long) rows * heads * keyLength);
        if (launch.longParameter(1) != 0) {
            long table = launch.longParameter(6);
            Head query = head(launch, 3, table, 20, rows);
            for (int i = 0; i < rows * heads; i++) {
                query.prepare(i / heads, q, i * keyLength, q, i * keyLength, keyLength);
            }
            attention.append(launch, head(launch, 4, table, 20, rows), positions, sequences);
        }
        float[] out = new float[rows * heads * valueLength];
        IntStream.range(0, rows * heads).parallel().forEach(i -> {
            int t = i / heads;
            if (sequences[t] >= 0) {
                attention.row(t, q, i * keyLength, sequences[t], positions[t], i % heads, out, i * valueLength);
            }
        });
        Arrays.write(launch, launch.longParameter(13), out);
    }

    /// `attention_prefill_T_dN(q, tiles, positions, pages, maxPages, kCache, vCache, out, halved, heads, kvHeads,
    /// scale, window, softCap, sinks, lasts, gain, offset, period, chunk, firsts)`: a block a tile and
    /// kv head; a tile is first row, rows, sequence.
    static void attendTiles(KernelLaunch launch, String type, int length) {
        int count = launch.geometry().gridX();
        int[] tiles = ints(launch, launch.longParameter(1), 4L * count);
        int[] positions = ints(launch, launch.longParameter(2), rowsOf(tiles));
        int heads = launch.intParameter(9);
        int kvHeads = launch.intParameter(10);
        long pages = launch.longParameter(3);
        int maxPages = launch.intParameter(4);
        Attention attention = new Attention(
                new KvCache(launch, type, launch.longParameter(5), pages, maxPages, kvHeads, length),
                new KvCache(launch, type, launch.longParameter(6), pages, maxPages, kvHeads, length),
                heads,
                launch.floatParameter(11),
                launch.intParameter(12),
                launch.floatParameter(13),
                floats(launch, launch.longParameter(14), heads),
                rowPositions(launch, 15, rowsOf(tiles)),
                Bias.NONE,
                growth(launch, 16),
                launch.intParameter(19),
                rowPositions(launch, 20, rowsOf(tiles)));
        for (int i = 0; i < count; i++) {
            int first = tiles[4 * i];
            int rows = tiles[4 * i + 1];
            int sequence = tiles[4 * i + 2];
            long offset = (long) first * heads * length;
            float[] q = floats(launch, launch.longParameter(0) + 4 * offset, (long) rows * heads * length);
            float[] out = new float[q.length];
            IntStream.range(0, rows * heads)
                    .parallel()
                    .forEach(r -> attention.row(
                            first + r / heads,
                            q,
                            r * length,
                            sequence,
                            positions[first + r / heads],
                            r % heads,
                            out,
                            r * length));
            if (launch.intParameter(8) != 0) {
                Arrays.writeF16s(launch, launch.longParameter(7) + 2 * offset, out);
            } else {
                Arrays.write(launch, launch.longParameter(7) + 4 * offset, out);
            }
        }
    }

    private static int[] rowPositions(KernelLaunch launch, int parameter, int rows) {
        long va = launch.longParameter(parameter);
        return va == 0 ? null : ints(launch, va, rows);
    }

    private static int rowsOf(int[] tiles) {
        int rows = 0;
        for (int i = 0; i < tiles.length; i += 4) {
            rows = Math.max(rows, tiles[i] + tiles[i + 1]);
        }
        return rows;
    }

    /// One query head of row t of the step.
    private void row(int t, float[] q, int from, int sequence, int position, int head, float[] out, int to) {
        int kvHead = head / (heads / keys.heads());
        boolean half = lasts != null && firsts == null;
        int before = half ? window / 2 : window - 1;
        int low = window > 0 ? Math.max(0, (firsts == null ? position : firsts[t]) - before) : 0;
        low = chunk > 0 ? Math.max(low, position / chunk * chunk) : low;
        int last = position;
        if (lasts != null) {
            last = half && window > 0 ? Math.min(lasts[t], position + before) : lasts[t];
        }
        double[] scores = new double[last + 1 - low];
        float[] key = new float[keys.length()];
        double greatest = sinks == null ? Double.NEGATIVE_INFINITY : sinks[head];
        for (int p = low; p <= last; p++) {
            keys.read(sequence, p, kvHead, key);
            double score = 0;
            for (int i = 0; i < key.length; i++) {
                score += (double) q[from + i] * key[i];
            }
            score *= scale * growth.at(position);
            score = softCap > 0 ? softCap * Math.tanh(score / softCap) : score;
            scores[p - low] = score + bias.at(head, p - position);
            greatest = Math.max(greatest, scores[p - low]);
        }
        double[] sums = new double[values.length()];
        float[] value = new float[values.length()];
        double total = sinks == null ? 0 : Math.exp(sinks[head] - greatest);
        for (int p = low; p <= last; p++) {
            double weight = Math.exp(scores[p - low] - greatest);
            total += weight;
            values.read(sequence, p, kvHead, value);
            for (int i = 0; i < value.length; i++) {
                sums[i] += weight * value[i];
            }
        }
        for (int i = 0; i < sums.length; i++) {
            out[to + i] = (float) (sums[i] / total);
        }
    }
}
