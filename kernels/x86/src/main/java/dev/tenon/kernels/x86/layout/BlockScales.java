package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.function.IntUnaryOperator;

/// Computes scales of which each block has one, a half or a power of two, and minimums, which are halves: eight
/// groups of 32 a span.
final class BlockScales {
    private static final int GROUPS = BlockCode.SPAN / BlockCode.UNIT;
    /// For each 128 bits: the lower words of four dwords, then the upper ones.
    private static final int[] WORDS = {0x05040100, 0x0D0C0908, 0x07060302, 0x0F0E0B0A};
    /// The first and the second 64 bits of two 128-bit lanes.
    private static final int[] QUARTERS = {0, 1, 4, 5, 2, 3, 6, 7};

    private static final int SIGNS = 0x80008000;

    private final BlockLayout layout;
    private final boolean powers;
    private final int scale;
    private final int minimum;
    private final boolean negative;

    private BlockScales(BlockLayout layout, boolean powers, int scale, int minimum, boolean negative) {
        this.layout = layout;
        this.powers = powers;
        this.scale = scale;
        this.minimum = minimum;
        this.negative = negative;
    }

    /// {@return the code for a layout; null if its scales are of another kind}
    static BlockScales of(BlockLayout layout) {
        Scale scale = layout.scales().orElseThrow();
        Scale minimum = layout.minimums().orElse(null);
        int at = at(layout, scale);
        boolean powers = scale.numbers().type() == Numbers.Type.E8M0_HALF;
        boolean fits = at >= 0 && scale.step() == 1 && scale.offset() == 0 && !(powers && minimum != null);
        if (!fits || minimum == null) {
            return fits ? new BlockScales(layout, powers, at, -1, false) : null;
        }
        int second = minimum.numbers().type() == Numbers.Type.F16 ? at(layout, minimum) : -1;
        boolean signed = minimum.step() == -1;
        return second >= 0 && minimum.offset() == 0 && (signed || minimum.step() == 1)
                ? new BlockScales(layout, false, at, second, signed)
                : null;
    }

    /// The byte of the one number of a block, of which two bytes can be loaded; -1 if there is no such.
    private static int at(BlockLayout layout, Scale scale) {
        Numbers numbers = scale.numbers();
        boolean kind = numbers.type() == Numbers.Type.E8M0_HALF || Lane.isHalf(numbers);
        Numbers.Piece piece = numbers.pieces(0).getFirst();
        boolean whole = piece.bit() % Byte.SIZE == 0 && piece.bit() / Byte.SIZE + Short.BYTES <= layout.bytes();
        return kind && whole && scale.common().isEmpty() && scale.count() == 1 ? piece.bit() / Byte.SIZE : -1;
    }

    /// {@return whether scales are halves}
    boolean isHalf() {
        return !powers;
    }

    /// {@return where the scale is in a block}
    int at() {
        return scale;
    }

    /// Where a number of a group is in the span.
    private int at(int number, int group) {
        return group * BlockCode.UNIT / layout.size() * layout.bytes() + number;
    }

    void emit512(Assembler a, Gpr w, Vec scales, Vec t, Vec u) {
        if (minimum >= 0) {
            emitScalesAndMinimums(a, w, t, u);
            a.vcvtph2ps(scales, t.y());
            return;
        }
        emitScales(a, w, t);
        a.vinserti64x4(scales, t, t.y(), 1);
    }

    /// Stores eight scales, and as many minimums if there are any; uses two registers.
    void emit256(Assembler a, Gpr w, Mem scales, Mem minimums, Vec t, Vec u) {
        if (minimum < 0) {
            emitScales(a, w, t);
            a.vmovdqu(scales, t);
            return;
        }
        emitScalesAndMinimums(a, w, t, u);
        a.vcvtph2ps(u, t.x());
        a.vmovdqu(scales, u);
        a.vextracti128(t.x(), t, 1);
        a.vcvtph2ps(u, t.x());
        a.vmovdqu(minimums, u);
    }

    /// Eight scales as floats in 256 bits.
    void emitScales(Assembler a, Gpr w, Vec t) {
        emitWords(a, w, scale, t);
        if (powers) {
            a.vpmovzxwd(t.y(), t.x());
            emitPowers(a, t.y());
        } else {
            a.vcvtph2ps(t.y(), t.x());
        }
    }

    private void emitWords(Assembler a, Gpr w, int number, Vec t) {
        int blocks = BlockCode.SPAN / layout.size();
        int groups = GROUPS / blocks;
        a.zero(t);
        for (int b = 0; b < blocks; b++) {
            a.vpinsrw(t, t, mem(w, at(number, groups * b)), b);
        }
        if (groups > 1) {
            a.vpshufb(t.x(), t.x(), a.constant(i -> 0x01000100 + 0x02020202 * (2 * i / groups)));
        }
    }

    /// Makes floats of dwords whose lowest byte is an exponent, of which half is wanted; what is no normal float is 0.
    private static void emitPowers(Assembler a, Vec t) {
        a.vpand(t, t, a.dwords(0xFF));
        a.vpmaxud(t, t, a.dwords(1));
        a.vpaddd(t, t, a.dwords(-1));
        a.vpslld(t, t, 23);
    }

    /// Eight halves of scales and eight of minimums in the two 128-bit lanes.
    private void emitScalesAndMinimums(Assembler a, Gpr w, Vec t, Vec u) {
        if (minimum == scale + Short.BYTES) {
            a.vmovss(t, mem(w, at(scale, 0)));
            a.vmovss(u, mem(w, at(scale, GROUPS / 2)));
            for (int g = 1; g < GROUPS / 2; g++) {
                a.vpinsrd(t, t, mem(w, at(scale, g)), g);
                a.vpinsrd(u, u, mem(w, at(scale, g + GROUPS / 2)), g);
            }
            a.vinserti128(t.y(), t.y(), u.x(), 1);
            a.vpshufb(t.y(), t.y(), a.constant(i -> WORDS[i & 3]));
            a.vmovdqu(u.y(), a.constant(i -> QUARTERS[i & 7]));
            a.vpermd(t.y(), u.y(), t.y());
        } else {
            emitWords(a, w, scale, t);
            emitWords(a, w, minimum, u);
            a.vinserti128(t.y(), t.y(), u.x(), 1);
        }
        if (negative) {
            IntUnaryOperator upper = i -> i < 4 ? 0 : SIGNS;
            a.vpxor(t.y(), t.y(), a.constant(upper));
        }
    }

    /// The scale of a block of 32 as a float in lane 0 of 128 bits.
    void emitUnitScale(Assembler a, Gpr w, Vec d) {
        emitUnit(a, w, scale, d);
        if (powers) {
            emitPowers(a, d.x());
        } else {
            a.vcvtph2ps(d.x(), d.x());
        }
    }

    /// The minimum of a block of 32 as a float in lane 0 of 128 bits.
    void emitUnitMinimum(Assembler a, Gpr w, Vec m) {
        emitUnit(a, w, minimum, m);
        if (negative) {
            a.vpxor(m.x(), m.x(), a.dwords(SIGNS));
        }
        a.vcvtph2ps(m.x(), m.x());
    }

    private static void emitUnit(Assembler a, Gpr w, int at, Vec v) {
        a.zero(v);
        a.vpinsrw(v, v, mem(w, at), 0);
    }
}
