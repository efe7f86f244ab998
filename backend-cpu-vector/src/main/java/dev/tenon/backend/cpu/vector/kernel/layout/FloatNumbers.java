package dev.tenon.backend.cpu.vector.kernel.layout;

import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;

/// Numbers of any type as float32, read one by one.
final class FloatNumbers {
    private final Numbers.Type type;
    private final int signShift;
    private final BitNumbers bits;
    /// Where each number is, if all are in half precision and whole bytes; else null.
    private final int[] halves;

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
        boolean aligned = type == Numbers.Type.F16
                && pieces.stream()
                        .allMatch(all -> all.size() == 1 && all.getFirst().bit() % Byte.SIZE == 0);
        halves = aligned
                ? IntStream.range(0, count * span.blocks())
                        .map(i -> {
                            Piece half = pieces.get(i % count).getFirst();
                            return i / count * span.bytes() + half.bit() / Byte.SIZE;
                        })
                        .toArray()
                : null;
    }

    /// {@return a number}
    ///
    /// @param base memory
    /// @param at where the span begins
    /// @param number which of the span's numbers
    float get(MemorySegment base, long at, int number) {
        return halves != null ? Species.f16(base, at + halves[number] & Memory.ADDRESS) : value(base, at, number);
    }

    /// Reads the first numbers of a span.
    ///
    /// @param base memory
    /// @param at where the span begins
    /// @param count how many
    /// @param out receives them
    /// @param to index of the first
    void read(MemorySegment base, long at, int count, float[] out, int to) {
        if (halves != null) {
            for (int i = 0; i < count; i++) {
                out[to + i] = Species.f16(base, at + halves[i] & Memory.ADDRESS);
            }
        } else {
            for (int i = 0; i < count; i++) {
                out[to + i] = value(base, at, i);
            }
        }
    }

    private float value(MemorySegment base, long at, int number) {
        return type.value(bits.bits(base, at, number) << signShift >> signShift);
    }
}
