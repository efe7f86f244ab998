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
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.Tiles;
import dev.tenon.kernels.x86.cpu.Prefetch;

/// Rows times one to four tokens with AVX-512 VNNI: one row at a time, streaming, or for one token
/// four rows that lie far apart, so that hardware prefetchers follow four streams.
///
/// Sums of four levels are those of `vpdpbusd`, those of two words of `vpdpwssd`.
///
/// With streams the arguments mean something else: rows are those of one stream, and bytes between
/// packed rows is what lies between the streams; bytes between tokens in out is too.
public final class RowLoop512 extends BlockRowLoop {
    /// Streams of rows of the function for one token. More of them than one hide more of memory's latency.
    public static final int STREAMS = 4;

    private static final Vec LEVELS = zmm(16);
    private static final Vec T1 = zmm(17);
    private static final Vec T2 = zmm(18);
    private static final Vec SCALES = zmm(19);
    private static final Vec MINS = zmm(20);
    /// Bytes of a token's lanes while they are on the stack.
    private static final int LANE_BYTES = 64;

    private final int streams;

    private RowLoop512(Assembler a, BlockCode format, int tokens, int streams) {
        super(
                a,
                format,
                tokens,
                format.tiled ? new Gpr[] {RBX, RBP, R12, R13, R14, R15} : new Gpr[] {RBX, R12, R13, R14, R15});
        this.streams = streams;
    }

    /// Emits the function for a number of tokens.
    public static void emit(Assembler a, BlockCode format, int tokens) {
        new RowLoop512(a, format, tokens, 1).emit();
    }

    /// Emits the function for one token and [#STREAMS] streams of rows of whole spans.
    public static void emitStreams(Assembler a, BlockCode format) {
        new RowLoop512(a, format, 1, STREAMS).emit();
    }

    /// {@return the sums of a token or a stream, one lane a group of the span}
    private Vec sums(int t) {
        return format.group == 32 ? zmm(t).y() : zmm(t);
    }

    /// {@return a register for dot products of a token, 0..2, or 3 too for words, which need no
    /// constants}
    private static Vec dots(int t, int part) {
        return part < 3 ? zmm(4 + 3 * t + part) : zmm(BlockCode.FIRST_CONSTANT + t);
    }

    @Override
    void emitStart() {
        super.emitStart();
        format.constants512(a);
    }

    @Override
    void emitZeros() {
        for (int i = 0; i < results(); i++) {
            a.zero(zmm(i));
        }
    }

    @Override
    int results() {
        return tokens * streams;
    }

    @Override
    Vec emitResult(int i) {
        a.sumLanes(sums(i), T1);
        return zmm(i);
    }

    @Override
    void emitSpans() {
        emitSpan(R10, 0);
        for (int s = 1; s < streams; s++) {
            a.lea(RBX, stream(s));
            emitSpan(RBX, s);
        }
    }

    /// RBP points to dx of the tiles.
    @Override
    void emitTileBegin(String tile) {
        a.imul(RBP, RCX, perGroup);
        a.add(RBP, RAX);
        a.label(tile);
        Tiles.take(a, R15, RCX);
        for (int i = 0; i < results(); i++) {
            a.zero(tileSums(i));
        }
        for (int s = 0; s < streams; s++) {
            a.zero(tileScales(s));
        }
    }

    @Override
    void emitTileEnd(String tile) {
        for (int i = 0; i < results(); i++) {
            a.vmovdqu(T1, a.constant(-PackedActivations.BIAS));
            a.vfmadd213ps(T1, tileScales(streams == 1 ? 0 : i), tileSums(i));
            a.vfmadd231ps(zmm(i), T1, token(RBP, streams == 1 ? i : 0, 0));
        }
        a.add(RBP, perGroup);
        a.cmp(RCX, 0);
        a.j(If.GREATER, tile);
    }

    /// {@return the sums of a token, or a stream, over a tile}
    private static Vec tileSums(int i) {
        return zmm(24 + i);
    }

    /// {@return the sums of a stream's scales over a tile}
    private static Vec tileScales(int stream) {
        return zmm(28 + stream);
    }

    /// {@return where the weights of a stream after the first are}
    private static Mem stream(int s) {
        return s == 3 ? mem(R10, R14, 1, 0) : mem(R10, R12, s, 0);
    }

    /// Multiplies a span with all tokens.
    ///
    /// @param w points to the span
    /// @param stream which one; 0 with several tokens
    private void emitSpan(Gpr w, int stream) {
        Prefetch here = Prefetch.here();
        (streams == 1 ? here : here.stream(stream)).emit(a, w, format.spanBytes);
        emitChunks(w, 0);
        if (format.words) {
            emitChunks(w, 1);
        }
        format.scales512(a, w, SCALES, MINS, T1, T2);
        if (format.group == 32 && format.mins) {
            a.vextracti64x4(MINS.y(), SCALES, 1);
        }
        a.vmovdqu(LEVELS, a.constant(this::groupLane));
        for (int t = 0; t < tokens; t++) {
            emitGroups(t, format.tiled ? tileSums(t + stream) : sums(t + stream));
        }
        if (format.tiled) {
            a.vaddps(tileScales(stream), tileScales(stream), SCALES);
        }
    }

    /// Multiplies four chunks of a span and adds the lanes of each 128 bits, so that `dots(t, to)`
    /// has [part of a chunk][chunk].
    private void emitChunks(Gpr w, int to) {
        for (int c = 0; c < 4; c++) {
            int chunk = 4 * to + c;
            format.levels512(a, w, chunk, LEVELS, T1);
            for (int t = 0; t < tokens; t++) {
                Vec dot = dots(t, to + 1 + (c & 1));
                a.zero(dot);
                if (format.words) {
                    a.vpdpwssd(dot, LEVELS, token(R11, t, 64 * chunk));
                } else {
                    a.vpdpbusd(dot, LEVELS, token(R11, t, 64 * chunk));
                }
            }
            for (int t = 0; t < tokens && (c & 1) == 1; t++) {
                Vec pair = dots(t, to + c / 2);
                a.vpunpckhdq(T2, dots(t, to + 1), dots(t, to + 2));
                a.vpunpckldq(pair, dots(t, to + 1), dots(t, to + 2));
                a.vpaddd(pair, pair, T2);
            }
        }
        for (int t = 0; t < tokens; t++) {
            Vec dot = dots(t, to);
            a.vpunpckhqdq(T2, dot, dots(t, to + 1));
            a.vpunpcklqdq(dot, dot, dots(t, to + 1));
            a.vpaddd(dot, dot, T2);
        }
    }

    /// {@return the lane that has the sum of group g}
    private int groupLane(int g) {
        if (format.words) {
            return g % 4 + g % 8 / 4 * 8;
        }
        return format.group == 32 ? 8 * (g % 2) + g % 8 / 2 : 4 * (g % 4) + g / 4;
    }

    /// From lanes of [part of a chunk][chunk of the span] to groups in their order, and to the
    /// sums.
    private void emitGroups(int t, Vec sums) {
        Vec dot = dots(t, 0);
        if (format.words) {
            a.vshufi64x2(T2, dot, dots(t, 1), 0x44);
            a.vshufi64x2(dot, dot, dots(t, 1), 0xEE);
            a.vpaddd(dot, dot, T2);
        }
        if (format.group == 32) {
            a.vshufi64x2(T2, dot, dot, 0xB1);
            a.vpaddd(dot, dot, T2);
        }
        a.vpermd(dot, LEVELS, dot);
        Vec z = narrow(dot);
        if (format.words) {
            a.vcvtdq2ps(z, z);
            a.vmulps(z, z, token(RAX, t, 0));
            a.vfmadd231ps(sums, z, narrow(SCALES));
            return;
        }
        if (format.tiled) {
            a.vpaddd(z, z, token(RAX, t, 0));
            a.vfmadd231ps(sums, z, SCALES);
            return;
        }
        Vec dx = narrow(T2);
        a.vmovdqu(dx, token(RAX, t, 0));
        if (format.mins) {
            a.vpaddd(z, z, a.constant(PackedActivations.BIAS));
        } else {
            a.vpaddd(z, z, token(RAX, t, perGroup));
        }
        a.vfmadd213ps(z, dx, token(RAX, t, 2 * perGroup));
        a.vfmadd231ps(sums, z, narrow(SCALES));
        if (format.mins) {
            a.vfmadd231ps(sums, narrow(MINS), token(RAX, t, perGroup));
        }
    }

    private Vec narrow(Vec v) {
        return format.group == 32 ? v.y() : v;
    }

    /// The lanes are in memory meanwhile.
    @Override
    void emitTail(String sum) {
        if (streams > 1) {
            return;
        }
        String unit = a.fresh("unit");
        a.mov(RCX, R15);
        a.and(RCX, 7);
        a.j(If.ZERO, sum);
        a.sub(RSP, LANE_BYTES * tokens);
        a.mov(RBX, RSP);
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(mem(RBX, LANE_BYTES * t), sums(t));
        }
        a.label(unit);
        for (int u = 0; u < format.blockUnits; u++) {
            emitUnit(u);
            a.add(R11, BlockCode.UNIT * format.levelBytes());
            a.add(RAX, Float.BYTES);
            a.add(RBX, Float.BYTES);
        }
        a.add(R10, format.blockBytes);
        a.sub(RCX, format.blockUnits);
        a.j(If.NOT_ZERO, unit);
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(sums(t), mem(RSP, LANE_BYTES * t));
        }
        a.add(RSP, LANE_BYTES * tokens);
    }

    /// Multiplies 32 weights of a block with all tokens.
    private void emitUnit(int unit) {
        format.unit512(a, R10, unit, LEVELS, T1);
        format.unitScale(a, R10, SCALES);
        if (format.mins) {
            format.unitMin(a, R10, MINS);
        }
        for (int t = 0; t < tokens; t++) {
            Vec dot = dots(t, 0);
            Vec upper = dots(t, 1);
            a.zero(dot);
            if (format.words) {
                a.vpdpwssd(dot, LEVELS, token(R11, t, 0));
                a.vextracti64x4(upper.y(), dot, 1);
                a.vpaddd(dot.y(), dot.y(), upper.y());
            } else {
                a.vmovdqu(T1.y(), token(R11, t, 0));
                a.vpdpbusd(dot.y(), LEVELS.y(), T1.y());
            }
            a.vextracti128(upper.x(), dot.y(), 1);
            a.vpaddd(dot.x(), dot.x(), upper.x());
            emitUnitGroup(dot, t);
        }
    }

    /// Adds the group of a unit to its lane: `dot` has parts of the dot product in four lanes.
    private void emitUnitGroup(Vec dot, int t) {
        a.vpshufd(T1.x(), dot.x(), 0x4E);
        a.vpaddd(dot.x(), dot.x(), T1.x());
        a.vpshufd(T1.x(), dot.x(), 0xB1);
        a.vpaddd(dot.x(), dot.x(), T1.x());
        if (format.words) {
            a.vcvtdq2ps(dot.x(), dot.x());
            a.vmovss(T1, token(RAX, t, 0));
            a.vmulps(dot.x(), dot.x(), T1.x());
        } else {
            if (format.mins) {
                a.vpaddd(dot.x(), dot.x(), a.constant(PackedActivations.BIAS));
            } else {
                a.vmovss(T1, token(RAX, t, perGroup));
                a.vpaddd(dot.x(), dot.x(), T1.x());
            }
            a.vmovss(T1, token(RAX, t, 0));
            a.vmovss(T2, token(RAX, t, 2 * perGroup));
            a.vfmadd213ps(dot.x(), T1.x(), T2.x());
        }
        a.vmovss(T1, mem(RBX, LANE_BYTES * t));
        a.vfmadd231ps(T1.x(), dot.x(), SCALES.x());
        if (format.mins) {
            a.vmovss(T2, token(RAX, t, perGroup));
            a.vfmadd231ps(T1.x(), T2.x(), MINS.x());
        }
        a.vmovss(mem(RBX, LANE_BYTES * t), T1);
    }
}
