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

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;
import java.util.function.BiConsumer;

/// A panel of unpacked rows ([PanelShape]) times some tokens: the loops, and the order of additions.
///
/// A register has the rows of half a panel in its lanes. For each group of weights the dot products of all
/// (row, token) pairs are gathered in registers of 32-bit integers: four weights of these rows with four
/// activations of one token, repeated in all lanes. Then, with float sums in as many other registers:
///
/// ```
/// dot  = bits of c[t] + levels · q[t];   sum += (float with these bits * dx[t] + u[t]) * scale
/// dot  = bits of BIAS + levels · q[t];   sum += (...) * scale;  sum += min * c[t]     with minimums
/// dot  = levels · q[t];                  sum += (dot as float * dx[t]) * scale        with words
/// ```
///
/// The product by `dx` is rounded once: [PackCode#BIAS] cancels without a trace.
///
/// Each place that a group has in its span keeps a sum over all spans. So that sums stay in registers, the
/// spans of a tile are walked for one place after the other; between tiles sums lie on the stack (12 KiB at
/// most, less than the JVM keeps free for native calls). In the end the places are added like the lanes of
/// [RowsCode512], as a tree. A value therefore does not depend on the other rows and tokens, nor on which
/// of the functions computes it.
///
/// Arguments: packed rows, panel, out, byte offset of the first token's row, bytes between packed rows,
/// byte offset of dx in them; on the stack units of 32 in a row, bytes between tokens in out, how many
/// times the function's tokens there are, byte offset of the first token in out.
abstract sealed class PanelCode permits PanelCode256, PanelCode512 {
    private static final int SAVED = 6;
    /// Pointers that are kept behind the saved registers: to dx and q of the first token, to the panel, to out.
    private static final int STARTS = 4;
    private static final int DX_START = 0;
    private static final int Q_START = 8;
    private static final int PANEL_START = 16;
    private static final int OUT_START = 24;
    /// Pointers to tokens 0 and 4 in the span at hand.
    private static final Gpr[] Q = {RDI, R10};
    private static final Gpr[] DX = {RBX, R12};

    final Assembler a;
    final BlockCode format;
    final PanelShape shape;
    final int tokens;
    /// Bytes of dx of a span.
    final int perGroup;
    /// Bytes of four weights of all rows.
    private final int stride;
    /// Groups of a span, and bytes of the sums of one place in a span.
    private final int places;
    private final int sumBytes;

    PanelCode(Assembler a, BlockCode format, PanelShape shape, int tokens) {
        this.a = a;
        this.format = format;
        this.shape = shape;
        this.tokens = tokens;
        this.perGroup = PackCode.arrayBytes(format);
        this.stride = shape.stride();
        this.places = BlockCode.SPAN / format.group;
        this.sumBytes = tokens * stride;
    }

    /// Emits the function.
    ///
    /// @param set which instructions may be used
    /// @param tokens `many` or `few` of the set's shape
    static void emit(Assembler a, BlockCode format, FeatureSet set, int tokens) {
        PanelCode code = set == FeatureSet.AVX512
                ? new PanelCode512(a, format, tokens)
                : new PanelCode256(a, format, tokens, set == FeatureSet.AVX_VNNI);
        code.emit();
    }

    /// {@return the register of a token's sums of half the rows, which the other methods leave alone}
    abstract Vec sum(int token, int half);

    /// {@return the register of the dot products of a token and half of the rows}
    abstract Vec dot(int token, int half);

    /// Loads what stays in registers.
    abstract void emitConstants();

    /// Multiplies a group, whose block RSI points to, with all tokens: integers.
    abstract void emitDots();

    /// Adds these to the sums.
    abstract void emitScaling();

    /// {@return activations of token t}
    final Mem q(int t, int disp) {
        return token(Q, t, disp);
    }

    /// {@return dx of token t, and further on c and u}
    final Mem dx(int t, int disp) {
        return token(DX, t, disp);
    }

    /// {@return four weights of half the rows}
    final Mem levels(int step, int half) {
        return mem(RSI, shape.headBytes(format) + stride * step + shape.halfBytes() * half);
    }

    /// {@return scales of half the rows}
    final Mem scale(int half) {
        return mem(RSI, shape.halfBytes() * half);
    }

    /// {@return minimums of half the rows}
    final Mem min(int half) {
        return mem(RSI, stride + shape.halfBytes() * half);
    }

    /// {@return where token t is, given the pointers to tokens 0 and 4; R8 and R14 are one and three
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

    /// Moves a pointer by all tokens of the function.
    private void emitNextTokens(Gpr pointer) {
        for (int t = 2; t <= tokens; t += 2) {
            a.lea(pointer, mem(pointer, R8, 2, 0));
        }
        if (tokens % 2 == 1) {
            a.add(pointer, R8);
        }
    }

    private void emit() {
        Gpr[] saved = {RBX, RBP, R12, R13, R14, R15};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.add(RDI, RCX);
        a.lea(RBX, mem(RDI, R9, 1, 0));
        a.add(RSI, PanelShape.TEMP_BYTES);
        a.add(RDX, Assembler.stackArgument(3, SAVED));
        a.lea(R14, mem(R8, R8, 2, 0));
        Gpr[] starts = {RDX, RSI, RDI, RBX};
        for (Gpr r : starts) {
            a.push(r);
        }
        a.mov(RBP, RSP);
        a.sub(RSP, places * sumBytes);
        a.and(RSP, -64);
        emitConstants();
        String next = a.fresh("panelTokens");
        a.label(next);
        emitTokens();
        for (int start : new int[] {DX_START, Q_START}) {
            a.mov(R15, mem(RBP, start));
            emitNextTokens(R15);
            a.mov(mem(RBP, start), R15);
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
    ///
    /// In the tile at hand R11 points to q and R13 to dx of the first token, RAX to the panel, all at the
    /// place at hand, whose sums RDX points to; R9 is the units left + 7; R15 points to what
    /// is fetched from the rows of the next tokens, which no cache may have.
    private void emitTokens() {
        String tile = a.fresh("panelTile");
        String place = a.fresh("panelPlace");
        a.mov(R13, mem(RBP, DX_START));
        a.mov(R11, mem(RBP, Q_START));
        a.mov(RAX, mem(RBP, PANEL_START));
        a.mov(R9, argument(0));
        a.add(R9, 7);
        a.mov(R15, R11);
        emitNextTokens(R15);
        a.label(tile);
        a.mov(RDX, RSP);
        a.label(place);
        emitPlace();
        a.add(RAX, shape.placeBytes(format));
        a.add(R11, format.group * format.levelBytes());
        a.add(R13, Float.BYTES);
        if (format.unitBytes > 0) {
            a.sub(R9, 1);
        }
        a.add(RDX, sumBytes);
        a.lea(RCX, mem(RSP, places * sumBytes));
        a.cmp(RDX, RCX);
        a.j(If.BELOW, place);
        a.add(R11, (PanelShape.TILE - 1) * BlockCode.SPAN * format.levelBytes());
        a.add(R13, PanelShape.TILE * PackCode.scaleBytes(format) - perGroup);
        a.sub(R9, PanelShape.TILE * BlockCode.SPAN / BlockCode.UNIT - (format.unitBytes > 0 ? places : 0));
        a.cmp(R9, 7);
        a.j(If.GREATER, tile);
        emitResults();
    }

    /// Adds the groups of a tile that have the same place to the place's sums.
    private void emitPlace() {
        String whole = a.fresh("panelWhole");
        String later = a.fresh("panelLater");
        String begin = a.fresh("panelBegin");
        String span = a.fresh("panelSpan");
        String end = a.fresh("panelEnd");
        a.mov(RSI, RAX);
        a.mov(RDI, R11);
        a.mov(RBX, R13);
        if (tokens > 4) {
            a.lea(R10, mem(RDI, R8, 4, 0));
            a.lea(R12, mem(RBX, R8, 4, 0));
        }
        // Spans that reach to this place.
        a.mov(RCX, R9);
        a.shr(RCX, 3);
        a.cmp(RCX, PanelShape.TILE);
        a.j(If.LESS_OR_EQUAL, whole);
        a.mov(RCX, PanelShape.TILE);
        a.label(whole);
        a.cmp(R9, argument(0));
        a.j(If.LESS, later);
        forSums((vec, memory) -> a.zero(vec));
        a.jmp(begin);
        a.label(later);
        forSums((vec, memory) -> a.vmovdqu(vec, memory));
        a.label(begin);
        a.cmp(RCX, 0);
        a.j(If.LESS_OR_EQUAL, end);
        a.align(32);
        a.label(span);
        emitDots();
        emitScaling();
        int ahead = aheadBytes();
        for (int line = 0; line < ahead; line += 64) {
            a.prefetchT1(mem(R15, line));
        }
        a.add(R15, ahead);
        a.add(RSI, shape.blockBytes(format));
        for (int b = 0; b < (tokens + 3) / 4; b++) {
            a.add(Q[b], BlockCode.SPAN * format.levelBytes());
            a.add(DX[b], PackCode.scaleBytes(format));
        }
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, span);
        a.label(end);
        forSums((vec, memory) -> a.vmovdqu(memory, vec));
    }

    /// {@return bytes of the packed rows behind these that are fetched for each group, in whole lines}
    private int aheadBytes() {
        int spanBytes = BlockCode.SPAN * format.levelBytes() + PackCode.scaleBytes(format);
        return (tokens * spanBytes / places + 63) & -64;
    }

    private void forSums(BiConsumer<Vec, Mem> emitter) {
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                emitter.accept(sum(t, h), mem(RDX, stride * t + shape.halfBytes() * h));
            }
        }
    }

    /// Scales the dot products of a group and adds them to the sums.
    ///
    /// @param dx for what a token's activations are scaled by; clobbered, like `u` and `c`
    /// @param u for what takes the bias out of a token's dot products
    /// @param c for what a token's minimums are multiplied by
    /// @param scale scales of both halves of the rows
    /// @param min minimums of both halves of the rows; not read where the format has none
    final void emitScaling(Vec dx, Vec u, Vec c, Operand[] scale, Operand[] min) {
        for (int t = 0; t < tokens; t++) {
            a.vbroadcastss(dx, dx(t, 0));
            if (!format.words) {
                a.vbroadcastss(u, dx(t, 2 * perGroup));
            }
            if (format.mins) {
                a.vbroadcastss(c, dx(t, perGroup));
            }
            for (int h = 0; h < 2; h++) {
                Vec z = dot(t, h);
                if (format.words) {
                    a.vcvtdq2ps(z, z);
                    a.vmulps(z, z, dx);
                } else {
                    a.vfmadd213ps(z, dx, u);
                }
                a.vfmadd231ps(sum(t, h), z, scale[h]);
                if (format.mins) {
                    a.vfmadd231ps(sum(t, h), c, min[h]);
                }
            }
        }
    }

    private void emitResults() {
        a.mov(RDX, mem(RBP, OUT_START));
        a.mov(R15, argument(1));
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                int first = 8 * (2 * t + h & 1);
                emitTree(first, stride * t + shape.halfBytes() * h, 0, 1);
                a.vmovdqu(mem(RDX, shape.halfBytes() * h), shape.vec(first));
            }
            a.add(RDX, R15);
        }
        a.mov(mem(RBP, OUT_START), RDX);
    }

    /// Adds every `step`-th place from one on to a register; uses the registers behind it.
    private void emitTree(int register, int sum, int place, int step) {
        if (step == places) {
            a.vmovdqu(shape.vec(register), mem(RSP, place * sumBytes + sum));
            return;
        }
        emitTree(register, sum, place, 2 * step);
        emitTree(register + 1, sum, place + step, 2 * step);
        a.vaddps(shape.vec(register), shape.vec(register), shape.vec(register + 1));
    }
}
