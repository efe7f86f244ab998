package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// The numbers of a span's values, with their signs and shifts, as int8 levels.
final class LevelReader {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int SMALL_TABLE = 16;

    private final int size;
    /// Levels that stand for one number each, of few; or null.
    private final ByteNumbers single;
    /// Levels that stand for several, or for one of many; or null.
    private final BitNumbers entries;

    /// Numbers that an entry stands for.
    private final int each;
    /// Those of each entry, the first one in the lowest byte.
    private final long[] book;

    private final EightChanges signs;
    private final EightChanges shifts;

    /// Chooses how to read levels.
    ///
    /// @param layout a layout
    /// @param numbers its numbers
    /// @param span where they are
    LevelReader(BlockLayout layout, LevelNumbers numbers, Span span) {
        size = layout.size();
        each = layout.codeBook().map(CodeBook::length).orElse(1);
        byte[] table = numbers.table();
        boolean small = each == 1 && table.length <= SMALL_TABLE;
        single = small ? ByteNumbers.of(layout.levels(), span, table.length > 0 ? 0 : layout.zero(), table) : null;
        entries = small ? null : BitNumbers.of(layout.levels(), span);
        book = small ? new long[0] : book(table, each);
        signs = layout.signs().map(bits -> EightChanges.ofSigns(bits, span)).orElse(null);
        shifts = layout.shifts()
                .map(scale -> EightChanges.ofShifts(scale, numbers.power(), span))
                .orElse(null);
    }

    private static long[] book(byte[] table, int each) {
        long[] book = new long[table.length / each];
        for (int i = 0; i < table.length; i++) {
            book[i / each] |= (table[i] & 0xFFL) << Byte.SIZE * (i % each);
        }
        return book;
    }

    /// Reads the levels of some rows.
    ///
    /// @param rows the rows
    /// @param out receives the levels
    /// @param outApart levels to those of the next row
    void read(RowSpans rows, byte[] out, int outApart) {
        int n = rows.n;
        MemorySegment w = rows.weights;
        if (single != null) {
            single.read(rows, n / size, out, 0, outApart);
        } else {
            for (int r = 0; r < rows.rows; r++) {
                readEntries(Memory.base(w), rows.at(r), n, out, r * outApart);
            }
        }
        for (int r = 0; r < rows.rows; r++) {
            if (signs != null) {
                signs.apply(w, rows.at(r), n, out, r * outApart);
            }
            if (shifts != null) {
                shifts.apply(w, rows.at(r), n, out, r * outApart);
            }
        }
    }

    private void readEntries(MemorySegment base, long at, int n, byte[] out, int first) {
        int count = n / each;
        switch (each) {
            case Long.BYTES -> {
                for (int i = 0; i < count; i++) {
                    LONG.set(out, first + i * Long.BYTES, book[entries.bits(base, at, i)]);
                }
            }
            case Integer.BYTES -> {
                for (int i = 0; i < count; i++) {
                    INT.set(out, first + i * Integer.BYTES, (int) book[entries.bits(base, at, i)]);
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    long numbers = book[entries.bits(base, at, i)];
                    for (int k = 0; k < each; k++) {
                        out[first + i * each + k] = (byte) (numbers >> Byte.SIZE * k);
                    }
                }
            }
        }
    }
}
