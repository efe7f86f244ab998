package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.api.quant.layout.Scale;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;

/// What signs or shifts change of levels, of eight at a time: some bits of each are inverted, then a number is added.
final class EightChanges {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int EIGHT = 8;
    private static final int SIGN_INDEX = 7;
    private static final long ONES = 0x0101010101010101L;
    private static final long TOPS = 0x8080808080808080L;

    private final BitNumbers keys;
    private final long[] inverted;
    private final long[] added;

    private EightChanges(BitNumbers keys, long[] inverted, long[] added) {
        this.keys = keys;
        this.inverted = inverted;
        this.added = added;
    }

    /// {@return whether signs can be read: those of eight values follow one another, or are an index}
    ///
    /// @param signs the signs
    static boolean readsSigns(Numbers signs) {
        return signs.width() == SIGN_INDEX
                || IntStream.range(0, signs.count()).allMatch(i -> bit(signs, i) == bit(signs, i & -EIGHT) + i % EIGHT);
    }

    private static int bit(Numbers signs, int i) {
        return signs.pieces(i).getFirst().bit();
    }

    /// {@return what signs change}
    ///
    /// @param signs which [#readsSigns] accepts
    /// @param span where they are
    static EightChanges ofSigns(Numbers signs, Span span) {
        boolean index = signs.width() == SIGN_INDEX;
        List<List<Piece>> block = IntStream.range(0, span.size() / EIGHT)
                .mapToObj(i -> index ? signs.pieces(i) : List.of(new Piece(bit(signs, i * EIGHT), EIGHT, 0)))
                .toList();
        long[] negative = new long[index ? 1 << SIGN_INDEX : 1 << EIGHT];
        long[] one = new long[negative.length];
        for (int key = 0; key < negative.length; key++) {
            int bits = index ? key | (Integer.bitCount(key) & 1) << SIGN_INDEX : key;
            for (int i = 0; i < EIGHT; i++) {
                negative[key] |= (bits >> i & 1) * 0xFFL << Byte.SIZE * i;
            }
            one[key] = negative[key] & ONES;
        }
        return new EightChanges(new BitNumbers(block, span), negative, one);
    }

    /// {@return what shifts change}
    ///
    /// @param shifts whole numbers of up to eight bits without a common factor, of a multiple of eight values each
    /// @param power levels are multiplied with `2^power`
    /// @param span where they are
    static EightChanges ofShifts(Scale shifts, int power, Span span) {
        Numbers numbers = shifts.numbers();
        int group = span.size() / shifts.count();
        List<List<Piece>> block = IntStream.range(0, span.size() / EIGHT)
                .mapToObj(i -> numbers.pieces(i * EIGHT / group))
                .toList();
        long[] added = new long[1 << numbers.width()];
        for (int key = 0; key < added.length; key++) {
            added[key] = ((int) LevelNumbers.shift(shifts, key, power) & 0xFF) * ONES;
        }
        return new EightChanges(new BitNumbers(block, span), new long[added.length], added);
    }

    /// Changes the levels of a row.
    ///
    /// @param w weights
    /// @param at where the row's span begins
    /// @param n values of the span
    /// @param levels the levels
    /// @param first index of the first
    void apply(MemorySegment w, long at, int n, byte[] levels, int first) {
        MemorySegment base = Memory.base(w);
        for (int i = 0; i < n / EIGHT; i++) {
            int key = keys.bits(base, at, i);
            long x = (long) LONG.get(levels, first + i * EIGHT) ^ inverted[key];
            long y = added[key];
            // A sum of bytes: no carry goes from one to the next.
            long sum = (x & ~TOPS) + (y & ~TOPS) ^ (x ^ y) & TOPS;
            LONG.set(levels, first + i * EIGHT, sum);
        }
    }
}
