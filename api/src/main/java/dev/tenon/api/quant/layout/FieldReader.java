package dev.tenon.api.quant.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Reads the numbers of one kind out of blocks: their fields, cut into pieces that lie equally far apart.
final class FieldReader {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101010101010101L;
    private static final int[] POWERS_OF_THREE = {1, 3, 9, 27, 81};

    /// Bytes behind a block that are read too, and not used.
    static final int SLACK = Long.BYTES;

    /// Some pieces in a row, each of the same number's bits as the others of theirs.
    ///
    /// @param number the number of the first piece
    /// @param count how many
    /// @param bit where the first is in a block
    /// @param step bits from one to the next
    /// @param width bits of each
    /// @param to the lowest of them in the number; of trits the digit
    private record Row(int number, int count, int bit, int step, int width, int to) {
        /// Whether pieces are at the same bits of neighbouring bytes.
        boolean areNeighbours() {
            return step == Byte.SIZE && bit % Byte.SIZE + width <= Byte.SIZE && inEights();
        }

        /// Whether eight pieces are within a long, and those after them as many bytes later as pieces are bits apart.
        boolean followOneAnother() {
            return step < Byte.SIZE && step >= width && inEights();
        }

        private boolean inEights() {
            return count % Byte.SIZE == 0;
        }
    }

    private final Numbers.Type type;
    private final int signShift;
    private final Row[] rows;
    final int count;
    /// First byte of a number that is alone, in half precision and whole bytes; otherwise -1.
    private final int half;

    FieldReader(Numbers numbers) {
        type = numbers.type();
        signShift = Integer.SIZE - numbers.width();
        count = numbers.count();
        List<Row> all = new ArrayList<>();
        int number = 0;
        for (List<BitField> run : numbers.runs()) {
            int to = 0;
            for (BitField field : run) {
                addRows(all, field, number, to);
                to += field.width();
            }
            number += run.getFirst().count();
        }
        rows = all.toArray(Row[]::new);
        half = type == Numbers.Type.F16 && count == 1 && rows.length == 1 && rows[0].bit % Byte.SIZE == 0
                ? rows[0].bit / Byte.SIZE
                : -1;
    }

    private void addRows(List<Row> all, BitField field, int number, int to) {
        int inner = field.axes().isEmpty() ? 1 : field.axes().getFirst().count();
        int step = field.axes().isEmpty() ? 0 : field.axes().getFirst().step();
        int digits = type == Numbers.Type.TRITS ? field.axes().getLast().count() : 1;
        for (int i = 0; i < field.count(); i += inner) {
            int place = type == Numbers.Type.TRITS ? i / (field.count() / digits) : to;
            all.add(new Row(number + i, inner, field.bit(i), step, field.width(), place));
        }
    }

    /// {@return whether [#readBytes] can read the numbers: whole ones of at most eight bits}
    boolean areBytes() {
        return type.whole() && (type == Numbers.Type.TRITS || signShift >= Integer.SIZE - Byte.SIZE);
    }

    /// {@return the bits of a byte that [#readBytes] wrote that count; all with a sign}
    int byteMask() {
        return type == Numbers.Type.SIGNED ? -1 : 0xFF;
    }

    /// Reads the bits of all numbers, with their signs if they have such.
    ///
    /// @param in holds the block, and at least [#SLACK] bytes more
    /// @param block index of its first byte
    /// @param out receives them from index 0
    void read(byte[] in, int block, int[] out) {
        for (Row row : rows) {
            if (type == Numbers.Type.TRITS) {
                for (int i = 0; i < row.count; i++) {
                    out[row.number + i] = trit(row, in, block, i);
                }
            } else {
                for (int i = 0; i < row.count; i++) {
                    int bits = bits(row, in, block, i);
                    out[row.number + i] = row.to == 0 ? bits : out[row.number + i] | bits;
                }
            }
        }
        if (type == Numbers.Type.SIGNED) {
            for (int i = 0; i < count; i++) {
                out[i] = out[i] << signShift >> signShift;
            }
        }
    }

    /// Reads all numbers, each as a byte, eight at a time where the pattern allows it.
    ///
    /// @param in holds the block, and at least [#SLACK] bytes more
    /// @param block index of its first byte
    /// @param out receives them from index 0
    void readBytes(byte[] in, int block, byte[] out) {
        for (Row row : rows) {
            if (type == Numbers.Type.TRITS) {
                for (int i = 0; i < row.count; i++) {
                    out[row.number + i] = (byte) trit(row, in, block, i);
                }
            } else if (row.areNeighbours()) {
                readNeighbours(row, in, block + row.bit / Byte.SIZE, out);
            } else if (row.followOneAnother()) {
                readRow(row, in, block + row.bit / Byte.SIZE, out);
            } else {
                for (int i = 0; i < row.count; i++) {
                    int bits = bits(row, in, block, i);
                    out[row.number + i] = (byte) (row.to == 0 ? bits : out[row.number + i] | bits);
                }
            }
        }
        int shift = signShift - (Integer.SIZE - Byte.SIZE);
        if (type == Numbers.Type.SIGNED && shift > 0) {
            for (int i = 0; i < count; i++) {
                out[i] = (byte) ((byte) (out[i] << shift) >> shift);
            }
        }
    }

    private static void readNeighbours(Row row, byte[] in, int from, byte[] out) {
        int shift = row.bit % Byte.SIZE;
        long mask = ((1 << row.width) - 1) * ONES;
        for (int i = 0; i < row.count; i += Byte.SIZE) {
            put(row, i, (long) LONG.get(in, from + i) >>> shift & mask, out);
        }
    }

    private static void readRow(Row row, byte[] in, int from, byte[] out) {
        int step = row.step;
        int shift = row.bit % Byte.SIZE;
        // The upper four of eight numbers go to the upper 32 bits, of those two to 16 bits, and one to a byte.
        long four = (1L << 4 * step) - 1;
        long two = ((1L << 2 * step) - 1) * 0x0000000100000001L;
        long one = ((1L << step) - 1) * 0x0001000100010001L;
        long mask = ((1L << row.width) - 1) * ONES;
        for (int i = 0; i < row.count; i += Byte.SIZE) {
            long x = (long) LONG.get(in, from + i / Byte.SIZE * step) >>> shift;
            x = x & four | x << 32 - 4 * step & four << 32;
            x = x & two | x << 16 - 2 * step & two << 16;
            x = (x & one | x << 8 - step & one << 8) & mask;
            put(row, i, x, out);
        }
    }

    private static void put(Row row, int i, long eight, byte[] out) {
        int to = row.number + i;
        LONG.set(out, to, row.to == 0 ? eight : (long) LONG.get(out, to) | eight << row.to);
    }

    private static int bits(Row row, byte[] in, int block, int i) {
        int bit = row.bit + i * row.step;
        long window = (long) LONG.get(in, block + bit / Byte.SIZE);
        return (int) (window >>> bit % Byte.SIZE & (1L << row.width) - 1) << row.to;
    }

    private static int trit(Row row, byte[] in, int block, int i) {
        int q = in[block + (row.bit + i * row.step) / Byte.SIZE] * POWERS_OF_THREE[row.to] & 0xff;
        return q * 3 >> Byte.SIZE;
    }

    /// {@return the first number}
    ///
    /// @param in holds the block, and at least [#SLACK] bytes more
    /// @param block index of its first byte
    float first(byte[] in, int block) {
        if (half >= 0) {
            return Float.float16ToFloat((short) SHORT.get(in, block + half));
        }
        int bits = 0;
        for (Row row : rows) {
            bits |= row.number == 0 ? bits(row, in, block, 0) : 0;
        }
        return value(type == Numbers.Type.SIGNED ? bits << signShift >> signShift : bits);
    }

    /// Reads numbers of 16 or 32 bits that are blocks by themselves.
    ///
    /// @param in holds them from index 0
    /// @param numbers how many
    /// @param out receives them
    /// @param to index of the first in `out`
    void readNumbers(byte[] in, int numbers, float[] out, int to) {
        switch (type) {
            case F16 -> {
                for (int i = 0; i < numbers; i++) {
                    out[to + i] = Float.float16ToFloat((short) SHORT.get(in, Short.BYTES * i));
                }
            }
            case BF16 -> {
                for (int i = 0; i < numbers; i++) {
                    out[to + i] = Float.intBitsToFloat((short) SHORT.get(in, Short.BYTES * i) << Short.SIZE);
                }
            }
            default -> {
                for (int i = 0; i < numbers; i++) {
                    out[to + i] = Float.intBitsToFloat((int) INT.get(in, Integer.BYTES * i));
                }
            }
        }
    }

    /// {@return the number that some bits are}
    ///
    /// @param bits as [#read] gives them
    float value(int bits) {
        return type.value(bits);
    }
}
