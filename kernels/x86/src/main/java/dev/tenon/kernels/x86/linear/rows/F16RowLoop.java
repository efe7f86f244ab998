package dev.tenon.kernels.x86.linear.rows;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.cpu.Prefetch;

/// Rows of F16 or BF16 times one to four tokens of 32-bit floats.
///
/// ```
/// F16:  byte 0 | sign 1, exponent 5, fraction 10 |      vcvtph2ps
/// BF16: byte 0 | upper part of a 32-bit float    |      vpmovzxwd, vpslld 16
/// ```
///
/// Two vectors of weights are widened and multiplied with each token, in two sums a token; elements that do
/// not fill two vectors are multiplied one by one.
///
/// Arguments: weights, packed, out, byte offset of the first row, bytes of a row, rows; on the stack bytes
/// between packed rows, unused, bytes between tokens in out, elements in a row, byte offset of the first
/// token's row in packed.
public final class F16RowLoop {
    private static final int SAVED = 4;

    private final Assembler a;
    private final boolean bfloat;
    private final int tokens;
    private final int bits;

    private F16RowLoop(Assembler a, boolean bfloat, int tokens) {
        this.a = a;
        this.bfloat = bfloat;
        this.tokens = tokens;
        this.bits = a.evex ? 512 : 256;
    }

    /// Emits the function for a number of tokens.
    ///
    /// @param bfloat whether weights are BF16 rather than F16
    public static void emit(Assembler a, boolean bfloat, int tokens) {
        new F16RowLoop(a, bfloat, tokens).emit();
    }

    private Vec sum(int t, int part) {
        return new Vec(2 * t + part, bits);
    }

    private Vec weights(int part) {
        return new Vec(8 + part, bits);
    }

    private Mem token(int t, int disp) {
        return switch (t) {
            case 0 -> mem(R11, disp);
            case 1 -> mem(R11, R12, 1, disp);
            case 2 -> mem(R11, R12, 2, disp);
            default -> mem(R11, R14, 1, disp);
        };
    }

    // RDI row, RSI packed, RDX out, R8 bytes of a row, R9 rows left, R12 and R14 one and three packed
    // rows, R13
    // elements; inside a row: R10 weights, R11 activations, RCX left to do, RBX scratch.
    private void emit() {
        String row = a.fresh("row");
        String end = a.fresh("rowsEnd");
        Gpr[] saved = {RBX, R12, R13, R14};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.add(RDI, RCX);
        a.add(RSI, Assembler.stackArgument(4, SAVED));
        a.mov(R12, Assembler.stackArgument(0, SAVED));
        a.lea(R14, mem(R12, R12, 2, 0));
        a.mov(R13, Assembler.stackArgument(3, SAVED));
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
        for (int i = saved.length - 1; i >= 0; i--) {
            a.pop(saved[i]);
        }
        a.ret();
    }

    private void emitRow() {
        String step = a.fresh("step");
        String rest = a.fresh("rest");
        String one = a.fresh("one");
        String finish = a.fresh("finish");
        int lanes = bits / 32;
        a.mov(R10, RDI);
        a.mov(R11, RSI);
        for (int t = 0; t < tokens; t++) {
            a.zero(sum(t, 0));
            a.zero(sum(t, 1));
        }
        a.mov(RCX, R13);
        a.sub(RCX, 2 * lanes);
        a.j(If.LESS, rest);
        a.align(32);
        a.label(step);
        Prefetch.here().emit(a, R10, 2 * lanes * Short.BYTES);
        for (int part = 0; part < 2; part++) {
            Mem from = mem(R10, part * lanes * Short.BYTES);
            if (bfloat) {
                a.vpmovzxwd(weights(part), from);
                a.vpslld(weights(part), weights(part), 16);
            } else {
                a.vcvtph2ps(weights(part), from);
            }
            for (int t = 0; t < tokens; t++) {
                a.vfmadd231ps(sum(t, part), weights(part), token(t, part * lanes * Float.BYTES));
            }
        }
        a.add(R10, 2 * lanes * Short.BYTES);
        a.add(R11, 2 * lanes * Float.BYTES);
        a.sub(RCX, 2 * lanes);
        a.j(If.GREATER_OR_EQUAL, step);
        a.label(rest);
        for (int t = 0; t < tokens; t++) {
            a.vaddps(sum(t, 0), sum(t, 0), sum(t, 1));
            a.sumLanes(sum(t, 0), weights(0));
        }
        a.add(RCX, 2 * lanes);
        a.j(If.ZERO, finish);
        a.label(one);
        Vec w = weights(0);
        a.zero(w);
        a.vpinsrw(w, w, mem(R10), bfloat ? 1 : 0);
        if (!bfloat) {
            a.vcvtph2ps(w.x(), w.x());
        }
        for (int t = 0; t < tokens; t++) {
            a.vfmadd231ss(sum(t, 0), w, token(t, 0));
        }
        a.add(R10, Short.BYTES);
        a.add(R11, Float.BYTES);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, one);
        a.label(finish);
        a.mov(RBX, RDX);
        for (int t = 0; t < tokens; t++) {
            a.vmovss(mem(RBX), sum(t, 0));
            if (t + 1 < tokens) {
                a.add(RBX, Assembler.stackArgument(2, SAVED));
            }
        }
    }
}
