package dev.tenon.platform.core.sampling;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.util.Arrays;

/// The tokens that may still be sampled, as parallel arrays of ids and logits.
///
/// All arrays are made once for a vocabulary and reused, so a token needs no allocation. The fields
/// are open to the steps of this package: entries `0` to `count - 1` are valid. A step that
/// reorders or edits them calls [#reordered()] or [#edited()].
final class Candidates {
    /// Token ids, `[vocabularySize]`, valid up to `count`.
    final int[] ids;
    /// Logits, `[vocabularySize]`, valid up to `count`; finite.
    final float[] logits;
    /// Scratch of [#softmax()], `[vocabularySize]`: unnormalised weights `exp(logit - max)`.
    final double[] weights;
    /// Number of candidates.
    int count;
    /// Number of leading entries that are the best ones in descending order.
    int sortedPrefix;

    private final long[] keys;
    private boolean ascendingIds;

    /// Makes an empty set.
    ///
    /// @param vocabularySize largest number of candidates; above 0
    Candidates(int vocabularySize) {
        if (vocabularySize <= 0) {
            throw new IllegalArgumentException("vocabularySize is " + vocabularySize + "; expected above 0");
        }
        ids = new int[vocabularySize];
        logits = new float[vocabularySize];
        weights = new double[vocabularySize];
        keys = new long[vocabularySize];
    }

    /// Takes every token whose logit is not negative infinity.
    ///
    /// @param source one logit a token, `[vocabularySize]`; read only
    /// @throws BackendException (`MODEL-007`) if a logit is NaN or positive infinity, or none is left
    void load(float[] source) {
        checkLength(source.length, ids.length);
        int n = 0;
        for (int i = 0; i < source.length; i++) {
            float logit = source[i];
            if (!(logit < Float.POSITIVE_INFINITY)) {
                throw notFinite(i, logit);
            }
            if (logit != Float.NEGATIVE_INFINITY) {
                ids[n] = i;
                logits[n++] = logit;
            }
        }
        if (n == 0) {
            throw noneLeft(source.length);
        }
        count = n;
        sortedPrefix = 0;
        ascendingIds = true;
    }

    /// {@return the best token of raw logits, the lowest id among equals; one scan, no copy}
    ///
    /// @param source one logit a token; read only
    /// @throws BackendException as [#load(float[])]
    static int best(float[] source) {
        int best = -1;
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < source.length; i++) {
            float logit = source[i];
            if (!(logit <= max)) {
                if (!(logit < Float.POSITIVE_INFINITY)) {
                    throw notFinite(i, logit);
                }
                max = logit;
                best = i;
            }
        }
        if (best < 0) {
            throw noneLeft(source.length);
        }
        return best;
    }

    /// {@return position of a token, or -1 if it is no longer a candidate}
    ///
    /// @param id token id
    int indexOf(int id) {
        if (ascendingIds) {
            int at = Arrays.binarySearch(ids, 0, count, id);
            return at < 0 ? -1 : at;
        }
        for (int i = 0; i < count; i++) {
            if (ids[i] == id) {
                return i;
            }
        }
        return -1;
    }

    /// {@return position of the best candidate, the lowest id among equals}
    int argMax() {
        if (sortedPrefix > 0) {
            return 0;
        }
        int best = 0;
        for (int i = 1; i < count; i++) {
            if (isBetter(i, best)) {
                best = i;
            }
        }
        return best;
    }

    /// {@return whether one candidate comes before another: its logit is greater, or equal with a lower id}
    ///
    /// @param i position of the one
    /// @param j position of the other
    boolean isBetter(int i, int j) {
        return logits[i] > logits[j] || logits[i] == logits[j] && ids[i] < ids[j];
    }

    /// Keeps the candidates whose logits reach a threshold, in the present order.
    ///
    /// @param threshold at most the greatest logit
    void keepFrom(double threshold) {
        int n = 0;
        for (int i = 0; i < count; i++) {
            if (logits[i] >= threshold) {
                ids[n] = ids[i];
                logits[n++] = logits[i];
            }
        }
        truncate(n);
    }

    /// Keeps one candidate only.
    ///
    /// @param index its position
    void keepOnly(int index) {
        ids[0] = ids[index];
        logits[0] = logits[index];
        count = 1;
        sortedPrefix = 1;
        ascendingIds = true;
    }

    /// Tells that logits changed, so that the order is unknown.
    void edited() {
        sortedPrefix = 0;
    }

    /// Tells that entries moved, so that neither order holds.
    void reordered() {
        sortedPrefix = 0;
        ascendingIds = false;
    }

    /// Drops all entries from a position on.
    ///
    /// @param newCount number of entries to keep; 1 to `count`
    void truncate(int newCount) {
        count = newCount;
        sortedPrefix = Math.min(sortedPrefix, newCount);
    }

    /// Fills [#weights] with `exp(logit - max)` of every candidate, in the present order.
    ///
    /// @return their sum; the probability of entry i is `weights[i] / sum`
    double softmax() {
        double max = logits[argMax()];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            double w = Math.exp(logits[i] - max);
            weights[i] = w;
            sum += w;
        }
        return sum;
    }

    /// Keeps the k best candidates, in descending order; equal logits by ascending id.
    ///
    /// A heap of k keys is kept while the rest is scanned once.
    ///
    /// @param k how many; above 0; more than `count` keeps all
    void keepTop(int k) {
        if (k >= count || k <= sortedPrefix) {
            sortTop(Math.min(k, count));
            truncate(Math.min(k, count));
            return;
        }
        for (int i = 0; i < k; i++) {
            keys[i] = key(i);
        }
        for (int i = k / 2 - 1; i >= 0; i--) {
            siftDown(i, k);
        }
        float worst = logit(keys[0]);
        for (int i = k; i < count; i++) {
            if (logits[i] >= worst) {
                long key = key(i);
                if (key > keys[0]) {
                    keys[0] = key;
                    siftDown(0, k);
                    worst = logit(keys[0]);
                }
            }
        }
        Arrays.sort(keys, 0, k);
        unpackDescending(0, k);
        count = k;
        sortedPrefix = k;
        ascendingIds = false;
    }

    /// Brings the m best candidates to the front in descending order and keeps the others after them.
    ///
    /// @param m how many; at most `count`
    void sortTop(int m) {
        if (m <= sortedPrefix) {
            return;
        }
        for (int i = 0; i < count; i++) {
            keys[i] = key(i);
        }
        if (m < count) {
            moveLargestToEnd(m);
        }
        Arrays.sort(keys, count - m, count);
        unpackDescending(0, count);
        sortedPrefix = m;
        ascendingIds = false;
    }

    private void unpackDescending(int from, int to) {
        for (int i = from, j = to - 1; i < to; i++, j--) {
            ids[i] = ~(int) keys[j];
            logits[i] = logit(keys[j]);
        }
    }

    /// Quickselect: afterwards the m largest keys stand at `count - m` and above.
    private void moveLargestToEnd(int m) {
        int lo = 0;
        int hi = count - 1;
        int target = count - m;
        while (lo < hi) {
            long pivot = medianOfThree(keys[lo], keys[(lo + hi) >>> 1], keys[hi]);
            int i = lo;
            int j = hi;
            while (i <= j) {
                while (keys[i] < pivot) {
                    i++;
                }
                while (keys[j] > pivot) {
                    j--;
                }
                if (i <= j) {
                    long t = keys[i];
                    keys[i++] = keys[j];
                    keys[j--] = t;
                }
            }
            if (target <= j) {
                hi = j;
            } else if (target >= i) {
                lo = i;
            } else {
                return;
            }
        }
    }

    private static long medianOfThree(long a, long b, long c) {
        return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    }

    private void siftDown(int at, int n) {
        long key = keys[at];
        int i = at;
        while (true) {
            int child = 2 * i + 1;
            if (child >= n) {
                break;
            }
            if (child + 1 < n && keys[child + 1] < keys[child]) {
                child++;
            }
            if (keys[child] >= key) {
                break;
            }
            keys[i] = keys[child];
            i = child;
        }
        keys[i] = key;
    }

    /// A long that sorts as (logit ascending, id descending): ordered float bits above, inverted id below.
    private long key(int i) {
        int bits = Float.floatToRawIntBits(logits[i] + 0f);
        int ordered = bits ^ ((bits >> 31) & 0x7fffffff);
        return ((long) ordered << 32) | (~ids[i] & 0xffffffffL);
    }

    private static float logit(long key) {
        int ordered = (int) (key >> 32);
        return Float.intBitsToFloat(ordered ^ ((ordered >> 31) & 0x7fffffff));
    }

    /// Checks the length of a row of logits.
    ///
    /// @param found its length
    /// @param expected size of the vocabulary
    /// @throws IllegalArgumentException if they differ
    static void checkLength(int found, int expected) {
        if (found != expected) {
            throw new IllegalArgumentException(
                    "A row of logits has " + found + " values; the sampler was made for a vocabulary of " + expected);
        }
    }

    private static BackendException notFinite(int id, float logit) {
        return new BackendException(
                ErrorCode.MODEL_DATA,
                "The model produced " + (Float.isNaN(logit) ? "NaN" : "infinite") + " logits (token " + id
                        + " has logit " + logit + "). Its weights are damaged or a kernel overflowed: check the"
                        + " file's checksum, then try another backend.");
    }

    /// {@return the error for a row in which no token can be sampled}
    ///
    /// @param n number of tokens before
    static BackendException noneLeft(int n) {
        return new BackendException(
                ErrorCode.MODEL_DATA,
                "All " + n + " logits are negative infinity, so no token can be sampled. Check the logit bias and the"
                        + " model's weights.");
    }
}
