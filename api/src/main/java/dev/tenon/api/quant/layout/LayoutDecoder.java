package dev.tenon.api.quant.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Decodes blocks of a layout, as [BlockLayout#decode] says.
final class LayoutDecoder {
    /// Blocks are copied in portions of about this many bytes, so that they stay in the first-level cache.
    private static final int PORTION_BYTES = 4096;

    /// What a thread decodes with; as large as the largest block so far.
    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    private static final class Scratch {
        byte[] bytes = new byte[PORTION_BYTES];
        int[] levels = new int[0];
        int[] bits = new int[0];
        float[] scales = new float[0];
        float[] minimums = new float[0];
        float[] shifts = new float[0];

        void reserve(int values, int blockBytes) {
            if (bytes.length < blockBytes + FieldReader.SLACK) {
                bytes = new byte[blockBytes + FieldReader.SLACK];
            }
            if (levels.length < values) {
                levels = new int[values];
                bits = new int[values];
                scales = new float[values];
                minimums = new float[values];
                shifts = new float[values];
            }
        }
    }

    /// Reads one kind of factor.
    ///
    /// @param common the factor of the whole block; null without one
    private record ScaleReader(FieldReader common, FieldReader numbers, float step, float offset) {
        static ScaleReader of(Scale scale) {
            return new ScaleReader(
                    scale.common().map(FieldReader::new).orElse(null),
                    new FieldReader(scale.numbers()),
                    scale.step(),
                    scale.offset());
        }

        void read(byte[] in, int block, int[] bits, float[] out) {
            float factor = 1;
            if (common != null) {
                common.read(in, block, bits);
                factor = common.value(bits[0]);
            }
            numbers.read(in, block, bits);
            for (int g = 0; g < numbers.count; g++) {
                float number = numbers.value(bits[g]);
                // Left out where nothing changes, so that even the sign of a zero stays.
                if (step != 1) {
                    number *= step;
                }
                if (offset != 0) {
                    number += offset;
                }
                out[g] = common != null ? factor * number : number;
            }
        }
    }

    private final BlockLayout layout;
    private final FieldReader levels;
    private final FieldReader signs;
    private final ScaleReader scales;
    private final ScaleReader minimums;
    private final ScaleReader shifts;
    /// What levels stand for, entry by entry; null where they are numbers themselves.
    private final float[] table;

    LayoutDecoder(BlockLayout layout) {
        this.layout = layout;
        this.levels = new FieldReader(layout.levels());
        this.signs = layout.signs().map(FieldReader::new).orElse(null);
        this.scales = layout.scales().map(ScaleReader::of).orElse(null);
        this.minimums = layout.minimums().map(ScaleReader::of).orElse(null);
        this.shifts = layout.shifts().map(ScaleReader::of).orElse(null);
        this.table = layout.codeBook().map(LayoutDecoder::table).orElse(null);
    }

    private static float[] table(CodeBook book) {
        float[] table = new float[book.levels() * book.length()];
        for (int i = 0; i < table.length; i++) {
            table[i] = book.number(i / book.length(), i % book.length());
        }
        return table;
    }

    void decode(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        int size = layout.size();
        int bytes = layout.bytes();
        if (n < 0 || n % size != 0) {
            throw new IllegalArgumentException(n + " elements are not whole blocks of " + size);
        }
        int blocks = n / size;
        if (targetOffset < 0 || n > target.length - targetOffset) {
            throw new IndexOutOfBoundsException("%d values from index %d do not fit the target of %d floats"
                    .formatted(n, targetOffset, target.length));
        }
        if (offsetBytes < 0 || (long) blocks * bytes > source.byteSize() - offsetBytes) {
            throw new IndexOutOfBoundsException(
                    "%d values take %d bytes; from byte %d they do not fit the source of %d bytes"
                            .formatted(n, (long) blocks * bytes, offsetBytes, source.byteSize()));
        }
        Scratch scratch = SCRATCH.get();
        scratch.reserve(size, bytes);
        int portion = (scratch.bytes.length - FieldReader.SLACK) / bytes;
        long from = offsetBytes;
        int to = targetOffset;
        for (int left = blocks; left > 0; left -= portion) {
            int now = Math.min(left, portion);
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, from, scratch.bytes, 0, now * bytes);
            if (scales == null) {
                levels.readNumbers(scratch.bytes, now, target, to);
            } else {
                for (int b = 0; b < now; b++) {
                    decodeBlock(scratch, b * bytes, target, to + b * size);
                }
            }
            from += (long) now * bytes;
            to += now * size;
        }
    }

    private void decodeBlock(Scratch scratch, int block, float[] out, int to) {
        levels.read(scratch.bytes, block, scratch.levels);
        scales.read(scratch.bytes, block, scratch.bits, scratch.scales);
        if (minimums != null) {
            minimums.read(scratch.bytes, block, scratch.bits, scratch.minimums);
        }
        if (signs == null && shifts == null && (minimums == null || minimums.numbers.count == scales.numbers.count)) {
            scaleLevels(scratch, out, to);
            return;
        }
        int size = layout.size();
        for (int i = 0; i < size; i++) {
            out[to + i] = table == null ? scratch.levels[i] - layout.zero() : number(scratch.levels, i);
        }
        if (signs != null) {
            negate(scratch, block, out, to);
        }
        if (shifts != null) {
            shifts.read(scratch.bytes, block, scratch.bits, scratch.shifts);
            for (int i = 0; i < size; i++) {
                out[to + i] += scratch.shifts[i / (size / shifts.numbers.count)];
            }
        }
        for (int i = 0; i < size; i++) {
            out[to + i] = scratch.scales[i / (size / scales.numbers.count)] * out[to + i];
        }
        if (minimums != null) {
            for (int i = 0; i < size; i++) {
                out[to + i] -= scratch.minimums[i / (size / minimums.numbers.count)];
            }
        }
    }

    private float number(int[] q, int i) {
        int each = layout.size() / levels.count;
        return table[q[i / each] * each + i % each];
    }

    /// The usual case: numbers from levels one by one, and as many minimums as scales, if any.
    private void scaleLevels(Scratch scratch, float[] out, int to) {
        int[] q = scratch.levels;
        int group = layout.size() / scales.numbers.count;
        int zero = layout.zero();
        boolean single = table != null && levels.count == layout.size();
        for (int g = 0; g < scales.numbers.count; g++) {
            float scale = scratch.scales[g];
            int from = g * group;
            if (table == null) {
                for (int i = from; i < from + group; i++) {
                    out[to + i] = scale * (q[i] - zero);
                }
            } else if (single) {
                for (int i = from; i < from + group; i++) {
                    out[to + i] = scale * table[q[i]];
                }
            } else {
                for (int i = from; i < from + group; i++) {
                    out[to + i] = scale * number(q, i);
                }
            }
            if (minimums != null) {
                float minimum = scratch.minimums[g];
                for (int i = from; i < from + group; i++) {
                    out[to + i] -= minimum;
                }
            }
        }
    }

    private void negate(Scratch scratch, int block, float[] out, int to) {
        int[] bits = scratch.bits;
        signs.read(scratch.bytes, block, bits);
        boolean single = signs.count == layout.size();
        for (int i = 0; i < layout.size(); i++) {
            int index = single ? bits[i] : bits[i / Byte.SIZE] | (Integer.bitCount(bits[i / Byte.SIZE]) & 1) << 7;
            if ((single ? index : index >> i % Byte.SIZE & 1) != 0) {
                out[to + i] = -out[to + i];
            }
        }
    }
}
