package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// Computes scales that are whole numbers times a half, a register of lanes at a time.
///
/// Numbers that are bytes of their own are widened. Others come out of a head of sixteen bytes:
/// for each piece a permutation puts the dword that has it into its lane, a shift by lane brings it
/// into place, a mask cuts it out. Pieces that cross the border of a dword are two. The factors
/// come out of the head too, where they are in it.
final class NumberScales {
    private static final int HEAD = 16;

    private final List<Lane> lanes;
    private final Constants constants;
    private final int head;
    private final int ranks;

    private NumberScales(List<Lane> lanes, int head, Constants constants) {
        this.lanes = lanes;
        this.head = head;
        this.constants = constants;
        this.ranks = lanes.stream().mapToInt(lane -> lane.pieces().size()).max().orElseThrow();
    }

    /// {@return the code for some lanes; null if there is none}
    ///
    /// @param lanes eight or sixteen
    /// @param spanBytes bytes of a span
    static NumberScales of(List<Lane> lanes, int spanBytes, Constants constants) {
        int least = Integer.MAX_VALUE;
        int leastOfAll = Integer.MAX_VALUE;
        int most = 0;
        int mostOfAll = 0;
        for (Lane lane : lanes) {
            for (Numbers.Piece piece : lane.pieces()) {
                least = Math.min(least, piece.bit() / Byte.SIZE);
                most = Math.max(most, (piece.bit() + piece.width() - 1) / Byte.SIZE);
            }
            leastOfAll = Math.min(leastOfAll, Math.min(least, lane.factor()));
            mostOfAll = Math.max(mostOfAll, Math.max(most, lane.factor() + 1));
        }
        int start = mostOfAll - leastOfAll < HEAD ? leastOfAll : least;
        int head = Math.min(start, spanBytes - HEAD);
        NumberScales scales = new NumberScales(lanes, head, constants);
        if (head < 0 || scales.isBytes(0, lanes.size())) {
            return head < 0 ? null : scales;
        }
        boolean cut = most - head < HEAD && lanes.stream().noneMatch(Lane::signed);
        return cut ? new NumberScales(lanes.stream().map(lane -> lane.cut(head)).toList(), head, constants) : null;
    }

    private int inHead(Numbers.Piece piece) {
        return piece.bit() - Byte.SIZE * head;
    }

    private boolean isBytes(int from, int count) {
        for (int i = 0; i < count; i++) {
            Lane lane = lanes.get(from + i);
            if (!lane.follows(i, lanes.get(from))
                    || lane.signed() && lane.piece(0).width() < Byte.SIZE) {
                return false;
            }
        }
        return true;
    }

    /// {@return the first byte of numbers that are signed bytes of their own, all under one factor; -1 for others}
    int signedBytes() {
        Lane first = lanes.getFirst();
        boolean bytes = isBytes(0, lanes.size())
                && first.signed()
                && first.step() == 1
                && first.offset() == 0
                && lanes.stream().allMatch(lane -> lane.factor() == first.factor());
        return bytes ? first.piece(0).bit() / Byte.SIZE : -1;
    }

    /// {@return where the factor of the first lane is}
    int factor() {
        return lanes.getFirst().factor();
    }

    /// Computes some lanes.
    ///
    /// @param w points to the span
    /// @param from the first lane
    /// @param out receives them, as many as it holds
    /// @param t temporary
    /// @param u temporary
    void emit(Assembler a, Gpr w, int from, Vec out, Vec t, Vec u) {
        int count = out.bits() / Integer.SIZE;
        boolean bytes = isBytes(from, count);
        boolean factorsInHead = factorsInHead(from, count);
        if (!bytes || factorsInHead) {
            a.vmovdqu(t.x(), mem(w, head));
        }
        if (bytes) {
            emitBytes(a, w, lanes.get(from), out);
        } else {
            for (int rank = 0; rank < ranks; rank++) {
                emitPieces(a, w, from, count, rank, out, t, u);
            }
        }
        emitFloats(a, from, out);
        if (factorsInHead) {
            a.vcvtph2ps(t.y(), t.x());
            Operand index = constants.of(a, t, i -> (lanes.get(from + i % count).factor() - head) / Short.BYTES);
            if (!(index instanceof Vec)) {
                a.vmovdqu(u, index);
            }
            a.vpermps(t, index instanceof Vec v ? v : u, t);
        } else {
            BlockCode.f16ToAll(a, mem(w, lanes.get(from).factor()), t);
            int half = lanes.get(from + count / 2).factor();
            if (half != lanes.get(from).factor()) {
                BlockCode.f16ToAll(a, mem(w, half), u);
                a.vinserti64x4(t, t, u.y(), 1);
            }
        }
        a.vmulps(out, out, t);
    }

    private boolean factorsInHead(int from, int count) {
        int last = lanes.get(from + count - 1).factor();
        boolean several = last != lanes.get(from).factor();
        for (int i = from; i < from + count; i++) {
            int at = lanes.get(i).factor() - head;
            if (at < 0 || at + Short.BYTES > HEAD || at % Short.BYTES != 0) {
                return false;
            }
        }
        return several || !isBytes(from, count);
    }

    private static void emitBytes(Assembler a, Gpr w, Lane first, Vec out) {
        Numbers.Piece piece = first.piece(0);
        if (first.signed()) {
            a.vpmovsxbd(out, mem(w, piece.bit() / Byte.SIZE));
            return;
        }
        int shift = piece.bit() % Byte.SIZE;
        a.vpmovzxbd(out, mem(w, piece.bit() / Byte.SIZE));
        if (shift > 0) {
            a.vpsrld(out, out, shift);
        }
        if (shift + piece.width() < Byte.SIZE) {
            a.vpand(out, out, a.dwords((1 << piece.width()) - 1));
        }
    }

    private void emitPieces(Assembler a, Gpr w, int from, int count, int rank, Vec out, Vec t, Vec u) {
        Vec v = rank == 0 ? out : u;
        IntUnaryOperator bit = i -> inHead(lanes.get(from + i % count).piece(rank));
        IntUnaryOperator dword = i -> bit.applyAsInt(i) / Integer.SIZE;
        IntUnaryOperator mask = i -> {
            Numbers.Piece piece = lanes.get(from + i % count).piece(rank);
            return (1 << piece.width()) - 1 << piece.to();
        };
        if (same(dword, count)) {
            a.vpbroadcastd(v, mem(w, head + Integer.BYTES * dword.applyAsInt(0)));
        } else {
            Operand index = constants.of(a, v, dword);
            if (!(index instanceof Vec)) {
                a.vmovdqu(v, index);
            }
            a.vpermd(v, index instanceof Vec register ? register : v, t);
        }
        IntUnaryOperator distance = i -> bit.applyAsInt(i) % Integer.SIZE
                - lanes.get(from + i % count).piece(rank).to();
        boolean left = false;
        for (int i = 0; i < count; i++) {
            left |= mask.applyAsInt(i) != 0 && distance.applyAsInt(i) < 0;
        }
        if (left && !a.evex) {
            // Nothing rotates here: down first, then up.
            IntUnaryOperator to = i -> lanes.get(from + i % count).piece(rank).to();
            a.vpsrlvd(v, v, constants.of(a, v, i -> bit.applyAsInt(i) % Integer.SIZE));
            a.vpand(v, v, constants.of(a, v, i -> mask.applyAsInt(i) >> to.applyAsInt(i)));
            if (same(to, count)) {
                a.vpslld(v, v, to.applyAsInt(0));
            } else {
                a.vpsllvd(v, v, constants.of(a, v, to));
            }
            a.vpor(out, out, v);
            return;
        }
        if (left) {
            a.vprorvd(v, v, constants.of(a, v, i -> distance.applyAsInt(i) & Integer.SIZE - 1));
        } else {
            a.vpsrlvd(v, v, constants.of(a, v, i -> Math.max(0, distance.applyAsInt(i))));
        }
        if (rank == 0) {
            a.vpand(out, out, constants.of(a, v, mask));
        } else if (a.evex) {
            a.vpternlogd(out, v, constants.of(a, v, mask), 0xF8);
        } else {
            a.vpand(v, v, constants.of(a, v, mask));
            a.vpor(out, out, v);
        }
    }

    private static boolean same(IntUnaryOperator number, int count) {
        for (int i = 1; i < count; i++) {
            if (number.applyAsInt(i) != number.applyAsInt(0)) {
                return false;
            }
        }
        return true;
    }

    /// From whole numbers to floats, with step and offset.
    private void emitFloats(Assembler a, int from, Vec out) {
        List<Lane> here = lanes.subList(from, from + out.bits() / Integer.SIZE);
        boolean steps = here.stream().anyMatch(lane -> lane.step() != 1);
        boolean fractions = here.stream().anyMatch(lane -> lane.offset() != (int) lane.offset());
        boolean offsets = here.stream().anyMatch(lane -> lane.offset() != 0);
        IntUnaryOperator lane = i -> i % here.size();
        if (!steps && !fractions && offsets) {
            a.vpaddd(out, out, constants.of(a, out, i ->
                    (int) here.get(lane.applyAsInt(i)).offset()));
        }
        a.vcvtdq2ps(out, out);
        if (steps || fractions) {
            a.vmulps(
                    out,
                    out,
                    constants.of(
                            a,
                            out,
                            i -> Float.floatToRawIntBits(
                                    here.get(lane.applyAsInt(i)).step())));
            a.vaddps(
                    out,
                    out,
                    constants.of(
                            a,
                            out,
                            i -> Float.floatToRawIntBits(
                                    here.get(lane.applyAsInt(i)).offset())));
        }
    }
}
