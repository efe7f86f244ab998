package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Numbers.Piece;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.List;

/// Looks levels up that are entries of a code book of four or eight numbers, and changes them by signs and shifts.
///
/// ```
/// level = zero + sign * 2^power * number + 2^power * shift
/// ```
///
/// Indices are put together in a register. With AVX-512 entries are gathered; without, indices go through the stack to
/// a general register, by which entries are loaded. Signs are bits of a mask, from a byte for eight levels; shifts are
/// looked up by their bits, which a byte for eight levels has.
final class GridCode implements Levels {
    private static final int EIGHT = 8;
    private static final int LANE = 16;
    /// Bits of a sign index of eight levels.
    private static final int SIGN_INDEX = 7;

    private static final int MOST_SHIFT_BITS = 4;
    private static final int MOST_POWER = 6;

    private static final Gpr INDEX = Gpr.RCX;
    private static final Gpr TABLE = Gpr.RDX;
    /// What is on the stack meanwhile.
    private static final Mem INDICES = mem(Gpr.RSP);
    private static final Mem SIGNS = mem(Gpr.RSP, 64);
    private static final Mem SHIFTS = mem(Gpr.RSP, 128);
    private static final Mem SAVED = mem(Gpr.RSP, 192);
    private static final int FRAME = 208;

    private final int length;
    private final Numbering numbering;
    private final Keys indices;
    /// Signs and shifts of eight levels each; null without.
    private final Keys signs;
    private final Keys shifts;
    private final boolean signIndices;
    /// The first byte of the signs of a span, if these follow one another bit by bit; -1 for others.
    private final int signRow;
    private final Constants constants;
    private final int[] table;
    private final int[] shiftTable;

    /// How numbers become levels.
    ///
    /// @param power what makes shifts whole
    /// @param zero what is added
    /// @param most the greatest level
    record Numbering(int power, int zero, int most) {}

    private GridCode(
            BlockLayout layout, Numbering numbering, Keys indices, Keys signs, Keys shifts, Constants constants) {
        CodeBook book = layout.codeBook().orElseThrow();
        this.length = book.length();
        this.numbering = numbering;
        this.indices = indices;
        this.signs = signs;
        this.shifts = shifts;
        this.signIndices = signs != null && isIndex(layout);
        this.signRow = signs != null && !signIndices && layout.size() == BlockCode.SPAN
                ? signRow(layout.signs().orElseThrow())
                : -1;
        this.constants = constants;
        // Without signs, entries have the zero already.
        int plus = signs == null ? numbering.zero : 0;
        byte[] numbers = new byte[Math.max(Long.SIZE, book.levels() * length)];
        for (int i = 0; i < book.levels() * length; i++) {
            numbers[i] = (byte) ((book.number(i / length, i % length) << numbering.power) + plus);
        }
        this.table = dwords(numbers);
        byte[] changes = new byte[LANE];
        for (int key = 0; shifts != null && key < LANE; key++) {
            changes[key] = (byte) shift(layout.shifts().orElseThrow(), key, numbering.power);
        }
        this.shiftTable = dwords(changes);
    }

    private static int[] dwords(byte[] bytes) {
        int[] dwords = new int[bytes.length / Integer.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            dwords[i / Integer.BYTES] |= (bytes[i] & 0xFF) << Byte.SIZE * (i % Integer.BYTES);
        }
        return dwords;
    }

    /// {@return how the numbers of a layout with entries become levels; null if they are none, or too large}
    static Numbering numbering(BlockLayout layout) {
        CodeBook book = layout.codeBook().orElse(null);
        boolean entries = book != null && (book.length() == EIGHT || book.length() == EIGHT / 2);
        Scale shifts = layout.shifts().orElse(null);
        boolean possible = entries && (shifts == null || isTable(shifts, layout.size()));
        for (int power = 0; possible && power <= MOST_POWER; power++) {
            boolean signed = layout.signs().isPresent();
            double least = Math.scalb(signed ? Math.min(book.least(), -book.greatest()) : book.least(), power);
            double most = Math.scalb(signed ? Math.max(book.greatest(), -book.least()) : book.greatest(), power);
            double leastShift = 0;
            double mostShift = 0;
            boolean whole = true;
            for (int key = 0; shifts != null && key < 1 << shifts.numbers().width(); key++) {
                float shift = shift(shifts, key, power);
                whole &= shift == (byte) shift;
                leastShift = key == 0 ? shift : Math.min(leastShift, shift);
                mostShift = key == 0 ? shift : Math.max(mostShift, shift);
            }
            int zero = (int) Math.max(0, -least - leastShift);
            double greatest = most + mostShift + zero;
            if (whole && greatest < 1 << Byte.SIZE && (!signed || most <= Byte.MAX_VALUE)) {
                return new Numbering(power, zero, (int) greatest);
            }
        }
        return null;
    }

    private static boolean isTable(Scale shifts, int size) {
        return shifts.common().isEmpty()
                && shifts.numbers().type() == Numbers.Type.UNSIGNED
                && shifts.numbers().width() <= MOST_SHIFT_BITS
                && size / shifts.count() % EIGHT == 0;
    }

    private static float shift(Scale shifts, int key, int power) {
        return Math.scalb(shifts.step() * key + shifts.offset(), power);
    }

    private static boolean isIndex(BlockLayout layout) {
        return layout.signs().orElseThrow().width() == SIGN_INDEX;
    }

    /// {@return the code for a layout; null if there is none}
    static GridCode of(BlockLayout layout, Numbering numbering, Constants constants) {
        int size = layout.size();
        int eights = size / EIGHT;
        Numbers levels = layout.levels();
        Keys indices = Keys.of(layout, constants, levels.count(), levels::pieces);
        Numbers bits = layout.signs().orElse(null);
        Keys signs = null;
        if (bits != null) {
            signs = Keys.of(
                    layout,
                    constants,
                    eights,
                    i -> isIndex(layout)
                            ? bits.pieces(i)
                            : List.of(
                                    new Piece(bits.pieces(EIGHT * i).getFirst().bit(), EIGHT, 0)));
        }
        Scale added = layout.shifts().orElse(null);
        Keys shifts = added == null
                ? null
                : Keys.of(layout, constants, eights, i -> added.numbers().pieces(i * added.count() / eights));
        boolean possible = indices != null
                && (bits == null || signs != null && (isIndex(layout) || areBytes(bits)))
                && (added == null || shifts != null);
        return possible ? new GridCode(layout, numbering, indices, signs, shifts, constants) : null;
    }

    private static int signRow(Numbers bits) {
        int first = bits.pieces(0).getFirst().bit();
        for (int i = 0; i < bits.count(); i++) {
            if (bits.pieces(i).getFirst().bit() != first + i) {
                return -1;
            }
        }
        return first % Byte.SIZE == 0 ? first / Byte.SIZE : -1;
    }

    /// Whether the signs of eight levels are eight neighbouring bits.
    private static boolean areBytes(Numbers bits) {
        for (int i = 0; i < bits.count(); i++) {
            int lead = bits.pieces(i - i % EIGHT).getFirst().bit();
            if (bits.pieces(i).getFirst().bit() != lead + i % EIGHT) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void emit(Assembler a, Gpr w, int first, int count, Vec levels, Vec t) {
        if (w == INDEX || w == TABLE || w == Gpr.RSP) {
            throw new IllegalArgumentException(w + " cannot point to weights that are looked up");
        }
        a.lea(Gpr.RSP, mem(Gpr.RSP, -FRAME));
        a.mov(SAVED, TABLE);
        if (!a.evex) {
            a.mov(SAVED.plus(Long.BYTES), INDEX);
        }
        if (signs != null) {
            emitSigns(a, w, first, count, levels, t);
        }
        if (shifts != null) {
            emitEights(a, w, shifts, first, count, levels, t);
            a.vmovdqu(levels, constants.of(a, levels, i -> shiftTable[i & 3]));
            a.vpshufb(t, levels, t);
            a.vmovdqu(SHIFTS, t);
        }
        Vec lanes = new Vec(t.number(), count / length * Integer.SIZE);
        indices.emit(a, w, first / length, lanes, new Vec(levels.number(), lanes.bits()));
        a.lea(TABLE, a.table(table));
        if (a.evex) {
            emitGathered(a, lanes, levels);
        } else {
            a.vmovdqu(INDICES, lanes);
            for (int part = 0; part < count / LANE; part++) {
                emitEntries(a, part, part == 0 ? levels.x() : t.x());
                if (part > 0) {
                    a.vinserti128(levels, levels, t.x(), part);
                }
            }
        }
        if (signs != null) {
            if (a.evex) {
                a.zero(t);
                a.vpsubb(levels, 1, t, levels);
            } else {
                a.vpxor(levels, levels, SIGNS);
                a.vpsubb(levels, levels, SIGNS);
            }
            a.vpaddb(levels, levels, constants.of(a, levels, numbering.zero * 0x01010101));
        }
        if (shifts != null) {
            a.vpaddb(levels, levels, SHIFTS);
        }
        a.mov(TABLE, SAVED);
        if (!a.evex) {
            a.mov(INDEX, SAVED.plus(Long.BYTES));
        }
        a.lea(Gpr.RSP, mem(Gpr.RSP, FRAME));
    }

    /// Loads the entries of all indices.
    private void emitGathered(Assembler a, Vec indices, Vec levels) {
        a.kxnorw(2, 2, 2);
        // What the register had before would be waited for.
        a.zero(levels);
        Mem entries = mem(TABLE, indices, length, 0);
        if (length == EIGHT) {
            a.vpgatherdq(levels, 2, entries);
        } else {
            a.vpgatherdd(levels, 2, entries);
        }
    }

    /// Loads sixteen levels.
    private void emitEntries(Assembler a, int part, Vec v) {
        int entries = LANE / length;
        for (int i = 0; i < entries; i++) {
            a.mov32(INDEX, INDICES.plus(Integer.BYTES * (part * entries + i)));
            Mem entry = mem(TABLE, INDEX, length, 0);
            if (length == EIGHT) {
                if (i == 0) {
                    a.vmovq(v, entry);
                } else {
                    a.vpinsrq(v, v, entry, i);
                }
            } else if (i == 0) {
                a.vmovss(v, entry);
            } else {
                a.vpinsrd(v, v, entry, i);
            }
        }
    }

    /// The signs as mask 1, or as bytes on the stack.
    private void emitSigns(Assembler a, Gpr w, int first, int count, Vec levels, Vec t) {
        if (a.evex && signRow >= 0 && count == Long.SIZE) {
            a.kmovq(1, mem(w, signRow + first / Byte.SIZE));
            return;
        }
        emitEights(a, w, signs, first, count, levels, t);
        Mem bits = a.constant(i -> i % 2 == 0 ? 0x08040201 : 0x80402010);
        if (a.evex) {
            a.vptestmb(1, t, bits);
        } else {
            a.vpand(t, t, bits);
            a.vpcmpeqb(t, t, bits);
            a.vmovdqu(SIGNS, t);
        }
    }

    /// A byte for eight levels, in each of the eight bytes of `t`.
    private void emitEights(Assembler a, Gpr w, Keys keys, int first, int count, Vec levels, Vec t) {
        Vec lanes = new Vec(t.number(), count / EIGHT * Integer.SIZE);
        Vec u = new Vec(levels.number(), lanes.bits());
        keys.emit(a, w, first / EIGHT, lanes, u);
        if (keys == signs && signIndices) {
            emitEvenSigns(a, lanes, u);
        }
        a.vpmovzxdq(t, lanes);
        a.vpshufb(t, t, constants.of(a, t, i -> i / 2 % 2 == 0 ? 0 : 0x08080808));
    }

    /// Adds the eighth sign to seven, whether their number is odd: bit 0 of it, or bit 6 of `x ^ x << 1 ^ ... ^ x <<
    /// 6`.
    private static void emitEvenSigns(Assembler a, Vec v, Vec u) {
        if (a.vbmi) {
            a.vpopcntd(u, v);
            a.vpslld(u, u, SIGN_INDEX);
            a.vpternlogd(v, u, a.dwords(1 << SIGN_INDEX), 0xF8);
            return;
        }
        a.vmovdqu(SIGNS, v);
        for (int bits = 1; bits < SIGN_INDEX; bits *= 2) {
            a.vpslld(u, v, bits);
            a.vpxor(v, v, u);
        }
        a.vpslld(v, v, 1);
        a.vpand(v, v, a.dwords(1 << SIGN_INDEX));
        a.vpor(v, v, SIGNS);
    }
}
