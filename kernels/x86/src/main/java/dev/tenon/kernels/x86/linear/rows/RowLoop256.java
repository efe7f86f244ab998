package dev.tenon.kernels.x86.linear.rows;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSP;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.Tiles;
import dev.tenon.kernels.x86.cpu.Prefetch;

/// Rows times one to four tokens with AVX2, one row at a time: what [RowLoop512] computes, to the
/// bit, 32 weights at a time.
///
/// A byte product is `vpmaddubsw` and `vpmaddwd`, or `vpdpbusd` with AVX-VNNI. Levels of up to 127
/// keep `vpmaddubsw` (two products in 16 bits) from saturating; of greater ones, every other one is
/// multiplied at a time. Words are multiplied by `vpmaddwd`, or by `vpdpwssd` with AVX-VNNI.
///
/// With sixteen registers the scales lie on the stack, and so do the sums of four levels of two
/// units, until those of all eight units of a span are there.
public final class RowLoop256 extends BlockRowLoop {
    private static final Gpr[] SAVED = {RBX, RBP, R12, R13, R14, R15};
    private static final Vec LEVELS = ymm(8);
    private static final Vec NEXT_LEVELS = ymm(9);
    private static final Vec T1 = ymm(10);
    private static final Vec T2 = ymm(11);
    private static final Vec DOT = ymm(12);
    private static final Vec ONES = ymm(13);
    private static final Vec NEXT_DOT = ymm(14);
    private static final Vec T3 = ymm(15);
    private static final Mem SCALES = mem(RSP);
    private static final Mem MINS = mem(RSP, 64);
    /// Sums of scales over a tile, where scales have no minimums: 16 of them.
    private static final Mem TILE_SCALES = MINS;
    private static final int PAIRS = 128;
    /// Bytes of a token's pairs.
    private static final int TOKEN_PAIRS = 4 * 32;
    /// Bytes of a token's sums over a tile, which lie after all pairs.
    private static final int TOKEN_SUMS = 64;

    private final boolean vnni;

    private RowLoop256(Assembler a, BlockCode format, int tokens, boolean vnni) {
        super(a, format, tokens, SAVED);
        this.vnni = vnni;
    }

    /// Emits the function for a number of tokens.
    ///
    /// @param vnni whether `vpdpbusd` and `vpdpwssd` may be used
    public static void emit(Assembler a, BlockCode format, int tokens, boolean vnni) {
        new RowLoop256(a, format, tokens, vnni).emit();
    }

    /// {@return how many registers the sums of a token take, eight groups each}
    private int parts() {
        return 32 / format.group;
    }

    private Vec sums(int t, int part) {
        return ymm(parts() * t + part);
    }

    /// {@return the upper part of 32 words in `levels`, which are a group: registers 4 and 5 have
    /// no sums}
    private static Vec upper(Vec levels) {
        return ymm(levels.number() - 4);
    }

    private Mem pair(int t, int pair) {
        return mem(RSP, PAIRS + TOKEN_PAIRS * t + 32 * pair);
    }

    /// {@return sums of a token over a tile: in registers that have no sums, where these suffice}
    private Operand tileSums(int t, int part) {
        int register = parts() * (tokens + t) + part;
        return 2 * parts() * tokens <= LEVELS.number()
                ? ymm(register)
                : mem(RSP, PAIRS + TOKEN_PAIRS * tokens + TOKEN_SUMS * t + 32 * part);
    }

    /// {@return sums of scales over a tile, after those of tokens}
    private Operand tileScales(int part) {
        return parts() * (2 * tokens + 1) <= LEVELS.number()
                ? ymm(2 * parts() * tokens + part)
                : TILE_SCALES.plus(32 * part);
    }

    private void store(Operand to, Vec v) {
        if (to instanceof Mem memory) {
            a.vmovdqu(memory, v);
        } else {
            a.vmovdqu((Vec) to, v);
        }
    }

    /// RBP keeps the caller's stack pointer.
    @Override
    void emitFrame() {
        a.mov(RBP, RSP);
    }

    @Override
    void emitFrameEnd() {
        a.mov(RSP, RBP);
    }

    @Override
    Mem argument(int n) {
        return mem(RBP, 8 + 8 * SAVED.length + 8 * n);
    }

    @Override
    void emitStart() {
        super.emitStart();
        a.sub(RSP, PAIRS + (TOKEN_PAIRS + TOKEN_SUMS) * tokens);
        a.and(RSP, -64);
        if (!vnni && !format.words) {
            a.vmovdqu(ONES, a.dwords(0x00010001));
        }
    }

    @Override
    void emitZeros() {
        for (int t = 0; t < tokens; t++) {
            for (int part = 0; part < parts(); part++) {
                a.zero(sums(t, part));
            }
        }
    }

    @Override
    Vec emitResult(int t) {
        Vec lanes = sums(t, 0);
        if (parts() == 2) {
            a.vaddps(lanes, lanes, sums(t, 1));
        }
        a.sumLanes(lanes, T1);
        return lanes;
    }

    /// RBX points to dx of the tiles.
    @Override
    void emitTileBegin(String tile) {
        a.imul(RBX, RCX, perGroup);
        a.add(RBX, RAX);
        a.label(tile);
        Tiles.take(a, R15, RCX);
        a.zero(T1);
        for (int part = 0; part < parts(); part++) {
            store(tileScales(part), T1);
            for (int t = 0; t < tokens; t++) {
                store(tileSums(t, part), T1);
            }
        }
    }

    @Override
    void emitTileEnd(String tile) {
        for (int part = 0; part < parts(); part++) {
            a.vmovdqu(T2, tileScales(part));
            for (int t = 0; t < tokens; t++) {
                a.vmovdqu(T1, a.constant(-PackedActivations.BIAS));
                a.vfmadd213ps(T1, T2, tileSums(t, part));
                a.vfmadd231ps(sums(t, part), T1, token(RBX, t, 32 * part));
            }
        }
        a.add(RBX, perGroup);
        a.cmp(RCX, 0);
        a.j(If.GREATER, tile);
    }

    @Override
    void emitSpans() {
        Prefetch.here().emit(a, R10, format.spanBytes);
        format.scales256(a, R10, SCALES, MINS);
        for (int pair = 0; pair < BlockCode.SPAN / BlockCode.UNIT / 2; pair++) {
            emitLevels(2 * pair, LEVELS);
            emitLevels(2 * pair + 1, NEXT_LEVELS);
            for (int t = 0; t < tokens; t++) {
                emitDot(DOT, LEVELS, t, 2 * pair);
                emitDot(NEXT_DOT, NEXT_LEVELS, t, 2 * pair + 1);
                a.vpunpckhdq(T1, DOT, NEXT_DOT);
                a.vpunpckldq(DOT, DOT, NEXT_DOT);
                a.vpaddd(DOT, DOT, T1);
                a.vmovdqu(pair(t, pair), DOT);
            }
        }
        for (int t = 0; t < tokens; t++) {
            emitPairs(DOT, t, 0);
            emitPairs(NEXT_DOT, t, 2);
            if (parts() == 1) {
                // [part of a unit][unit] to units
                a.vperm2i128(T1, DOT, NEXT_DOT, 0x31);
                a.vperm2i128(DOT, DOT, NEXT_DOT, 0x20);
                a.vpaddd(DOT, DOT, T1);
                emitGroups(DOT, t, 0);
            } else {
                a.vmovdqu(T2, a.constant(i -> i / 2 + i % 2 * 4));
                a.vpermd(DOT, T2, DOT);
                a.vpermd(NEXT_DOT, T2, NEXT_DOT);
                emitGroups(DOT, t, 0);
                emitGroups(NEXT_DOT, t, 1);
            }
        }
        for (int part = 0; format.tiled && part < parts(); part++) {
            Vec scales = tileScales(part) instanceof Vec v ? v : T1;
            a.vmovdqu(T2, SCALES.plus(32 * part));
            a.vaddps(scales, T2, tileScales(part));
            if (scales == T1) {
                store(tileScales(part), T1);
            }
        }
    }

    /// Adds up the lanes of each 128 bits of four units: [part of a unit][unit].
    private void emitPairs(Vec dot, int t, int first) {
        a.vmovdqu(dot, pair(t, first));
        a.vpunpckhqdq(T1, dot, pair(t, first + 1));
        a.vpunpcklqdq(dot, dot, pair(t, first + 1));
        a.vpaddd(dot, dot, T1);
    }

    /// From the dot products of eight groups to their sums.
    private void emitGroups(Vec z, int t, int part) {
        int at = 32 * part;
        if (format.tiled) {
            a.vpaddd(z, z, token(RAX, t, at));
            if (tileSums(t, part) instanceof Vec sum) {
                a.vfmadd231ps(sum, z, SCALES.plus(at));
                return;
            }
            a.vmovdqu(T1, tileSums(t, part));
            a.vfmadd231ps(T1, z, SCALES.plus(at));
            store(tileSums(t, part), T1);
            return;
        }
        if (format.words) {
            a.vcvtdq2ps(z, z);
            a.vmulps(z, z, token(RAX, t, at));
        } else {
            a.vpaddd(z, z, format.mins ? a.constant(PackedActivations.BIAS) : token(RAX, t, perGroup + at));
            a.vmovdqu(T1, token(RAX, t, at));
            a.vfmadd213ps(z, T1, token(RAX, t, 2 * perGroup + at));
        }
        a.vfmadd231ps(sums(t, part), z, SCALES.plus(at));
        if (format.mins) {
            a.vmovdqu(T1, MINS.plus(at));
            a.vfmadd231ps(sums(t, part), T1, token(RAX, t, perGroup + at));
        }
    }

    /// Loads 32 levels, or as words to two registers.
    private void emitLevels(int unit, Vec levels) {
        if (format.words) {
            format.levels256(a, R10, 2 * unit, levels, T1);
            format.levels256(a, R10, 2 * unit + 1, upper(levels), T1);
        } else {
            format.levels256(a, R10, unit, levels, T1);
        }
    }

    /// Multiplies them with 32 activations of a token: integers, each the sum of four products.
    private void emitDot(Vec dot, Vec levels, int t, int unit) {
        Mem q = token(R11, t, 32 * unit * format.levelBytes());
        if (format.words && vnni) {
            a.zero(dot);
            a.vpdpwssd(dot, levels, q);
            a.vpdpwssd(dot, upper(levels), q.plus(32));
        } else if (format.words) {
            a.vpmaddwd(dot, levels, q);
            a.vpmaddwd(T2, upper(levels), q.plus(32));
            a.vpaddd(dot, dot, T2);
        } else if (vnni) {
            a.zero(dot);
            a.vpdpbusd(dot, levels, q);
        } else if (format.most > Byte.MAX_VALUE) {
            a.vpand(T1, levels, a.dwords(0x00FF00FF));
            a.vpand(T2, levels, a.dwords(0xFF00FF00));
            a.vpmaddubsw(T1, T1, q);
            a.vpmaddubsw(T2, T2, q);
            a.vpmaddwd(T1, T1, ONES);
            a.vpmaddwd(T2, T2, ONES);
            a.vpaddd(dot, T1, T2);
        } else {
            a.vpmaddubsw(dot, levels, q);
            a.vpmaddwd(dot, dot, ONES);
        }
    }

    /// The lanes are in the memory of pairs meanwhile.
    @Override
    void emitTail(String sum) {
        String unit = a.fresh("unit");
        a.mov(RCX, R15);
        a.and(RCX, 7);
        a.j(If.ZERO, sum);
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(pair(t, 0), sums(t, 0));
        }
        a.lea(RBX, pair(0, 0));
        a.label(unit);
        format.unitScale(a, R10, T3);
        if (format.mins) {
            format.unitMin(a, R10, NEXT_DOT);
        }
        for (int u = 0; u < format.blockUnits; u++) {
            emitLevels(u, LEVELS);
            for (int t = 0; t < tokens; t++) {
                emitDot(DOT, LEVELS, t, 0);
                emitUnitGroup(DOT.x(), t);
            }
            a.add(R11, BlockCode.UNIT * format.levelBytes());
            a.add(RAX, Float.BYTES);
            a.add(RBX, Float.BYTES);
        }
        a.add(R10, format.blockBytes);
        a.sub(RCX, format.blockUnits);
        a.j(If.NOT_ZERO, unit);
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(sums(t, 0), pair(t, 0));
        }
    }

    /// Adds the group of a unit to its lane.
    private void emitUnitGroup(Vec dot, int t) {
        a.foldLanes(dot.y(), T1, a::vpaddd);
        a.vmovss(T1, token(RAX, t, 0));
        if (format.words) {
            a.vcvtdq2ps(dot, dot);
            a.vmulps(dot, dot, T1.x());
        } else {
            if (format.mins) {
                a.vpaddd(dot, dot, a.constant(PackedActivations.BIAS));
            } else {
                a.vmovss(T2, token(RAX, t, perGroup));
                a.vpaddd(dot, dot, T2.x());
            }
            a.vmovss(T2, token(RAX, t, 2 * perGroup));
            a.vfmadd213ps(dot, T1.x(), T2.x());
        }
        a.vmovss(T1, mem(RBX, TOKEN_PAIRS * t));
        a.vfmadd231ps(T1.x(), dot, T3.x());
        if (format.mins) {
            a.vmovss(T2, token(RAX, t, perGroup));
            a.vfmadd231ps(T1.x(), T2.x(), NEXT_DOT.x());
        }
        a.vmovss(mem(RBX, TOKEN_PAIRS * t), T1);
    }
}
