package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.Operand.Gpr.RSP;
import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.ymm;

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;

/// Rows times one to four tokens with AVX2: as [RowsCode512], 32 weights at a time.
///
/// A byte product is `vpmaddubsw` and `vpmaddwd`, or `vpdpbusd` with AVX-VNNI. Levels of up to 127 keep
/// `vpmaddubsw` (two products in 16 bits) from saturating. Words are multiplied by `vpmaddwd`.
///
/// With sixteen registers the scales and their products with dx live on the stack.
///
/// Arguments: as in [RowsCode512].
final class RowsCode256 {
    private static final int SAVED = 6;
    private static final Vec LEVELS = ymm(8);
    private static final Vec T1 = ymm(9);
    private static final Vec T2 = ymm(10);
    private static final Vec DOT = ymm(11);
    private static final Vec FACTOR = ymm(12);
    private static final Vec ONES = ymm(13);
    private static final Vec UPPER = ymm(14);
    private static final Mem SCALES = mem(RSP);
    private static final Mem MINS = mem(RSP, 64);
    private static final int PRODUCTS = 128;

    private final Assembler a;
    private final BlockCode format;
    private final int tokens;
    private final boolean vnni;
    private final int perGroup;

    private RowsCode256(Assembler a, BlockCode format, int tokens, boolean vnni) {
        this.a = a;
        this.format = format;
        this.tokens = tokens;
        this.vnni = vnni;
        this.perGroup = BlockCode.SPAN / format.group * Float.BYTES;
    }

    /// Emits the function for a number of tokens.
    ///
    /// @param vnni whether `vpdpbusd` may be used
    static void emit(Assembler a, BlockCode format, int tokens, boolean vnni) {
        new RowsCode256(a, format, tokens, vnni).emit();
    }

    private static Vec lanes(int t) {
        return ymm(t);
    }

    private static Vec offset(int t) {
        return ymm(4 + t);
    }

    private static Mem product(int t, int disp) {
        return mem(RSP, PRODUCTS + 64 * t + disp);
    }

    private Mem token(Gpr base, int t, int disp) {
        return switch (t) {
            case 0 -> mem(base, disp);
            case 1 -> mem(base, R12, 1, disp);
            case 2 -> mem(base, R12, 2, disp);
            default -> mem(base, R14, 1, disp);
        };
    }

    // As in RowsCode512; RBP keeps the caller's stack pointer.
    private void emit() {
        String row = a.fresh("row");
        String end = a.fresh("rowsEnd");
        Gpr[] saved = {RBX, RBP, R12, R13, R14, R15};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.mov(RBP, RSP);
        a.add(RDI, RCX);
        a.add(RSI, argument(4));
        a.mov(R12, argument(0));
        a.lea(R14, mem(R12, R12, 2, 0));
        a.mov(R13, argument(1));
        a.mov(R15, argument(3));
        a.sub(RSP, PRODUCTS + 64 * tokens);
        a.and(RSP, -64);
        if (!vnni && !format.words) {
            a.vmovdqu(ONES, a.constant(i -> 0x00010001));
        }
        a.label(row);
        a.cmp(R9, 0);
        a.j(If.LESS_OR_EQUAL, end);
        emitRow();
        a.add(RDX, Float.BYTES);
        a.add(RDI, R8);
        a.sub(R9, 1);
        a.jmp(row);
        a.label(end);
        a.vzeroupper();
        a.mov(RSP, RBP);
        for (int i = saved.length - 1; i >= 0; i--) {
            a.pop(saved[i]);
        }
        a.ret();
    }

    private static Mem argument(int n) {
        return mem(RBP, 8 + 8 * SAVED + 8 * n);
    }

    private void emitRow() {
        String span = a.fresh("span");
        String tail = a.fresh("tail");
        String sum = a.fresh("sum");
        a.mov(R10, RDI);
        a.mov(R11, RSI);
        a.lea(RAX, mem(RSI, R13, 1, 0));
        for (int t = 0; t < tokens; t++) {
            a.zero(lanes(t));
            a.zero(offset(t));
        }
        a.mov(RCX, R15);
        a.shr(RCX, 3);
        a.j(If.ZERO, tail);
        a.align(32);
        a.label(span);
        emitSpan();
        a.add(R10, format.spanBytes);
        a.add(R11, BlockCode.SPAN * format.levelBytes());
        a.add(RAX, PackCode.scaleBytes(format));
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, span);
        a.label(tail);
        for (int t = 0; t < tokens; t++) {
            a.vaddps(lanes(t), lanes(t), offset(t));
        }
        if (format.unitBytes > 0) {
            emitTail(sum);
        }
        a.label(sum);
        a.mov(RBX, RDX);
        for (int t = 0; t < tokens; t++) {
            a.sumLanes(lanes(t), T1);
            a.vmovss(mem(RBX), lanes(t));
            if (t + 1 < tokens) {
                a.add(RBX, argument(2));
            }
        }
    }

    private void emitSpan() {
        RowsCode512.prefetch(a, R10, format.spanBytes);
        format.scales256(a, R10, SCALES, MINS);
        for (int half = 0; half < 32 / format.group; half++) {
            a.vmovdqu(T1, SCALES.plus(32 * half));
            if (format.mins) {
                a.vmovdqu(T2, MINS.plus(32 * half));
            }
            for (int t = 0; t < tokens; t++) {
                a.vmulps(FACTOR, T1, token(RAX, t, 32 * half));
                a.vmovdqu(product(t, 32 * half), FACTOR);
                if (!format.words) {
                    a.vfmadd231ps(offset(t), format.mins ? T2 : T1, token(RAX, t, perGroup + 32 * half));
                }
            }
        }
        for (int u = 0; u < BlockCode.SPAN / BlockCode.UNIT; u++) {
            emitLevels(u);
            for (int t = 0; t < tokens; t++) {
                emitDot(t, u);
                if (format.group == 32) {
                    a.vbroadcastss(FACTOR, product(t, Float.BYTES * u));
                } else {
                    int unit = u;
                    a.vmovdqu(FACTOR, a.constant(i -> 2 * (unit & 3) + i / 4));
                    a.vpermps(FACTOR, FACTOR, product(t, 32 * (u >> 2)));
                }
                a.vfmadd231ps(lanes(t), DOT, FACTOR);
            }
        }
    }

    /// Loads 32 levels to [#LEVELS], or as words to it and [#UPPER].
    private void emitLevels(int unit) {
        if (format.words) {
            format.levels256(a, R10, 2 * unit, LEVELS, T1);
            format.levels256(a, R10, 2 * unit + 1, UPPER, T1);
        } else {
            format.levels256(a, R10, unit, LEVELS, T1);
        }
    }

    /// Multiplies them with 32 activations of a token; floats to [#DOT].
    private void emitDot(int t, int unit) {
        Mem q = token(R11, t, 32 * unit * format.levelBytes());
        if (format.words) {
            a.vpmaddwd(DOT, LEVELS, q);
            a.vpmaddwd(T2, UPPER, q.plus(32));
            a.vpaddd(DOT, DOT, T2);
        } else if (vnni) {
            a.zero(DOT);
            a.vpdpbusd(DOT, LEVELS, q);
        } else {
            a.vpmaddubsw(DOT, LEVELS, q);
            a.vpmaddwd(DOT, DOT, ONES);
        }
        a.vcvtdq2ps(DOT, DOT);
    }

    /// The units after the last whole span; the offset goes to lane 0.
    private void emitTail(String sum) {
        String unit = a.fresh("unit");
        a.mov(RCX, R15);
        a.and(RCX, 7);
        a.j(If.ZERO, sum);
        a.label(unit);
        for (int t = 0; t < tokens; t++) {
            format.unitScale(a, R10, T1);
            if (!format.words) {
                a.vmovss(FACTOR, token(RAX, t, perGroup));
                a.vmulss(FACTOR, FACTOR, T1);
                a.vaddps(lanes(t), lanes(t), FACTOR);
            }
            a.vbroadcastss(FACTOR, token(RAX, t, 0));
            a.vbroadcastss(T1, T1.x());
            a.vmulps(FACTOR, FACTOR, T1);
            emitLevels(0);
            emitDot(t, 0);
            a.vfmadd231ps(lanes(t), DOT, FACTOR);
        }
        a.add(R10, format.unitBytes);
        a.add(R11, BlockCode.UNIT * format.levelBytes());
        a.add(RAX, Float.BYTES);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, unit);
    }
}
