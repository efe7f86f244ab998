package dev.tenon.api.quant.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Reads the numbers of one kind out of blocks: their fields, cut into pieces that lie equally far apart.
final class FieldReader {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
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
        boolean inBytes() {
            return step % Byte.SIZE == 0 && bit % Byte.SIZE + width <= Byte.SIZE;
        }
    }

    private final Numbers.Type type;
    private final int signShift;
    private final Row[] rows;
    final int count;

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

    /// Reads the bits of all numbers, with their signs if they have such.
    ///
    /// @param in holds the block, and at least [#SLACK] bytes more
    /// @param block index of its first byte
    /// @param out receives them from index 0
    void read(byte[] in, int block, int[] out) {
        for (Row row : rows) {
            if (type == Numbers.Type.TRITS) {
                readTrits(row, in, block, out);
            } else if (row.inBytes()) {
                readBytes(row, in, block, out);
            } else {
                readBits(row, in, block, out);
            }
        }
        if (type == Numbers.Type.SIGNED) {
            for (int i = 0; i < count; i++) {
                out[i] = out[i] << signShift >> signShift;
            }
        }
    }

    // The loops over neighbouring bytes become vector code.
    private static void readBytes(Row row, byte[] in, int block, int[] out) {
        int from = block + row.bit / Byte.SIZE;
        int step = row.step / Byte.SIZE;
        int shift = row.bit % Byte.SIZE;
        int mask = (1 << row.width) - 1;
        int number = row.number;
        int count = row.count;
        int to = row.to;
        if (step != 1) {
            for (int i = 0; i < count; i++) {
                int bits = (in[from + i * step] >> shift & mask) << to;
                out[number + i] = to == 0 ? bits : out[number + i] | bits;
            }
        } else if (to == 0) {
            for (int i = 0; i < count; i++) {
                out[number + i] = in[from + i] >> shift & mask;
            }
        } else {
            for (int i = 0; i < count; i++) {
                out[number + i] |= (in[from + i] >> shift & mask) << to;
            }
        }
    }

    private static void readBits(Row row, byte[] in, int block, int[] out) {
        for (int i = 0; i < row.count; i++) {
            int bits = bits(in, block, row.bit + i * row.step, row.width) << row.to;
            out[row.number + i] = row.to == 0 ? bits : out[row.number + i] | bits;
        }
    }

    private static int bits(byte[] in, int block, int bit, int width) {
        long window = (long) LONG.get(in, block + bit / Byte.SIZE);
        return (int) (window >>> bit % Byte.SIZE & (1L << width) - 1);
    }

    private static void readTrits(Row row, byte[] in, int block, int[] out) {
        int from = block + row.bit / Byte.SIZE;
        for (int i = 0; i < row.count; i++) {
            int q = in[from + i * row.step / Byte.SIZE] * POWERS_OF_THREE[row.to] & 0xff;
            out[row.number + i] = q * 3 >> Byte.SIZE;
        }
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
