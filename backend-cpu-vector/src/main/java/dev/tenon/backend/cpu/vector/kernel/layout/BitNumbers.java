package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/// Numbers of up to 32 bits, read one by one.
final class BitNumbers {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(Species.LE);

    /// Loads, pieces of a number one after the other.
    private final int[] from;

    private final byte[] shifts;
    private final int[] masks;
    private final byte[] to;
    private final int pieces;

    /// Chooses how to read numbers.
    ///
    /// @param block the pieces of each of a block's numbers, none of more than 32 bits
    /// @param span where they are
    BitNumbers(List<List<Piece>> block, Span span) {
        pieces = block.stream().mapToInt(List::size).max().orElseThrow();
        int count = block.size() * span.blocks() * pieces;
        from = new int[count];
        shifts = new byte[count];
        masks = new int[count];
        to = new byte[count];
        for (int i = 0; i < block.size() * span.blocks(); i++) {
            int b = i / block.size();
            int k = i * pieces;
            for (Piece piece : block.get(i % block.size())) {
                from[k] = span.loadAt(b, piece.bit() / Byte.SIZE, Long.BYTES);
                shifts[k] = (byte) (Byte.SIZE * (b * span.bytes() - from[k]) + piece.bit());
                masks[k] = (int) ((1L << piece.width()) - 1);
                to[k++] = (byte) piece.to();
            }
        }
    }

    /// {@return numbers, read one by one}
    ///
    /// @param numbers the numbers, no trits
    /// @param span where they are
    static BitNumbers of(Numbers numbers, Span span) {
        return new BitNumbers(
                IntStream.range(0, numbers.count()).mapToObj(numbers::pieces).toList(), span);
    }

    /// {@return the bits of a number}
    ///
    /// @param base memory
    /// @param at where the span begins
    /// @param number which of the span's numbers
    @ForceInline
    int bits(MemorySegment base, long at, int number) {
        int bits = 0;
        for (int k = number * pieces; k < (number + 1) * pieces; k++) {
            long window = base.get(LONG, at + from[k] & Memory.ADDRESS);
            bits |= ((int) (window >>> shifts[k]) & masks[k]) << to[k];
        }
        return bits;
    }
}
