package dev.tenon.backend.cpu.vector.warmup;

import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.attention.SoftmaxRows;
import java.util.function.Supplier;

/// Attention in plain Java until the JIT compiler has compiled the vector form, then with vectors.
///
/// Both forms give the same bits, so a step may change over between two calls. A vector form that is not
/// compiled yet allocates an object for every vector and is some hundred times slower than when it is;
/// the plain form is fast from the start. [Warmup] decides when to change over.
///
/// @param plain the plain Java form
/// @param vectors gives the vector form; asked for it when it is needed first, because it loads the Vector
///     API, which takes longer than a short prompt's attention
public record WarmAttention(AttentionMath plain, Supplier<AttentionMath> vectors) implements AttentionMath {
    /// {@return the vector form}
    AttentionMath vector() {
        return vectors.get();
    }

    private AttentionMath form() {
        return Warmup.attentionReady() ? vector() : plain;
    }

    @Override
    public void scores(float[] q, int first, int rows, int length, float[] keys, float[] scores) {
        form().scores(q, first, rows, length, keys, scores);
    }

    @Override
    public void weigh(SoftmaxRows rows, int row, int from, int to) {
        form().weigh(rows, row, from, to);
    }

    @Override
    public void mix(SoftmaxRows rows, int first, int count, int stride, float[] values, int from, int to) {
        form().mix(rows, first, count, stride, values, from, to);
    }

    @Override
    public void keyLevels(byte[] levels, float[] scales, int length, float[] keys) {
        form().keyLevels(levels, scales, length, keys);
    }

    @Override
    public void valueLevels(byte[] levels, float[] scales, int length, int stride, int from, int to, float[] values) {
        form().valueLevels(levels, scales, length, stride, from, to, values);
    }
}
