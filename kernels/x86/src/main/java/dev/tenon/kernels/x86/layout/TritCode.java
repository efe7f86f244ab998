package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/// Puts levels together that are digits of base 3.
///
/// Each level's byte is permuted to its place, sixteen of them out of sixteen bytes. As the upper byte of a word it is
/// multiplied with a power of three, of which the upper byte stays; what is above that byte after a product with three
/// is the digit.
final class TritCode implements Levels {
    private static final int LANE = 16;
    private static final int UPPER = 0xFF00FF00;
    private static final int THREES = 0x00030003;

    /// The byte and the digit of each level.
    private final List<Piece> pieces;
    private final int spanBytes;
    private final Constants constants;

    private TritCode(List<Piece> pieces, int spanBytes, Constants constants) {
        this.pieces = pieces;
        this.spanBytes = spanBytes;
        this.constants = constants;
    }

    /// {@return the code for a layout; null if there is none}
    static TritCode of(BlockLayout layout, Constants constants) {
        boolean possible = layout.levels().type() == Numbers.Type.TRITS
                && layout.size() == BlockCode.SPAN
                && layout.bytes() >= LANE
                && layout.codeBook().isEmpty()
                && layout.signs().isEmpty()
                && layout.shifts().isEmpty();
        if (!possible) {
            return null;
        }
        List<Piece> pieces = IntStream.range(0, BlockCode.SPAN)
                .mapToObj(i -> layout.levels().pieces(i).getFirst())
                .toList();
        TritCode code = new TritCode(pieces, layout.bytes(), constants);
        boolean near = IntStream.range(0, BlockCode.SPAN)
                .allMatch(i -> pieces.get(i).bit() % Byte.SIZE == 0 && code.place(i) < LANE);
        return near ? code : null;
    }

    private int at(int level) {
        return pieces.get(level).bit() / Byte.SIZE;
    }

    /// {@return where the sixteen bytes for a level's lane are loaded from: never outside of the span}
    private int window(int level) {
        int first = level / LANE * LANE;
        int least = IntStream.range(first, first + LANE).map(this::at).min().orElseThrow();
        return Math.min(least, spanBytes - LANE);
    }

    private int place(int level) {
        return at(level) - window(level);
    }

    /// {@return the power of three that brings a level's digit to the top of its byte}
    private int power(int level) {
        int power = 1;
        for (int digit = 0; digit < pieces.get(level).to(); digit++) {
            power *= 3;
        }
        return power;
    }

    @Override
    public void emit(Assembler a, Gpr w, int first, int count, Vec levels, Vec t) {
        a.vmovdqu(levels.x(), mem(w, window(first)));
        for (int lane = 1; lane < count / LANE; lane++) {
            a.vinserti128(levels, levels, mem(w, window(first + LANE * lane)), lane);
        }
        IntUnaryOperator level = i -> first + i % count;
        a.vpshufb(
                levels,
                levels,
                constants.of(
                        a,
                        levels,
                        i -> IntStream.range(0, Integer.BYTES)
                                .map(b -> place(level.applyAsInt(Integer.BYTES * i + b)) << Byte.SIZE * b)
                                .sum()));
        a.vpsllw(t, levels, Byte.SIZE);
        emitDigits(a, level, t);
        a.vpand(levels, levels, constants.of(a, levels, UPPER));
        emitDigits(a, i -> level.applyAsInt(i + 1), levels);
        a.vpsllw(levels, levels, Byte.SIZE);
        a.vpor(levels, levels, t);
    }

    /// Makes digits of the upper bytes of words, of every second level.
    private void emitDigits(Assembler a, IntUnaryOperator level, Vec v) {
        a.vpmullw(
                v,
                v,
                constants.of(
                        a,
                        v,
                        i -> power(level.applyAsInt(Integer.BYTES * i))
                                | power(level.applyAsInt(Integer.BYTES * i + 2)) << Short.SIZE));
        a.vpmulhuw(v, v, constants.of(a, v, THREES));
    }
}
