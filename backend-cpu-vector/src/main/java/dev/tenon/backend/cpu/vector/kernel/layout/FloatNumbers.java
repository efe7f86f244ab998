package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/// Numbers of any type as float32, read one by one.
final class FloatNumbers {
    private final Numbers.Type type;
    private final int signShift;
    private final BitNumbers bits;
    /// The first byte of each.
    private final int[] from;
    /// Whether all are in half precision and begin with a byte.
    private final boolean halves;
    /// What each byte is, if all are one; else empty.
    private final float[] table;

    /// Chooses how to read numbers.
    ///
    /// @param numbers the numbers, no trits
    /// @param span where they are
    /// @param repeat how often each is read
    FloatNumbers(Numbers numbers, Span span, int repeat) {
        type = numbers.type();
        signShift = type == Numbers.Type.SIGNED ? Integer.SIZE - numbers.width() : 0;
        int count = numbers.count() * repeat;
        List<List<Piece>> pieces = IntStream.range(0, count)
                .mapToObj(i -> numbers.pieces(i / repeat))
                .toList();
        bits = new BitNumbers(pieces, span);
        boolean whole = pieces.stream()
                .allMatch(all -> all.size() == 1 && all.getFirst().bit() % Byte.SIZE == 0);
        boolean bytes = whole && numbers.width() == Byte.SIZE;
        halves = whole && type == Numbers.Type.F16;
        from = IntStream.range(0, count * span.blocks())
                .map(i -> i / count * span.bytes()
                        + pieces.get(i % count).getFirst().bit() / Byte.SIZE)
                .toArray();
        table = new float[bytes ? 1 << Byte.SIZE : 0];
        for (int i = 0; i < table.length; i++) {
            table[i] = type.value(i << signShift >> signShift);
        }
    }

    /// {@return where a number in half precision begins; -1 if it is none, or begins within a byte}
    ///
    /// @param number which of the span's numbers
    int halfAt(int number) {
        return halves ? from[number] : -1;
    }

    /// {@return a number}
    ///
    /// @param base memory
    /// @param at where the span begins
    /// @param number which of the span's numbers
    float get(MemorySegment base, long at, int number) {
        return halves
                ? Species.f16(base, at + from[number] & Memory.ADDRESS)
                : type.value(bits.bits(base, at, number) << signShift >> signShift);
    }

    /// Reads the first numbers of a span.
    ///
    /// @param base memory
    /// @param at where the span begins
    /// @param count how many
    /// @param out receives them
    /// @param to index of the first
    void read(MemorySegment base, long at, int count, float[] out, int to) {
        if (halves) {
            for (int i = 0; i < count; i++) {
                out[to + i] = Species.f16(base, at + from[i] & Memory.ADDRESS);
            }
        } else if (table.length > 0) {
            for (int i = 0; i < count; i++) {
                out[to + i] = table[base.get(ValueLayout.JAVA_BYTE, at + from[i] & Memory.ADDRESS) & 0xFF];
            }
        } else {
            for (int i = 0; i < count; i++) {
                out[to + i] = get(base, at, i);
            }
        }
    }
}
