package dev.tenon.kernels.x86.linear.rows;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
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
/// Two vectors of weights are widened and multiplied with each token, in two sums a token; elements
/// that do not fill two vectors are multiplied one by one.
///
/// Arguments: as in [RowLoop]; there are no scales, the length of a row is in elements.
public final class F16RowLoop extends RowLoop {
    private final boolean bfloat;
    private final int bits;

    private F16RowLoop(Assembler a, boolean bfloat, int tokens) {
        super(a, tokens, RBX, R12, R13, R14);
        this.bfloat = bfloat;
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

    @Override
    void emitStart() {
        a.mov(R13, argument(3));
    }

    // R10 weights, R11 activations, R13 elements, RCX those left to do, RBX scratch.
    @Override
    void emitRow() {
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
                a.vfmadd231ps(sum(t, part), weights(part), token(R11, t, part * lanes * Float.BYTES));
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
            a.vfmadd231ss(sum(t, 0), w, token(R11, t, 0));
        }
        a.add(R10, Short.BYTES);
        a.add(R11, Float.BYTES);
        a.loop(RCX, one);
        a.label(finish);
        emitResults(tokens, t -> sum(t, 0));
    }
}
