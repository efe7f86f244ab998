package dev.tenon.kernels.x86.linear.panels;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSP;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Panels of F16 or BF16 rows times six float tokens: four rows with AVX-512, two with AVX2.
///
/// ```
///   x: 6 tokens →          vector of weights of a row, widened once    × vector of activations of a token
///   w: 4 rows ↓   24 sums  4 × vcvtph2ps (or a widening and a shift), 6 loads, 24 fused multiply-adds
/// ```
///
/// The order of additions is that of `F16RowLoop`, which has two vectors of sums for a row and a
/// token: here a row is walked for the first of them, whose sums then wait on the stack, and again
/// for the second.
///
/// Arguments: as in `F16RowLoop`; rows a multiple of [#rows], elements of two vectors.
public final class F16PanelLoop {
    /// Tokens of a panel.
    public static final int TOKENS = 6;

    private static final Gpr[] SAVED = {RBX, RBP, R12, R13, R14};

    private final Assembler a;
    private final boolean bfloat;
    private final int bits;
    private final int lanes;
    private final int rows;

    private F16PanelLoop(Assembler a, boolean bfloat) {
        this.a = a;
        this.bfloat = bfloat;
        this.bits = a.evex ? 512 : 256;
        this.lanes = bits / 32;
        this.rows = rows(a.evex);
    }

    /// {@return rows of a panel}
    ///
    /// @param wide whether with AVX-512
    public static int rows(boolean wide) {
        return wide ? 4 : 2;
    }

    /// {@return what the length of a row must be a multiple of}
    ///
    /// @param wide whether with AVX-512
    public static int multiple(boolean wide) {
        return wide ? 32 : 16;
    }

    /// Emits the function.
    ///
    /// @param bfloat whether weights are BF16 rather than F16
    public static void emit(Assembler a, boolean bfloat) {
        new F16PanelLoop(a, bfloat).emit();
    }

    private Vec sum(int row, int t) {
        return new Vec(TOKENS * row + t, bits);
    }

    private Vec weights(int row) {
        return new Vec(TOKENS * rows + row, bits);
    }

    private Vec activations() {
        return new Vec((TOKENS + 1) * rows, bits);
    }

    /// {@return where sums of the first walk are}
    private Mem first(int row, int t) {
        return mem(RSP, (TOKENS * row + t) * bits / 8);
    }

    private Mem row(int row) {
        return switch (row) {
            case 0 -> mem(R10);
            case 1 -> mem(R10, R8, 1, 0);
            case 2 -> mem(R10, R8, 2, 0);
            default -> mem(R10, RBX, 1, 0);
        };
    }

    private static Mem token(int t) {
        return switch (t) {
            case 0 -> mem(R11);
            case 1 -> mem(R11, R12, 1, 0);
            case 2 -> mem(R11, R12, 2, 0);
            case 3 -> mem(R11, R14, 1, 0);
            case 4 -> mem(RAX);
            default -> mem(RAX, R12, 1, 0);
        };
    }

    // RDI row, RSI packed, RDX out, R8 bytes of a row, R9 rows left, RBX three rows, R12 and R14 one and three packed
    // rows, R13 elements; inside a walk: R10 weights, R11 activations, RAX those of token 4, RCX left to do. RBP
    // keeps the caller's stack pointer.
    private void emit() {
        String panel = a.fresh("f16Panel");
        String end = a.fresh("f16PanelEnd");
        a.push(SAVED);
        a.mov(RBP, RSP);
        a.add(RDI, RCX);
        a.add(RSI, argument(4));
        a.mov(R12, argument(0));
        a.lea(R14, mem(R12, R12, 2, 0));
        a.mov(R13, argument(3));
        a.sub(RSP, rows * TOKENS * bits / 8);
        a.and(RSP, -64);
        a.label(panel);
        a.cmp(R9, 0);
        a.j(If.LESS_OR_EQUAL, end);
        a.lea(RBX, mem(R8, R8, 2, 0));
        emitWalk(0);
        forSums((r, t) -> a.vmovdqu(first(r, t), sum(r, t)));
        emitWalk(1);
        forSums((r, t) -> a.vaddps(sum(r, t), sum(r, t), first(r, t)));
        forSums((r, t) -> a.sumLanes(sum(r, t), weights(0)));
        a.mov(RBX, RDX);
        for (int t = 0; t < TOKENS; t++) {
            for (int r = 0; r < rows; r++) {
                a.vmovss(mem(RBX, Float.BYTES * r), sum(r, t));
            }
            a.add(RBX, argument(2));
        }
        a.add(RDX, Float.BYTES * rows);
        for (int r = 0; r < rows; r++) {
            a.add(RDI, R8);
        }
        a.sub(R9, rows);
        a.jmp(panel);
        a.label(end);
        a.vzeroupper();
        a.mov(RSP, RBP);
        a.pop(SAVED);
        a.ret();
    }

    private static Mem argument(int n) {
        return mem(RBP, 8 + 8 * SAVED.length + 8 * n);
    }

    private interface Sum {
        void emit(int row, int t);
    }

    private void forSums(Sum sum) {
        for (int r = 0; r < rows; r++) {
            for (int t = 0; t < TOKENS; t++) {
                sum.emit(r, t);
            }
        }
    }

    /// Multiplies every second vector of the rows with those of the tokens.
    ///
    /// @param part the first of them
    private void emitWalk(int part) {
        String step = a.fresh("f16Step");
        a.lea(R10, mem(RDI, part * lanes * Short.BYTES));
        a.lea(R11, mem(RSI, part * lanes * Float.BYTES));
        a.lea(RAX, mem(R11, R12, 4, 0));
        forSums((r, t) -> a.zero(sum(r, t)));
        a.mov(RCX, R13);
        a.align(32);
        a.label(step);
        for (int r = 0; r < rows; r++) {
            if (bfloat) {
                a.vpmovzxwd(weights(r), row(r));
                a.vpslld(weights(r), weights(r), 16);
            } else {
                a.vcvtph2ps(weights(r), row(r));
            }
        }
        for (int t = 0; t < TOKENS; t++) {
            a.vmovdqu(activations(), token(t));
            for (int r = 0; r < rows; r++) {
                a.vfmadd231ps(sum(r, t), weights(r), activations());
            }
        }
        a.add(R10, 2 * lanes * Short.BYTES);
        a.add(R11, 2 * lanes * Float.BYTES);
        a.add(RAX, 2 * lanes * Float.BYTES);
        a.sub(RCX, 2 * lanes);
        a.j(If.NOT_ZERO, step);
    }
}
