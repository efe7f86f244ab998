package dev.tenon.kernels.x86.layout;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;

/// Computes scales that are whole numbers times a half, or floats of eight bits, a register of lanes at a time.
///
/// Numbers that are bytes of their own are widened. Others come out of a head of sixteen bytes:
/// for each piece a permutation puts the dword that has it into its lane, a shift by lane brings it
/// into place, a mask cuts it out. Pieces that cross the border of a dword are two. The factors
/// come out of the head too, where they are in it. Pieces that are further apart are loaded four by four where
/// they are such bytes; else with AVX-512 they come out of 64 bytes in the same way, if these have them all, or they
/// are loaded lane by lane.
final class NumberScales {
    private static final int HEAD = 16;
    private static final int WIDE_HEAD = 64;
    /// What floats of eight bits are more than halves with the same bits of exponent and fraction.
    private static final float UE4M3_HALF = Math.scalb(1f, 7);
    private static final int NO_NUMBER = 0x7F;
    private static final int FACTOR_PIECES = 4;

    private final List<Lane> lanes;
    private final Constants constants;
    /// The first byte of the head; -1 where pieces are too far apart.
    private final int head;
    /// The first byte of the 64 that are loaded with AVX-512 instead; -1 without.
    private final int wideHead;
    private final int spanBytes;
    private final int ranks;

    private NumberScales(List<Lane> lanes, int head, int wideHead, int spanBytes, Constants constants) {
        this.lanes = lanes;
        this.head = head;
        this.wideHead = wideHead;
        this.spanBytes = spanBytes;
        this.constants = constants;
        this.ranks = lanes.stream().mapToInt(lane -> lane.pieces().size()).max().orElseThrow();
    }

    /// {@return the code for some lanes; null if there is none}
    ///
    /// @param lanes eight or sixteen
    /// @param spanBytes bytes of a span
    static NumberScales of(List<Lane> lanes, int spanBytes, Constants constants) {
        Lane lead = lanes.getFirst();
        boolean alike = lanes.stream()
                .allMatch(lane -> lane.type() == lead.type() && lane.hasPlainFactor() == lead.hasPlainFactor());
        boolean sameFactor = lanes.stream().allMatch(lane -> lane.common().equals(lead.common()));
        if (!alike || !lead.hasPlainFactor() && (!sameFactor || lead.common().size() > FACTOR_PIECES)) {
            return null;
        }
        int least = Integer.MAX_VALUE;
        int leastOfAll = Integer.MAX_VALUE;
        int most = 0;
        int mostOfAll = 0;
        for (Lane lane : lanes) {
            for (Numbers.Piece piece : lane.pieces()) {
                least = Math.min(least, piece.bit() / Byte.SIZE);
                most = Math.max(most, (piece.bit() + piece.width() - 1) / Byte.SIZE);
            }
            boolean plain = lane.hasPlainFactor();
            leastOfAll = Math.min(leastOfAll, plain ? Math.min(least, lane.factor()) : least);
            mostOfAll = Math.max(mostOfAll, plain ? Math.max(most, lane.factor() + 1) : most);
        }
        int start = mostOfAll - leastOfAll < HEAD ? leastOfAll : least;
        int head = Math.min(start, spanBytes - HEAD);
        NumberScales scales = new NumberScales(lanes, head, -1, spanBytes, constants);
        if (head < 0 || scales.isBytes(0, lanes.size())) {
            return head < 0 ? null : scales;
        }
        if (lanes.stream().anyMatch(Lane::signed)) {
            return null;
        }
        if (most - head < HEAD) {
            return new NumberScales(cut(lanes, head), head, -1, spanBytes, constants);
        }
        int wide = Math.min(least, spanBytes - WIDE_HEAD);
        return wide >= 0 && most - wide < WIDE_HEAD
                ? new NumberScales(cut(lanes, wide), -1, wide, spanBytes, constants)
                : new NumberScales(lanes, -1, -1, spanBytes, constants);
    }

    /// {@return the first byte of the dword that a piece is loaded with, where lanes are loaded one by one}
    private int dwordAt(Numbers.Piece piece) {
        return Math.min(piece.bit() / Byte.SIZE, spanBytes - Integer.BYTES);
    }

    private static List<Lane> cut(List<Lane> lanes, int head) {
        return lanes.stream().map(lane -> lane.cut(head)).toList();
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

    /// Whether each four lanes are bytes that follow one another, all at the same bits of them.
    private boolean isFours(int from, int count) {
        Numbers.Piece first = lanes.get(from).piece(0);
        for (int i = from; i < from + count; i += Integer.BYTES) {
            Numbers.Piece piece = lanes.get(i).piece(0);
            boolean alike = piece.width() == first.width() && piece.bit() % Byte.SIZE == first.bit() % Byte.SIZE;
            if (!alike || !isBytes(i, Integer.BYTES)) {
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
                && first.hasPlainFactor()
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
        boolean row = isBytes(from, count);
        boolean bytes = row || head < 0 && isFours(from, count);
        boolean factorsInHead = head >= 0 && factorsInHead(from, count);
        if (!bytes && head >= 0 || factorsInHead) {
            a.vmovdqu(t.x(), mem(w, head));
        }
        if (bytes) {
            Lane first = lanes.get(from);
            emitBytes(a, first, row ? mem(w, first.piece(0).bit() / Byte.SIZE) : emitFours(a, w, from, out), out);
        } else {
            for (int rank = 0; rank < ranks; rank++) {
                emitPieces(a, w, from, count, rank, out, t, u);
            }
        }
        if (lanes.get(from).type() == Numbers.Type.UE4M3_HALF) {
            emitSmallFloats(a, out, t);
            return;
        }
        emitFloats(a, from, out);
        if (!lanes.get(from).hasPlainFactor()) {
            emitFactorOfPieces(a, w, lanes.get(from).common(), t, u);
        } else if (factorsInHead) {
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

    /// Puts the pieces of the factor of all lanes together: a lane each, then all of them.
    private void emitFactorOfPieces(Assembler a, Gpr w, List<Numbers.Piece> pieces, Vec t, Vec u) {
        a.zero(t);
        for (int i = 0; i < pieces.size(); i++) {
            a.vpinsrd(t, t, mem(w, dwordAt(pieces.get(i))), i);
        }
        IntUnaryOperator piece = i -> Math.min(i % 4, pieces.size() - 1);
        a.vpsrlvd(
                t.x(),
                t.x(),
                a.constant(i ->
                        pieces.get(piece.applyAsInt(i)).bit() - Byte.SIZE * dwordAt(pieces.get(piece.applyAsInt(i)))));
        a.vpand(
                t.x(),
                t.x(),
                a.constant(i -> (1 << pieces.get(piece.applyAsInt(i)).width()) - 1));
        a.vpsllvd(t.x(), t.x(), a.constant(i -> pieces.get(piece.applyAsInt(i)).to()));
        a.vpshufd(u.x(), t.x(), 0x4E);
        a.vpor(t.x(), t.x(), u.x());
        a.vpshufd(u.x(), t.x(), 0xB1);
        a.vpor(t.x(), t.x(), u.x());
        a.vcvtph2ps(t.x(), t.x());
        a.vbroadcastss(t, t.x());
    }

    /// Makes floats of dwords that are floats of eight bits, as [Numbers.Type#UE4M3_HALF] says. They go through halves:
    /// with denormals among them, a conversion takes no longer, and a product of floats many times as long.
    private static void emitSmallFloats(Assembler a, Vec out, Vec t) {
        a.vpxor(t, out, a.dwords(NO_NUMBER));
        a.vpaddd(t, t, a.dwords(-1));
        a.vpsrad(t, t, Integer.SIZE - 1);
        a.vpandn(out, t, out);
        a.vpand(out, out, a.dwords(NO_NUMBER));
        a.vpslld(out, out, 7);
        if (a.evex) {
            a.vpmovdw(out.y(), out);
            a.vcvtph2ps(out, out.y());
        } else {
            a.vextracti128(t.x(), out, 1);
            a.vpackssdw(out.x(), out.x(), t.x());
            a.vcvtph2ps(out, out.x());
        }
        a.vmulps(out, out, a.constant(UE4M3_HALF));
    }

    private boolean factorsInHead(int from, int count) {
        if (!lanes.get(from).hasPlainFactor()) {
            return false;
        }
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

    /// Loads four bytes to each dword of the lower quarter of a register.
    private Vec emitFours(Assembler a, Gpr w, int from, Vec out) {
        a.vmovss(out, mem(w, lanes.get(from).piece(0).bit() / Byte.SIZE));
        for (int i = 1; i < out.bits() / Integer.SIZE / Integer.BYTES; i++) {
            Numbers.Piece piece = lanes.get(from + Integer.BYTES * i).piece(0);
            a.vpinsrd(out, out, mem(w, piece.bit() / Byte.SIZE), i);
        }
        return out.x();
    }

    private static void emitBytes(Assembler a, Lane first, Operand bytes, Vec out) {
        Numbers.Piece piece = first.piece(0);
        if (first.signed()) {
            a.vpmovsxbd(out, bytes);
            return;
        }
        int shift = piece.bit() % Byte.SIZE;
        a.vpmovzxbd(out, bytes);
        if (shift > 0) {
            a.vpsrld(out, out, shift);
        }
        if (shift + piece.width() < Byte.SIZE) {
            a.vpand(out, out, a.dwords((1 << piece.width()) - 1));
        }
    }

    private void emitPieces(Assembler a, Gpr w, int from, int count, int rank, Vec out, Vec t, Vec u) {
        Vec v = rank == 0 ? out : u;
        IntFunction<Numbers.Piece> piece = i -> lanes.get(from + i % count).piece(rank);
        int start = a.evex && head < 0 ? wideHead : head;
        IntUnaryOperator bit = i -> piece.apply(i).bit() - Byte.SIZE * (start >= 0 ? start : dwordAt(piece.apply(i)));
        IntUnaryOperator dword = i -> bit.applyAsInt(i) / Integer.SIZE;
        IntUnaryOperator mask =
                i -> (1 << piece.apply(i).width()) - 1 << piece.apply(i).to();
        if (start < 0) {
            emitDwords(a, w, i -> dwordAt(piece.apply(i)), v, t);
        } else if (same(dword, count)) {
            a.vpbroadcastd(v, mem(w, start + Integer.BYTES * dword.applyAsInt(0)));
        } else {
            Operand index = constants.of(a, v, dword);
            if (!(index instanceof Vec)) {
                a.vmovdqu(v, index);
            }
            a.vpermd(v, index instanceof Vec register ? register : v, start == head ? t : mem(w, start));
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

    /// Loads a dword to each lane.
    private static void emitDwords(Assembler a, Gpr w, IntUnaryOperator at, Vec v, Vec t) {
        for (int lane = 0; lane < v.bits() / Integer.SIZE; lane++) {
            Vec part = lane < 4 ? v.x() : t.x();
            if (lane % 4 == 0) {
                a.vmovss(part, mem(w, at.applyAsInt(lane)));
                continue;
            }
            a.vpinsrd(part, part, mem(w, at.applyAsInt(lane)), lane % 4);
            if (lane % 4 == 3 && lane > 3) {
                a.vinserti128(v, v, part, lane / 4);
            }
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
