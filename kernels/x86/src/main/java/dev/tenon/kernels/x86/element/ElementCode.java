package dev.tenon.kernels.x86.element;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSP;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.graph.Activation;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// The functions of [MachineElements], with AVX2 or AVX-512: whole vectors first, what is left of a
/// row one element after the other.
///
/// Gates and sums take: first operand, second operand, results, rows, elements in a row, bytes from
/// one row to the next of the operands; on the stack byte offsets of the first row in the three,
/// bytes from one row of results to the next. At least one row and one element. The norm: see
/// [#emitNorm].
final class ElementCode {
    /// Elements that a turn of the norm's first loop takes: the strands.
    private static final int STRANDS = 32;

    private static final float GELU_LINEAR = (float) (-2 * Math.sqrt(2 / Math.PI));
    private static final float GELU_CUBE = (float) (-2 * Math.sqrt(2 / Math.PI) * 0.044715);

    /// Below the stack pointer: 128 bytes that belong to a function that calls no other.
    private static final int RED_ZONE = -128;

    private final Assembler a;
    private final int bits;

    ElementCode(Assembler a) {
        this.a = a;
        this.bits = a.evex ? 512 : 256;
    }

    private interface Body {
        /// Emits the work on some elements.
        ///
        /// @param width bits of vectors; 32 for a single element
        void emit(int width, Mem first, Mem second, Mem out);
    }

    /// Emits `first + second`.
    void emitAdd() {
        rows((width, first, second, out) -> {
            Vec v = vec(0, width);
            Vec w = vec(1, width);
            load(width, v, first);
            load(width, w, second);
            a.vaddps(v, v, w);
            store(width, out, v);
        });
    }

    /// Emits `f(first) * second`.
    ///
    /// @param activation the function `f`: [Activation#SILU] or [Activation#GELU_TANH]
    void emitGate(Activation activation) {
        rows((width, first, second, out) -> {
            Vec x = vec(0, width);
            Vec y = vec(1, width);
            Vec p = vec(2, width);
            load(width, x, first);
            if (activation == Activation.SILU) {
                a.vpxor(y, x, number(-0f));
            } else {
                a.vmulps(p, x, x);
                a.vmovdqu(y, number(GELU_CUBE));
                a.vfmadd213ps(y, p, number(GELU_LINEAR));
                a.vmulps(y, x, y);
            }
            exp(p, y, vec(3, width), vec(4, width));
            a.vaddps(p, p, number(1));
            a.vdivps(x, x, p);
            load(width, y, second);
            a.vmulps(x, x, y);
            store(width, out, x);
        });
    }

    /// Computes e to the power of each lane, as the backend does.
    ///
    /// @param p receives the powers
    /// @param x exponents, clobbered
    /// @param s clobbered
    /// @param n clobbered; with AVX2 registers 5 and 6, too
    private void exp(Vec p, Vec x, Vec s, Vec n) {
        Vec low = new Vec(5, x.bits());
        Vec high = new Vec(6, x.bits());
        if (a.evex) {
            a.vcmpnltps(1, x, number(-86.5f));
            a.vmovdqu(n, number(88.7f));
            a.vcmpltps(2, n, x);
        } else {
            a.vcmpltps(low, x, number(-86.5f));
            a.vmovdqu(n, number(88.7f));
            a.vcmpltps(high, n, x);
        }
        a.vmovdqu(s, number(12582912f));
        a.vfmadd231ps(s, x, number(1.44269504f));
        a.vsubps(n, s, number(12582912f));
        a.vfmadd231ps(x, n, number(-0.693359375f));
        a.vfmadd231ps(x, n, number(2.12194440e-4f));
        a.vmovdqu(p, number(1 / 720f));
        for (float c : new float[] {1 / 120f, 1 / 24f, 1 / 6f, 0.5f, 1, 1}) {
            a.vfmadd213ps(p, x, number(c));
        }
        a.vpslld(s, s, 23);
        if (a.evex) {
            a.vpaddd(p, 1, p, s);
            a.vblendmps(p, 2, p, number(Float.POSITIVE_INFINITY));
        } else {
            a.vpaddd(p, p, s);
            a.vblendvps(p, p, number(0), low);
            a.vblendvps(p, p, number(Float.POSITIVE_INFINITY), high);
        }
    }

    /// Emits `x * factor * weight` with the factor that makes the root of the mean square 1.
    ///
    /// Arguments: x, weight, results, rows, elements in a row, byte offset of the first row in x;
    /// on the stack that in the results, the number of elements and eps as float64.
    void emitNorm() {
        String row = a.fresh("normRow");
        int squares = STRANDS * 32 / bits;
        Vec factor = vec(squares, bits);
        a.add(RDI, R9);
        a.add(RDX, Assembler.stackArgument(0, 0));
        a.label(row);
        emitSquares(squares);
        Vec sum = vec(0, 128);
        Vec one = vec(1, 128);
        a.vcvtss2sd(sum, sum, sum);
        a.vdivsd(sum, sum, Assembler.stackArgument(1, 0));
        a.vaddsd(sum, sum, Assembler.stackArgument(2, 0));
        a.vsqrtsd(sum, sum, sum);
        a.vmovdqu(one, a.constant(i -> i % 2 == 0 ? 0 : 0x3FF00000));
        a.vdivsd(one, one, sum);
        a.vcvtsd2ss(one, one, one);
        a.vbroadcastss(factor, one);
        elements((width, x, weight, out) -> {
            Vec v = vec(0, width);
            Vec w = vec(1, width);
            load(width, v, x);
            a.vmulps(v, v, new Vec(factor.number(), v.bits()));
            load(width, w, weight);
            a.vmulps(v, v, w);
            store(width, out, v);
        });
        a.lea(RDI, mem(RDI, R8, Float.BYTES, 0));
        a.lea(RDX, mem(RDX, R8, Float.BYTES, 0));
        a.loop(RCX, row);
        a.end();
    }

    /// Adds up the squares of R8 elements at RDI in lane 0 of register 0.
    private void emitSquares(int squares) {
        String whole = a.fresh("squares");
        String rest = a.fresh("squaresRest");
        String single = a.fresh("squaresSingle");
        String sum = a.fresh("squaresSum");
        Vec t = vec(squares, bits);
        for (int v = 0; v < squares; v++) {
            a.zero(vec(v, bits));
        }
        a.mov(R10, 0);
        a.mov(RAX, R8);
        a.sub(RAX, STRANDS);
        a.j(If.LESS, rest);
        a.label(whole);
        for (int v = 0; v < squares; v++) {
            a.vmovdqu(t, mem(RDI, R10, 1, v * bits / 8));
            a.vfmadd231ps(vec(v, bits), t, t);
        }
        a.add(R10, STRANDS * Float.BYTES);
        a.sub(RAX, STRANDS);
        a.j(If.GREATER_OR_EQUAL, whole);
        a.label(rest);
        a.add(RAX, STRANDS);
        a.j(If.ZERO, sum);
        // Zeros after the last element change no strand.
        a.zero(t);
        for (int v = 0; v < squares; v++) {
            a.vmovdqu(mem(RSP, RED_ZONE + v * bits / 8), t);
        }
        a.mov(R11, 0);
        a.label(single);
        a.mov32(R9, mem(RDI, R10, 1, 0));
        a.mov32(mem(RSP, R11, 1, RED_ZONE), R9);
        a.add(R10, Float.BYTES);
        a.add(R11, Float.BYTES);
        a.loop(RAX, single);
        for (int v = 0; v < squares; v++) {
            a.vmovdqu(t, mem(RSP, RED_ZONE + v * bits / 8));
            a.vfmadd231ps(vec(v, bits), t, t);
        }
        a.label(sum);
        for (int count = squares / 2; count > 0; count /= 2) {
            for (int v = 0; v < count; v++) {
                a.vaddps(vec(v, bits), vec(v, bits), vec(v + count, bits));
            }
        }
        a.sumLanes(vec(0, bits), t);
    }

    private void rows(Body body) {
        String row = a.fresh("elementsRow");
        a.add(RDI, Assembler.stackArgument(0, 0));
        a.add(RSI, Assembler.stackArgument(1, 0));
        a.add(RDX, Assembler.stackArgument(2, 0));
        a.label(row);
        elements(body);
        a.add(RDI, R9);
        a.add(RSI, R9);
        a.add(RDX, Assembler.stackArgument(3, 0));
        a.loop(RCX, row);
        a.end();
    }

    /// Goes over R8 elements at RDI, RSI and RDX.
    private void elements(Body body) {
        String whole = a.fresh("elements");
        String rest = a.fresh("elementsRest");
        String single = a.fresh("elementsSingle");
        String end = a.fresh("elementsEnd");
        int lanes = bits / 32;
        a.mov(R10, 0);
        a.mov(RAX, R8);
        a.sub(RAX, lanes);
        a.j(If.LESS, rest);
        a.label(whole);
        body.emit(bits, mem(RDI, R10, 1, 0), mem(RSI, R10, 1, 0), mem(RDX, R10, 1, 0));
        a.add(R10, bits / 8);
        a.sub(RAX, lanes);
        a.j(If.GREATER_OR_EQUAL, whole);
        a.label(rest);
        a.add(RAX, lanes);
        a.j(If.ZERO, end);
        a.label(single);
        body.emit(Float.SIZE, mem(RDI, R10, 1, 0), mem(RSI, R10, 1, 0), mem(RDX, R10, 1, 0));
        a.add(R10, Float.BYTES);
        a.loop(RAX, single);
        a.label(end);
    }

    /// {@return a register; a single element is lane 0 of 128 bits}
    private static Vec vec(int number, int width) {
        return new Vec(number, Math.max(width, 128));
    }

    private void load(int width, Vec v, Mem from) {
        if (width == Float.SIZE) {
            a.vmovss(v, from);
        } else {
            a.vmovdqu(v, from);
        }
    }

    private void store(int width, Mem to, Vec v) {
        if (width == Float.SIZE) {
            a.vmovss(to, v);
        } else {
            a.vmovdqu(to, v);
        }
    }

    private Mem number(float value) {
        return a.constant(value);
    }
}
