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
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;

/// A panel of 32 unpacked rows times 4, 8 or 12 tokens, with AVX-512 VNNI.
///
/// A register has 16 rows in its lanes. For each group of weights the dot products of all (row, token)
/// pairs are gathered in up to 24 registers of 32-bit integers: `vpdpbusd` of four weights of 16 rows
/// with four activations of one token, repeated in all lanes. Then, with float sums kept on the stack:
///
/// ```
/// dot  = bits of c[t] + levels · q[t];   sum += (float with these bits * dx[t] + u[t]) * scale
/// dot  = bits of BIAS + levels · q[t];   sum += (...) * scale;  sum += min * c[t]     with minimums
/// dot  = levels · q[t];                  sum += (dot as float * dx[t]) * scale        with words
/// ```
///
/// The product by `dx` is rounded once: [PackCode#BIAS] cancels without a trace.
///
/// Each place that a group has in its span keeps a sum over all spans (on the stack, 24 KiB at most, less
/// than the JVM keeps free for native calls); in the end the places are added like the lanes of
/// [RowsCode512], as a tree. A value therefore does not depend on the other rows and tokens, nor on which
/// of the functions computes it.
///
/// Arguments: packed rows, panel, out, byte offset of the first token's row, bytes between packed rows,
/// byte offset of dx in them; on the stack units of 32 in a row, bytes between tokens in out, how many
/// times 4, 8 or 12 tokens there are, byte offset of the scales in panel, of the first token in out.
final class PanelCode512 {
    private static final PanelShape SHAPE = PanelShape.WIDE;
    private static final int STRIDE = SHAPE.stride();

    private static final int SAVED = 6;
    /// Pointers that are kept behind the saved registers: to dx and q of the first token, to the panel's scales
    /// and levels, to out.
    private static final int STARTS = 5;
    private static final Vec BIAS_LANES = zmm(31);
    private static final Gpr[] Q = {RDI, R10, R11};
    private static final Gpr[] DX = {RBX, R12, R13};

    private final Assembler a;
    private final BlockCode format;
    private final int tokens;
    private final int perGroup;
    private final int scaleStride;
    /// Groups of a span, and bytes of the sums of one place in a span.
    private final int places;
    private final int placeBytes;

    private PanelCode512(Assembler a, BlockCode format, int tokens) {
        this.a = a;
        this.format = format;
        this.tokens = tokens;
        this.perGroup = BlockCode.SPAN / format.group * Float.BYTES;
        this.scaleStride = SHAPE.scaleStride(format);
        this.places = BlockCode.SPAN / format.group;
        this.placeBytes = tokens * STRIDE;
    }

    /// Emits the function for 4, 8 or 12 tokens.
    static void emit(Assembler a, BlockCode format, int tokens) {
        new PanelCode512(a, format, tokens).emit();
    }

    private static Vec dot(int token, int half) {
        return zmm(2 * token + half);
    }

    /// {@return a sum of the place that a register points to}
    private static Mem sum(Gpr place, int token, int half) {
        return mem(place, STRIDE * token + 64 * half);
    }

    /// {@return where token t is, given the pointers to tokens 0, 4, 8; R8 and R14 are one and three
    /// packed rows}
    private static Mem token(Gpr[] bases, int t, int disp) {
        Gpr base = bases[t / 4];
        return switch (t % 4) {
            case 0 -> mem(base, disp);
            case 1 -> mem(base, R8, 1, disp);
            case 2 -> mem(base, R8, 2, disp);
            default -> mem(base, R14, 1, disp);
        };
    }

    // RSI levels, RAX scales, R9 units left, RCX places left, RDX the place's sums; R15 is free.
    private void emit() {
        Gpr[] saved = {RBX, RBP, R12, R13, R14, R15};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.add(RDI, RCX);
        a.lea(RBX, mem(RDI, R9, 1, 0));
        a.mov(RAX, Assembler.stackArgument(3, SAVED));
        a.add(RAX, RSI);
        a.add(RSI, PanelShape.TEMP_BYTES);
        a.add(RDX, Assembler.stackArgument(4, SAVED));
        a.lea(R14, mem(R8, R8, 2, 0));
        Gpr[] starts = {RDX, RSI, RAX, RDI, RBX};
        for (Gpr r : starts) {
            a.push(r);
        }
        a.mov(RBP, RSP);
        a.sub(RSP, places * placeBytes);
        a.and(RSP, -64);
        a.vmovdqu(BIAS_LANES, a.constant(i -> Float.floatToRawIntBits(PackCode.BIAS)));
        String next = a.fresh("panelTokens");
        a.label(next);
        emitTokens();
        for (int i = 0; i < 2; i++) {
            a.mov(R15, mem(RBP, 8 * i));
            for (int t = 0; t < tokens; t += 4) {
                a.lea(R15, mem(R15, R8, 4, 0));
            }
            a.mov(mem(RBP, 8 * i), R15);
        }
        a.mov(R15, argument(2));
        a.sub(R15, 1);
        a.mov(argument(2), R15);
        a.cmp(R15, 0);
        a.j(If.GREATER, next);
        a.mov(RSP, RBP);
        for (int i = starts.length - 1; i >= 0; i--) {
            a.pop(starts[i]);
        }
        a.vzeroupper();
        for (int i = saved.length - 1; i >= 0; i--) {
            a.pop(saved[i]);
        }
        a.ret();
    }

    private static Mem argument(int n) {
        return mem(RBP, 8 * (STARTS + SAVED + 1 + n));
    }

    /// Multiplies the panel with as many tokens as the registers hold; what is at RBP points to them.
    private void emitTokens() {
        a.mov(RBX, mem(RBP, 0));
        a.mov(RDI, mem(RBP, 8));
        a.mov(RAX, mem(RBP, 16));
        a.mov(RSI, mem(RBP, 24));
        a.mov(R9, argument(0));
        for (int b = 1; b < tokens / 4; b++) {
            a.lea(Q[b], mem(Q[b - 1], R8, 4, 0));
            a.lea(DX[b], mem(DX[b - 1], R8, 4, 0));
        }
        emitClear();
        emitSpans();
        for (int half = places / 2; half > 0; half /= 2) {
            emitMerge(half);
        }
        a.mov(RDX, mem(RBP, 32));
        a.mov(R15, argument(1));
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(zmm(h), sum(RSP, t, h));
                a.vmovdqu(mem(RDX, 64 * h), zmm(h));
            }
            a.add(RDX, R15);
        }
        a.mov(mem(RBP, 32), RDX);
    }

    private void emitClear() {
        String next = a.fresh("panelClear");
        a.zero(zmm(0));
        a.mov(RDX, RSP);
        a.mov(RCX, places * tokens);
        a.label(next);
        a.vmovdqu(mem(RDX), zmm(0));
        a.vmovdqu(mem(RDX, 64), zmm(0));
        a.add(RDX, STRIDE);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, next);
    }

    /// Adds each group to the sum of its place.
    private void emitSpans() {
        String span = a.fresh("panelSpan");
        String place = a.fresh("panelPlace");
        a.label(span);
        a.mov(RCX, BlockCode.SPAN / BlockCode.UNIT);
        a.cmp(RCX, R9);
        a.cmov(If.GREATER, RCX, R9);
        if (format.group < BlockCode.UNIT) {
            a.shl(RCX, 1);
        }
        a.mov(RDX, RSP);
        a.align(32);
        a.label(place);
        emitDots();
        emitScaling();
        a.add(RSI, steps() * STRIDE);
        a.add(RAX, scaleStride);
        a.add(RDX, placeBytes);
        for (int b = 0; b < tokens / 4; b++) {
            a.add(Q[b], format.group * format.levelBytes());
            a.add(DX[b], Float.BYTES);
        }
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, place);
        for (int b = 0; b < tokens / 4 && !format.words; b++) {
            a.add(DX[b], 2 * perGroup);
        }
        a.sub(R9, BlockCode.SPAN / BlockCode.UNIT);
        a.j(If.GREATER, span);
    }

    /// Adds to each of the first places the one that lies `half` behind it.
    private void emitMerge(int half) {
        String next = a.fresh("panelMerge");
        a.mov(RDX, RSP);
        a.mov(RCX, half * tokens);
        a.label(next);
        for (int h = 0; h < 2; h++) {
            a.vmovdqu(zmm(h), mem(RDX, 64 * h));
            a.vaddps(zmm(h), zmm(h), mem(RDX, half * placeBytes + 64 * h));
            a.vmovdqu(mem(RDX, 64 * h), zmm(h));
        }
        a.add(RDX, STRIDE);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, next);
    }

    /// {@return how many times 32 bits of each row and token are multiplied for a group}
    private int steps() {
        return format.group * format.levelBytes() / 4;
    }

    private void emitDots() {
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                if (format.words) {
                    a.zero(dot(t, h));
                } else if (format.mins) {
                    a.vmovdqu(dot(t, h), BIAS_LANES);
                } else {
                    a.vpbroadcastd(dot(t, h), token(DX, t, perGroup));
                }
            }
        }
        for (int k = 0; k < steps(); k++) {
            Vec w0 = zmm(24 + 2 * (k & 1));
            Vec w1 = zmm(25 + 2 * (k & 1));
            a.vmovdqu(w0, mem(RSI, STRIDE * k));
            a.vmovdqu(w1, mem(RSI, STRIDE * k + 64));
            for (int t = 0; t < tokens; t++) {
                Vec x = zmm(28 + t % 3);
                a.vpbroadcastd(x, token(Q, t, 4 * k));
                if (format.words) {
                    a.vpdpwssd(dot(t, 0), w0, x);
                    a.vpdpwssd(dot(t, 1), w1, x);
                } else {
                    a.vpdpbusd(dot(t, 0), w0, x);
                    a.vpdpbusd(dot(t, 1), w1, x);
                }
            }
        }
    }

    private void emitScaling() {
        Vec[] scale = {zmm(24), zmm(25)};
        Vec[] min = {zmm(29), zmm(30)};
        for (int h = 0; h < 2; h++) {
            a.vmovdqu(scale[h], mem(RAX, 64 * h));
            if (format.mins) {
                a.vmovdqu(min[h], mem(RAX, STRIDE + 64 * h));
            }
        }
        for (int t = 0; t < tokens; t++) {
            Vec dx = zmm(26);
            Vec u = zmm(27);
            Vec c = zmm(28);
            a.vbroadcastss(dx, token(DX, t, 0));
            if (!format.words) {
                a.vbroadcastss(u, token(DX, t, 2 * perGroup));
            }
            if (format.mins) {
                a.vbroadcastss(c, token(DX, t, perGroup));
            }
            for (int h = 0; h < 2; h++) {
                Vec z = dot(t, h);
                if (format.words) {
                    a.vcvtdq2ps(z, z);
                    a.vmulps(z, z, dx);
                } else {
                    a.vfmadd213ps(z, dx, u);
                }
                a.vfmadd213ps(z, scale[h], sum(RDX, t, h));
                if (format.mins) {
                    a.vfmadd231ps(z, min[h], c);
                }
                a.vmovdqu(sum(RDX, t, h), z);
            }
        }
    }
}
