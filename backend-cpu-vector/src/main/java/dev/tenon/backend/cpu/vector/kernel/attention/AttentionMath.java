package dev.tenon.backend.cpu.vector.kernel.attention;

import dev.tenon.backend.cpu.vector.kernel.Exp;

/// The arithmetic of attention over a tile of [#TILE] cached positions, for several query rows at once.
///
/// Every element of a result is computed in an order that is written here, whatever the vector width
/// and the number of rows. Stateless and safe for any thread.
public interface AttentionMath {
    /// Positions in a tile.
    int TILE = 64;

    /// What lengths of value rows are rounded up to, so that no vector is cut.
    int ALIGN = 32;

    /// Floats after the scores that [#weigh] uses.
    int SPARE = 32;

    /// Bytes after levels that may be read.
    int LEVEL_SPARE = 16;

    /// Computes `scores[r * TILE + p]`, the sum over ascending `i` of `q[r * length + i] * keys[i * TILE +
    /// p]`.
    ///
    /// @param q `[rows, length]`, already scaled
    /// @param first first row
    /// @param rows number of rows
    /// @param length elements of a key
    /// @param keys `[length, TILE]`
    /// @param scores `[rows, TILE]`, receives the scores of all positions, also those that hold nothing yet
    void scores(float[] q, int first, int rows, int length, float[] keys, float[] scores);

    /// Turns a row of scores into softmax weights, in place, and brings the row's running maximum and
    /// sum up to date; positions outside `[from, to)` get the weight 0. The weights are summed in 32
    /// strands and then as a tree.
    ///
    /// @param rows scores and states
    /// @param row which row
    /// @param from first visible position
    /// @param to position after the last visible one
    void weigh(SoftmaxRows rows, int row, int from, int to);

    /// Computes `acc = acc * keep + sum over p of weights[p] * values[p]` in ascending order of `p` in
    /// `[from, to)`.
    ///
    /// @param rows weights and states
    /// @param first first row
    /// @param count number of rows
    /// @param stride elements of a row of values, a multiple of [#ALIGN]
    /// @param values `[TILE, stride]`
    /// @param from first position
    /// @param to position after the last
    void mix(SoftmaxRows rows, int first, int count, int stride, float[] values, int from, int to);

    /// Converts the int8 levels of a tile of keys: `keys[i * TILE + p] = levels[i * TILE + p] * scales[i /
    /// 32 * TILE + p]`.
    ///
    /// @param levels `[length, TILE]` and [#LEVEL_SPARE] more
    /// @param scales `[length / 32, TILE]`
    /// @param length elements of a key
    /// @param keys receives `[length, TILE]`
    void keyLevels(byte[] levels, float[] scales, int length, float[] keys);

    /// Converts the int8 levels of a tile of values: `values[p * stride + i] = levels[p * length + i] *
    /// scales[p * (length / 32) + i / 32]`.
    ///
    /// @param levels `[TILE, length]` and [#LEVEL_SPARE] more
    /// @param scales `[TILE, length / 32]`
    /// @param length elements of a value, a multiple of 32
    /// @param stride elements from one position to the next in `values`
    /// @param from first position
    /// @param to position after the last
    /// @param values receives `[TILE, stride]`
    void valueLevels(byte[] levels, float[] scales, int length, int stride, int from, int to, float[] values);

    /// {@return e to the power of x, as the weights are computed}
    ///
    /// @param x argument, not above 0
    static float exp(float x) {
        return Exp.exp(x);
    }

    /// {@return a row length rounded up to a multiple of [#ALIGN]}
    ///
    /// @param length elements
    static int aligned(int length) {
        return Math.addExact(length, ALIGN - 1) / ALIGN * ALIGN;
    }

    /// The plain Java form; the same bits as the vector form.
    AttentionMath SCALAR = new ScalarAttention();
}
