package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/// The scales or the minimums of a span's blocks as float32.
final class Factors {
    private final FloatNumbers common;
    /// Numbers that are read one by one; null where they are bytes.
    private final FloatNumbers numbers;

    private final int count;
    /// Values of a block.
    private final int size;
    private final int blockBytes;
    private final float step;
    private final float offset;
    private final float factor;
    private final boolean plain;
    private final int repeat;
    /// Where the common factor is, if it is in half precision, blocks are spans and numbers are bytes; otherwise -1.
    private final int commonAt;

    /// Chooses how to read factors.
    ///
    /// @param scale the factors
    /// @param span where they are
    /// @param factor what they are multiplied with, a power of two or its negative
    /// @param group values under one of the numbers that are written
    /// @param blockBytes bytes to the numbers of the next block, if they are given as bytes; otherwise 0
    Factors(Scale scale, Span span, float factor, int group, int blockBytes) {
        boolean bytes = blockBytes > 0;
        common = scale.common().map(all -> new FloatNumbers(all, span, 1)).orElse(null);
        int each = span.size() / scale.count() / group;
        numbers = bytes ? null : new FloatNumbers(scale.numbers(), span, each);
        repeat = bytes ? each : 1;
        commonAt = bytes && repeat == 1 && span.blocks() == 1 && common != null ? common.halfAt(0) : -1;
        count = bytes ? scale.count() : scale.count() * each;
        size = span.size();
        this.blockBytes = blockBytes;
        step = scale.step();
        offset = scale.offset();
        this.factor = factor;
        plain = common == null && offset == 0 && step * factor == 1;
    }

    /// {@return whether numbers are whole and int8}
    ///
    /// @param numbers the numbers
    static boolean areBytes(Numbers numbers) {
        return ByteNumbers.reads(numbers) && (numbers.type() != Numbers.Type.UNSIGNED || numbers.width() < Byte.SIZE);
    }

    /// Computes the factors of some rows.
    ///
    /// @param rows the rows
    /// @param bytes their numbers, if those are bytes: [Span#VALUES] a row
    /// @param from index of the first
    /// @param out receives the factors, and what does not count after them
    /// @param to index of the first
    /// @param outApart floats to those of the next row
    void read(RowSpans rows, byte[] bytes, int from, float[] out, int to, int outApart) {
        if (commonAt >= 0) {
            one(rows, bytes, from, out, to, outApart);
            return;
        }
        MemorySegment base = Memory.base(rows.weights);
        int blocks = rows.n / size;
        for (int r = 0; r < rows.rows; r++) {
            long p = rows.at(r);
            int o = to + r * outApart;
            if (numbers == null) {
                multiply(base, p, blocks, bytes, from + r * Span.VALUES, out, o);
            } else {
                numbers.read(base, p, blocks * count, out, o);
                if (!plain) {
                    multiply(base, p, blocks, out, o);
                }
            }
            if (repeat > 1) {
                repeat(out, o, blocks * count);
            }
        }
    }

    /// The usual case: a block is the span.
    private void one(RowSpans rows, byte[] bytes, int from, float[] out, int to, int outApart) {
        MemorySegment base = Memory.base(rows.weights);
        for (int r = 0; r < rows.rows; r++) {
            float all = factor * Species.f16(base, rows.at(r) + commonAt & Memory.ADDRESS);
            int f = from + r * Span.VALUES;
            int o = to + r * outApart;
            FloatVector number = Species.floats(bytes, f);
            number.mul(step).add(offset).mul(all).intoArray(out, o);
            for (int i = Species.LANES; i < count; i += Species.LANES) {
                number = Species.floats(bytes, f + i);
                number.mul(step).add(offset).mul(all).intoArray(out, o + i);
            }
        }
    }

    private void multiply(MemorySegment base, long at, int blocks, byte[] bytes, int from, float[] out, int to) {
        for (int b = 0; b < blocks; b++) {
            float all = common == null ? factor : factor * common.get(base, at, b);
            for (int i = 0; i < count; i += Species.LANES) {
                FloatVector number = Species.floats(bytes, from + b * blockBytes + i);
                number.mul(step).add(offset).mul(all).intoArray(out, to + b * count + i);
            }
        }
    }

    private void multiply(MemorySegment base, long at, int blocks, float[] out, int to) {
        for (int b = 0; b < blocks; b++) {
            float all = common == null ? factor : factor * common.get(base, at, b);
            for (int i = to + b * count; i < to + (b + 1) * count; i++) {
                out[i] = all * (out[i] * step + offset);
            }
        }
    }

    private void repeat(float[] out, int to, int numbers) {
        for (int i = numbers - 1; i >= 0; i--) {
            float one = out[to + i];
            for (int k = 0; k < repeat; k++) {
                out[to + i * repeat + k] = one;
            }
        }
    }
}
