package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// Puts levels together, a register of bytes at a time, from their pieces.
///
/// Each piece takes the cheapest way that its pattern allows:
///
/// ```
/// four neighbours in four bytes at the same bits     load, shift dwords, mask
/// the same, but the fours lie apart                  load, permute bytes, shift dwords, mask
/// any of a register, with AVX-512 VBMI               load, permute bytes, shift bytes, mask
/// single bits                                        load, permute bytes, mask the bit, minimum with 1
/// anything else                                      load, permute pairs of bytes to words, multiply, shift, pack
/// ```
///
/// In a 128-bit lane are sixteen levels, whose bytes are loaded together.
final class LevelCode implements Levels {
    /// Levels of a 128-bit lane, and its bytes.
    static final int LANE = 16;

    /// Levels of 512 bits.
    private static final int WIDE = 64;

    private static final int ONES = 0x01010101;
    private static final int NO_BYTE = 0x80;

    private enum Way {
        DWORDS,
        PERMUTED_DWORDS,
        GATHERED,
        SINGLE_BITS,
        WORDS
    }

    private final int blockBytes;
    private final int blockSize;
    private final List<Plane> planes;
    private final Constants constants;
    /// Levels of the code book, four to a dword; null without one.
    private final int[] table;

    private LevelCode(BlockLayout layout, List<Plane> planes, int zero, Constants constants) {
        this.blockBytes = layout.bytes();
        this.blockSize = layout.size();
        this.planes = planes;
        this.constants = constants;
        this.table = layout.codeBook().map(book -> table(book, zero)).orElse(null);
    }

    private static int[] table(CodeBook book, int zero) {
        int[] table = new int[LANE / Integer.BYTES];
        for (int i = 0; i < book.levels(); i++) {
            table[i / Integer.BYTES] |= book.number(i, 0) + zero << Byte.SIZE * (i % Integer.BYTES);
        }
        return table;
    }

    /// {@return the code for a layout; null if there is none}
    ///
    /// @param zero what code book's numbers are raised by
    static LevelCode of(BlockLayout layout, int zero, Constants constants) {
        boolean bigBook = layout.codeBook()
                .filter(book -> book.levels() > LANE || book.length() > 1)
                .isPresent();
        List<Plane> planes = Plane.of(layout);
        if (planes == null || bigBook || layout.bytes() < LANE) {
            return null;
        }
        LevelCode code = new LevelCode(layout, new ArrayList<>(planes), zero, constants);
        // The way over words needs both registers, so it comes first, and once; so may bits that lie in any way.
        code.planes.sort((p, q) -> Boolean.compare(isUneven(q), isUneven(p)));
        code.planes.sort((p, q) -> Boolean.compare(code.needsWords(q), code.needsWords(p)));
        boolean possible = code.planes.stream().allMatch(code::possible)
                && code.planes.stream().filter(code::needsWords).count() <= 1
                && (!code.needsWords(code.planes.getFirst())
                        || code.planes.getFirst().to() == 0);
        return possible ? code : null;
    }

    List<Plane> planes() {
        return planes;
    }

    /// {@return levels of the code book, four to a dword; null without one}
    int[] table() {
        return table;
    }

    private static boolean isUneven(Plane plane) {
        return !plane.inDwords(0, plane.bits().length);
    }

    private boolean needsWords(Plane plane) {
        for (int first = 0; first < plane.bits().length; first += 2 * LANE) {
            if (way(plane, first, 2 * LANE, false) == Way.WORDS) {
                return true;
            }
        }
        return false;
    }

    /// Whether the bytes of sixteen neighbours can be loaded together.
    private boolean possible(Plane plane) {
        for (int first = 0; first < plane.bits().length; first += LANE) {
            int window = window(plane, first);
            for (int i = first; i < first + LANE; i++) {
                int last = (plane.bits()[i] + plane.width() - 1) / Byte.SIZE;
                if (plane.at(i) < window || last >= window + LANE) {
                    return false;
                }
            }
        }
        return plane.width() < Byte.SIZE;
    }

    /// {@return where the sixteen bytes for a lane are loaded from: never outside of their block}
    private int window(Plane plane, int first) {
        int least = Integer.MAX_VALUE;
        for (int i = first; i < first + LANE; i++) {
            least = Math.min(least, plane.at(i));
        }
        return Math.min(least, (first / blockSize + 1) * blockBytes - LANE);
    }

    private Way way(Plane plane, int first, int count, boolean gathers) {
        if (gathers
                && count == WIDE
                && canGather(plane, first)
                && !(plane.inDwords(first, count) && plane.inLanes(first, count) && loadsAtOnce(plane, first))) {
            return Way.GATHERED;
        }
        if (plane.inDwords(first, count)) {
            boolean shiftable = distances(plane, first, count) != null;
            if (shiftable) {
                return plane.inLanes(first, count) ? Way.DWORDS : Way.PERMUTED_DWORDS;
            }
        }
        return plane.width() == 1 ? Way.SINGLE_BITS : Way.WORDS;
    }

    /// Whether the bytes for a register can be loaded together, and each eight levels are within eight of them.
    private boolean canGather(Plane plane, int first) {
        int from = gatherFrom(plane, first);
        boolean can = from >= 0 && (plane == planes.getFirst() || plane.inDwords(first, WIDE));
        for (int i = first; can && i < first + WIDE; i++) {
            int last = (plane.bits()[i] + plane.width() - 1) / Byte.SIZE;
            can = plane.at(i) >= from
                    && last < from + WIDE
                    && last < least(plane, i / Byte.SIZE * Byte.SIZE, Byte.SIZE) + Long.BYTES;
        }
        return can;
    }

    /// {@return where 64 bytes are loaded from: never outside of the span}
    private int gatherFrom(Plane plane, int first) {
        return Math.min(least(plane, first, WIDE), plane.bits().length / blockSize * blockBytes - WIDE);
    }

    private static int least(Plane plane, int first, int count) {
        int least = Integer.MAX_VALUE;
        for (int i = first; i < first + count; i++) {
            least = Math.min(least, plane.at(i));
        }
        return least;
    }

    /// Whether one instruction loads the bytes of a register, sixteen by sixteen.
    private boolean loadsAtOnce(Plane plane, int first) {
        int[] at = new int[WIDE / LANE];
        for (int lane = 0; lane < at.length; lane++) {
            at[lane] = window(plane, first + LANE * lane);
        }
        boolean halves = at[1] == at[0] + LANE && at[3] == at[2] + LANE;
        return halves && (at[2] == at[0] || at[2] == at[1] + LANE)
                || at[1] == at[0] && at[2] == at[0] && at[3] == at[0];
    }

    /// Permutes bytes so that each eight levels are in 64 bits, and takes their bits from there; where these lie in
    /// dwords alike, a shift does that.
    private void emitGathered(Assembler a, Gpr w, Plane plane, int first, boolean lead, Vec levels, Vec t) {
        Vec v = lead ? levels : t;
        int from = gatherFrom(plane, first);
        boolean dwords = plane.inDwords(first, WIDE);
        IntUnaryOperator index = bytes(
                WIDE,
                i -> dwords
                        ? plane.at(first + i) - from
                        : Math.min(
                                WIDE - 1,
                                least(plane, first + i / Byte.SIZE * Byte.SIZE, Byte.SIZE) - from + i % Byte.SIZE));
        Operand places = constants.of(a, v, index);
        if (!(places instanceof Vec)) {
            a.vmovdqu(v, places);
        }
        a.vpermb(v, places instanceof Vec register ? register : v, mem(w, from));
        if (dwords) {
            emitShift(a, plane, first, WIDE, v);
        } else {
            Operand shifts = constants.of(
                    a,
                    v,
                    bytes(
                            WIDE,
                            i -> plane.bits()[first + i]
                                            - Byte.SIZE * least(plane, first + i / Byte.SIZE * Byte.SIZE, Byte.SIZE)
                                            - plane.to()
                                    & Long.SIZE - 1));
            if (!(shifts instanceof Vec)) {
                a.vmovdqu(t, shifts);
            }
            a.vpmultishiftqb(v, shifts instanceof Vec register ? register : t, v);
        }
        emitMasked(a, plane, lead, levels, t);
    }

    /// {@return what each dword is shifted right by; null if the narrow instructions cannot}
    private static IntUnaryOperator distances(Plane plane, int first, int count) {
        boolean left = false;
        boolean right = false;
        for (int i = first; i < first + count; i += Integer.BYTES) {
            left |= plane.distance(i) < 0;
            right |= plane.distance(i) > 0;
        }
        boolean same = true;
        for (int i = first; i < first + count; i += Integer.BYTES) {
            same &= plane.distance(i) == plane.distance(first);
        }
        boolean wide = count > 2 * LANE;
        return left && !same && !wide ? null : lane -> plane.distance(first + Integer.BYTES * lane % count);
    }

    @Override
    public void emit(Assembler a, Gpr w, int first, int count, Vec levels, Vec t) {
        for (Plane plane : planes) {
            boolean lead = plane == planes.getFirst();
            Vec v = lead ? levels : t;
            switch (way(plane, first, count, a.vbmi)) {
                case DWORDS -> {
                    loadLanes(a, w, plane, first, count, v);
                    emitShift(a, plane, first, count, v);
                    emitMasked(a, plane, lead, levels, t);
                }
                case PERMUTED_DWORDS -> {
                    loadLanes(a, w, plane, first, count, v);
                    a.vpshufb(v, v, constants.of(a, v, places(plane, first, count)));
                    emitShift(a, plane, first, count, v);
                    emitMasked(a, plane, lead, levels, t);
                }
                case GATHERED -> emitGathered(a, w, plane, first, lead, levels, t);
                case SINGLE_BITS -> {
                    emitSingleBits(a, w, plane, first, count, v);
                    if (!lead) {
                        a.vpor(levels, levels, t);
                    }
                }
                case WORDS -> emitWords(a, w, plane, first, count, levels, t);
            }
        }
        if (table != null) {
            emitTable(a, levels, t);
        }
    }

    private void emitTable(Assembler a, Vec levels, Vec t) {
        Operand book = constants.of(a, levels, i -> table[i & 3]);
        if (!(book instanceof Vec)) {
            a.vmovdqu(t, book);
        }
        a.vpshufb(levels, book instanceof Vec v ? v : t, levels);
    }

    private void emitMasked(Assembler a, Plane plane, boolean lead, Vec levels, Vec t) {
        Operand mask = constants.of(a, levels, plane.mask());
        if (lead) {
            a.vpand(levels, levels, mask);
        } else if (a.evex) {
            a.vpternlogd(levels, t, mask, 0xF8);
        } else {
            a.vpand(t, t, mask);
            a.vpor(levels, levels, t);
        }
    }

    private void emitShift(Assembler a, Plane plane, int first, int count, Vec v) {
        IntUnaryOperator distances = distances(plane, first, count);
        boolean same = true;
        boolean left = false;
        for (int lane = 0; lane < count / Integer.BYTES; lane++) {
            same &= distances.applyAsInt(lane) == distances.applyAsInt(0);
            left |= distances.applyAsInt(lane) < 0;
        }
        if (same && left) {
            a.vpslld(v, v, -distances.applyAsInt(0));
        } else if (same && distances.applyAsInt(0) > 0) {
            a.vpsrld(v, v, distances.applyAsInt(0));
        } else if (!same && left) {
            a.vprorvd(v, v, constants.of(a, v, lane -> distances.applyAsInt(lane) & Integer.SIZE - 1));
        } else if (!same) {
            a.vpsrlvd(v, v, constants.of(a, v, distances));
        }
    }

    /// Loads sixteen bytes to each 128-bit lane.
    private void loadLanes(Assembler a, Gpr w, Plane plane, int first, int count, Vec v) {
        int[] at = new int[count / LANE];
        boolean same = true;
        boolean following = true;
        for (int lane = 0; lane < at.length; lane++) {
            at[lane] = window(plane, first + LANE * lane);
            same &= at[lane] == at[0];
            following &= at[lane] == at[0] + LANE * lane;
        }
        boolean wide = at.length > 2;
        if (following) {
            a.vmovdqu(v, mem(w, at[0]));
        } else if (same && wide) {
            a.vbroadcasti32x4(v, mem(w, at[0]));
        } else if (same) {
            a.vbroadcasti128(v, mem(w, at[0]));
        } else if (wide && at[1] == at[0] + LANE && at[3] == at[2] + LANE) {
            if (at[2] == at[0]) {
                a.vbroadcasti64x4(v, mem(w, at[0]));
            } else {
                a.vmovdqu(v.y(), mem(w, at[0]));
                a.vinserti64x4(v, v, mem(w, at[2]), 1);
            }
        } else if (wide && at[1] == at[0] && at[3] == at[2]) {
            a.vmovdqu(v.x(), mem(w, at[0]));
            a.vinserti128(v.y(), v.y(), mem(w, at[2]), 1);
            a.vshufi64x2(v, v, v, 0x50);
        } else {
            a.vmovdqu(v.x(), mem(w, at[0]));
            for (int lane = 1; lane < at.length; lane++) {
                a.vinserti128(v, v, mem(w, at[lane]), lane);
            }
        }
    }

    /// {@return indices that bring the byte of each level to its place}
    private IntUnaryOperator places(Plane plane, int first, int count) {
        return bytes(count, i -> plane.at(first + i) - window(plane, first + i / LANE * LANE));
    }

    /// {@return dwords made of bytes, over and over}
    private static IntUnaryOperator bytes(int count, IntUnaryOperator at) {
        return lane -> {
            int dword = 0;
            for (int i = 0; i < Integer.BYTES; i++) {
                dword |= at.applyAsInt((Integer.BYTES * lane + i) % count) << Byte.SIZE * i;
            }
            return dword;
        };
    }

    private void emitSingleBits(Assembler a, Gpr w, Plane plane, int first, int count, Vec v) {
        loadLanes(a, w, plane, first, count, v);
        a.vpshufb(v, v, constants.of(a, v, places(plane, first, count)));
        a.vpand(v, v, constants.of(a, v, bytes(count, i -> 1 << plane.shift(first + i))));
        a.vpminub(v, v, constants.of(a, v, ONES));
        if (plane.to() > 0) {
            a.vpslld(v, v, plane.to());
        }
    }

    /// The words of the lower eight levels of each lane are in `levels`, the others in `t`.
    private void emitWords(Assembler a, Gpr w, Plane plane, int first, int count, Vec levels, Vec t) {
        loadLanes(a, w, plane, first, count, t);
        a.vpshufb(levels, t, constants.of(a, t, pairs(plane, first, count, 0)));
        a.vpshufb(t, t, constants.of(a, t, pairs(plane, first, count, LANE / 2)));
        a.vpmullw(levels, levels, constants.of(a, t, factors(plane, first, count, 0)));
        a.vpmullw(t, t, constants.of(a, t, factors(plane, first, count, LANE / 2)));
        a.vpsrlw(levels, levels, Short.SIZE - plane.width());
        a.vpsrlw(t, t, Short.SIZE - plane.width());
        a.vpacksswb(levels, levels, t);
    }

    /// {@return the level whose word is the given one}
    private static int level(int first, int word, int half) {
        return first + word / (LANE / 2) * LANE + half + word % (LANE / 2);
    }

    private IntUnaryOperator pairs(Plane plane, int first, int count, int half) {
        return bytes(count, i -> {
            int level = level(first, i / 2, half);
            int at = plane.at(level) - window(plane, level / LANE * LANE);
            boolean used = i % 2 == 0 || plane.shift(level) + plane.width() > Byte.SIZE;
            return used ? at + i % 2 : NO_BYTE;
        });
    }

    private IntUnaryOperator factors(Plane plane, int first, int count, int half) {
        return bytes(count, i -> {
            int level = level(first, i / 2, half);
            return 1 << Short.SIZE - plane.width() - plane.shift(level) >> Byte.SIZE * (i % 2) & 0xff;
        });
    }
}
