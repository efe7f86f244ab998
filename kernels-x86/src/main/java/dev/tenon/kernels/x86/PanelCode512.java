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
import java.util.function.ObjIntConsumer;

/// A panel of 32 unpacked rows times 4 or 12 tokens, with AVX-512 VNNI.
///
/// A register has 16 rows in its lanes. For each group of weights the dot products of all (row, token)
/// pairs are gathered in up to 24 registers of 32-bit integers: `vpdpbusd` of four weights of 16 rows
/// with four activations of one token, repeated in all lanes. Then, with float sums kept on the stack:
///
/// ```
/// sum += (float(dot) * dx[t] + c[t]) * scale                       without minimums
/// sum += (float(dot) * dx[t]) * scale;  sum += min * c[t]          with minimums
/// ```
///
/// The sums of a group's place in the span are gathered over all spans first; then the places are added
/// like the lanes of [RowsCode512], as a tree. A value therefore does not depend on the other rows and
/// tokens, nor on which of the two functions computes it.
///
/// Arguments: packed rows, panel, out, byte offset of the first token's row, bytes between packed rows,
/// byte offset of dx in them; on the stack units of 32 in a row, bytes between tokens in out, byte
/// offset of the levels in panel, of the scales in panel, of the first token in out.
final class PanelCode512 {
    private static final PanelShape SHAPE = PanelShape.WIDE;
    private static final int STRIDE = SHAPE.stride();

    private static final int SAVED = 6;
    private static final Gpr[] Q = {RDI, R10, R11};
    private static final Gpr[] DX = {RBX, R12, R13};

    private final Assembler a;
    private final BlockCode format;
    private final int tokens;
    private final int perGroup;
    private final int scaleStride;

    private PanelCode512(Assembler a, BlockCode format, int tokens) {
        this.a = a;
        this.format = format;
        this.tokens = tokens;
        this.perGroup = BlockCode.SPAN / format.group * Float.BYTES;
        this.scaleStride = SHAPE.scaleStride(format);
    }

    /// Emits the function for 4 or 12 tokens.
    static void emit(Assembler a, BlockCode format, int tokens) {
        new PanelCode512(a, format, tokens).emit();
    }

    private static Vec dot(int token, int half) {
        return zmm(2 * token + half);
    }

    /// {@return a sum in memory; slot 0 is at the stack pointer}
    private Mem sum(int slot, int token, int half) {
        return mem(RSP, 128 * (slot * tokens + token) + 64 * half);
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

    // RSI levels, RAX scales, R9 units in a row, RCX and RDX spans left and spans; R15 is free.
    private void emit() {
        Gpr[] saved = {RBX, RBP, R12, R13, R14, R15};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.add(RDI, RCX);
        a.lea(RBX, mem(RDI, R9, 1, 0));
        a.mov(R9, Assembler.stackArgument(0, SAVED));
        a.mov(RAX, Assembler.stackArgument(3, SAVED));
        a.add(RAX, RSI);
        a.add(RSI, Assembler.stackArgument(2, SAVED));
        a.add(RDX, Assembler.stackArgument(4, SAVED));
        a.lea(R14, mem(R8, R8, 2, 0));
        for (int b = 1; b < tokens / 4; b++) {
            a.lea(Q[b], mem(Q[b - 1], R8, 4, 0));
            a.lea(DX[b], mem(DX[b - 1], R8, 4, 0));
        }
        int places = BlockCode.SPAN / format.group;
        int levels = Integer.numberOfTrailingZeros(places);
        a.push(RDX);
        a.mov(RBP, RSP);
        a.sub(RSP, 128 * tokens * (levels + 1));
        a.and(RSP, -64);
        int slot = 0;
        for (int p = 0; p < places; p++) {
            emitPlace(Integer.reverse(p) >>> (32 - levels), slot++);
            for (int merges = Integer.numberOfTrailingZeros(p + 1); merges > 0; merges--) {
                slot--;
                emitMerge(slot - 1, slot);
            }
        }
        a.mov(RDX, mem(RBP, 0));
        a.mov(R15, mem(RBP, 8 + 8 * (SAVED + 1) + 8));
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(zmm(h), sum(0, t, h));
                a.vmovdqu(mem(RDX, 64 * h), zmm(h));
            }
            a.add(RDX, R15);
        }
        a.mov(RSP, RBP);
        a.pop(RDX);
        a.vzeroupper();
        for (int i = saved.length - 1; i >= 0; i--) {
            a.pop(saved[i]);
        }
        a.ret();
    }

    /// Sums one place of all spans that have it to a slot.
    private void emitPlace(int place, int slot) {
        String span = a.fresh("panelSpan");
        String end = a.fresh("panelEnd");
        a.zero(zmm(0));
        for (int t = 0; t < tokens; t++) {
            a.vmovdqu(sum(slot, t, 0), zmm(0));
            a.vmovdqu(sum(slot, t, 1), zmm(0));
        }
        a.mov(RCX, R9);
        a.add(RCX, 7 - place * format.group / BlockCode.UNIT);
        a.shr(RCX, 3);
        a.j(If.ZERO, end);
        a.mov(RDX, RCX);
        a.align(32);
        a.label(span);
        emitDots(place);
        emitScaling(place, slot);
        forEachPointer(a::add);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, span);
        forEachPointer((register, bytes) -> {
            a.mov(RCX, RDX);
            a.shl(RCX, Integer.numberOfTrailingZeros(bytes));
            a.sub(register, RCX);
        });
        a.label(end);
    }

    /// The pointers and how many bytes a span has there, each a power of two.
    private void forEachPointer(ObjIntConsumer<Gpr> action) {
        action.accept(RSI, BlockCode.SPAN / 4 * STRIDE);
        action.accept(RAX, BlockCode.SPAN / format.group * scaleStride);
        for (int b = 0; b < tokens / 4; b++) {
            action.accept(Q[b], BlockCode.SPAN);
            action.accept(DX[b], 2 * perGroup);
        }
    }

    private void emitMerge(int to, int from) {
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                a.vmovdqu(zmm(h), sum(to, t, h));
                a.vaddps(zmm(h), zmm(h), sum(from, t, h));
                a.vmovdqu(sum(to, t, h), zmm(h));
            }
        }
    }

    private void emitDots(int group) {
        for (int t = 0; t < tokens; t++) {
            a.zero(dot(t, 0));
            a.zero(dot(t, 1));
        }
        int quads = format.group / 4;
        for (int k = group * quads; k < (group + 1) * quads; k++) {
            Vec w0 = zmm(24 + 2 * (k & 1));
            Vec w1 = zmm(25 + 2 * (k & 1));
            a.vmovdqu(w0, mem(RSI, STRIDE * k));
            a.vmovdqu(w1, mem(RSI, STRIDE * k + 64));
            for (int t = 0; t < tokens; t++) {
                Vec x = zmm(28 + (t & 3));
                a.vpbroadcastd(x, token(Q, t, 4 * k));
                a.vpdpbusd(dot(t, 0), w0, x);
                a.vpdpbusd(dot(t, 1), w1, x);
            }
        }
    }

    private void emitScaling(int group, int slot) {
        Vec[] scale = {zmm(24), zmm(25)};
        Vec[] min = {zmm(30), zmm(31)};
        for (int h = 0; h < 2; h++) {
            a.vmovdqu(scale[h], mem(RAX, group * scaleStride + 64 * h));
            if (format.mins) {
                a.vmovdqu(min[h], mem(RAX, group * scaleStride + STRIDE + 64 * h));
            }
        }
        for (int t = 0; t < tokens; t++) {
            Vec dx = zmm(26 + (t & 1));
            Vec c = zmm(28 + (t & 1));
            a.vbroadcastss(dx, token(DX, t, Float.BYTES * group));
            a.vbroadcastss(c, token(DX, t, perGroup + Float.BYTES * group));
            for (int h = 0; h < 2; h++) {
                Vec z = dot(t, h);
                a.vcvtdq2ps(z, z);
                if (format.mins) {
                    a.vmulps(z, z, dx);
                } else {
                    a.vfmadd213ps(z, dx, c);
                }
                a.vfmadd213ps(z, scale[h], sum(slot, t, h));
                if (format.mins) {
                    a.vfmadd231ps(z, min[h], c);
                }
                a.vmovdqu(sum(slot, t, h), z);
            }
        }
    }
}
