package dev.tenon.api.quant.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Decodes blocks of a layout, as [BlockLayout#decode] says.
final class LayoutDecoder {
    /// Blocks are copied in portions of about this many bytes, so that they stay in the first-level cache.
    private static final int PORTION_BYTES = 4096;

    /// What a thread decodes with; as large as the largest block so far.
    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    private static final class Scratch {
        byte[] bytes = new byte[PORTION_BYTES];
        byte[] small = new byte[0];
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
                small = new byte[values + FieldReader.SLACK];
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
    private record ScaleReader(@Nullable FieldReader common, FieldReader numbers, float step, float offset) {
        static ScaleReader of(Scale scale) {
            return new ScaleReader(
                    scale.common().map(FieldReader::new).orElse(null),
                    new FieldReader(scale.numbers()),
                    scale.step(),
                    scale.offset());
        }

        void read(byte[] in, int block, Scratch scratch, float[] out) {
            int count = numbers.count;
            if (count == 1) {
                out[0] = numbers.first(in, block);
            } else if (numbers.areBytes()) {
                numbers.readBytes(in, block, scratch.small);
                for (int g = 0; g < count; g++) {
                    out[g] = scratch.small[g] & numbers.byteMask();
                }
            } else {
                numbers.read(in, block, scratch.bits);
                for (int g = 0; g < count; g++) {
                    out[g] = numbers.value(scratch.bits[g]);
                }
            }
            // Left out where nothing changes, so that even the sign of a zero stays.
            if (step != 1) {
                for (int g = 0; g < count; g++) {
                    out[g] *= step;
                }
            }
            if (offset != 0) {
                for (int g = 0; g < count; g++) {
                    out[g] += offset;
                }
            }
            if (common != null) {
                float factor = common.first(in, block);
                for (int g = 0; g < count; g++) {
                    out[g] = factor * out[g];
                }
            }
        }
    }

    private final BlockLayout layout;
    private final FieldReader levels;
    private final @Nullable FieldReader signs;
    private final @Nullable ScaleReader scales;
    private final @Nullable ScaleReader minimums;
    private final @Nullable ScaleReader shifts;
    /// Whether numbers come from levels of at most eight bits one by one, and there are as many minimums as scales, if
    /// any.
    private final boolean usual;
    /// What levels stand for: entry by entry, and of usual ones each byte.
    private final float[] table;

    LayoutDecoder(BlockLayout layout) {
        this.layout = layout;
        this.levels = new FieldReader(layout.levels());
        this.signs = layout.signs().map(FieldReader::new).orElse(null);
        this.scales = layout.scales().map(ScaleReader::of).orElse(null);
        this.minimums = layout.minimums().map(ScaleReader::of).orElse(null);
        this.shifts = layout.shifts().map(ScaleReader::of).orElse(null);
        this.usual = scales != null
                && signs == null
                && shifts == null
                && levels.areBytes()
                && levels.count == layout.size()
                && (minimums == null || minimums.numbers.count == scales.numbers.count);
        this.table = table(layout, usual);
    }

    private static float[] table(BlockLayout layout, boolean ofBytes) {
        CodeBook book = layout.codeBook().orElse(null);
        float[] table = new float[book != null ? book.levels() * book.length() : 0];
        for (int i = 0; i < table.length; i++) {
            table[i] = book.number(i / book.length(), i % book.length());
        }
        if (!ofBytes) {
            return table;
        }
        float[] bytes = Arrays.copyOf(table, 1 << Byte.SIZE);
        boolean signed = layout.levels().type() == Numbers.Type.SIGNED;
        for (int q = 0; book == null && q < bytes.length; q++) {
            bytes[q] = (signed ? (byte) q : q) - layout.zero();
        }
        return bytes;
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
        scales.read(scratch.bytes, block, scratch, scratch.scales);
        if (minimums != null) {
            minimums.read(scratch.bytes, block, scratch, scratch.minimums);
        }
        if (usual) {
            levels.readBytes(scratch.bytes, block, scratch.small);
            scaleLevels(scratch, out, to);
            return;
        }
        levels.read(scratch.bytes, block, scratch.levels);
        int size = layout.size();
        for (int i = 0; i < size; i++) {
            out[to + i] = table.length == 0 ? scratch.levels[i] - layout.zero() : number(scratch.levels, i);
        }
        if (signs != null) {
            negate(scratch, block, out, to);
        }
        if (shifts != null) {
            shifts.read(scratch.bytes, block, scratch, scratch.shifts);
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

    private void scaleLevels(Scratch scratch, float[] out, int to) {
        int group = layout.size() / scales.numbers.count;
        for (int g = 0; g < scales.numbers.count; g++) {
            float minimum = minimums == null ? 0 : scratch.minimums[g];
            scale(scratch.small, g * group, group, table, scratch.scales[g], minimum, out, to + g * group);
        }
    }

    /// Eight values at a time, written out: the compiler would make vector code of a loop over single ones, which
    /// groups are too short for.
    private static void scale(
            byte[] q, int from, int count, float[] table, float scale, float minimum, float[] out, int to) {
        int i = 0;
        for (; i + Byte.SIZE <= count; i += Byte.SIZE) {
            long eight = (long) FieldReader.LONG.get(q, from + i);
            int low = (int) eight;
            int high = (int) (eight >>> Integer.SIZE);
            int o = to + i;
            out[o] = scale * table[low & 0xFF] - minimum;
            out[o + 1] = scale * table[low >> 8 & 0xFF] - minimum;
            out[o + 2] = scale * table[low >> 16 & 0xFF] - minimum;
            out[o + 3] = scale * table[low >>> 24] - minimum;
            out[o + 4] = scale * table[high & 0xFF] - minimum;
            out[o + 5] = scale * table[high >> 8 & 0xFF] - minimum;
            out[o + 6] = scale * table[high >> 16 & 0xFF] - minimum;
            out[o + 7] = scale * table[high >>> 24] - minimum;
        }
        for (; i < count; i++) {
            out[to + i] = scale * table[q[from + i] & 0xFF] - minimum;
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
