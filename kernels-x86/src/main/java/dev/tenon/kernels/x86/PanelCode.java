package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.Operand.Gpr.RBP;
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
/// A function is made for one length of rows: the distance of tokens is then part of every address, without a
/// register for it, and a load can be part of the instruction that needs it. (With an index register the
/// processor takes the two apart again.)
///
/// Arguments: packed rows, panel, out, byte offset of the first token's row, bytes between tokens in out, how
/// many times the function's tokens there are; on the stack the byte offset of the first token in out.
abstract sealed class PanelCode permits PanelCode256, PanelCode512 {
    private static final int SAVED = 1;
    /// What is kept behind the saved register: pointers to the pieces of the first token, to the panel, to out;
    /// bytes between tokens in out; how many times.
    private static final int PIECES_START = 0;
    private static final int PANEL_START = 8;
    private static final int OUT_START = 16;
    private static final int OUT_STRIDE = 24;
    private static final int TIMES = 32;

    final Assembler a;
    final BlockCode format;
    final PanelShape shape;
    final int tokens;
    /// Units of 32 in a row.
    private final int units;
    /// Bytes of a packed row, of those of all tokens, and up to the pieces of a row.
    private final int packedBytes;
    private final int groupBytes;
    private final int piecesOffset;
    /// Bytes of a piece, and from the pieces of one place to those of the next.
    private final int pieceBytes;
    private final int placeStride;
    /// Bytes of four weights of all rows.
    private final int stride;
    /// Groups of a span, and bytes of the sums of one place in a span.
    private final int places;
    private final int sumBytes;

    PanelCode(Assembler a, BlockCode format, PanelShape shape, int tokens, int n) {
        this.a = a;
        this.format = format;
        this.shape = shape;
        this.tokens = tokens;
        this.units = n / BlockCode.UNIT;
        this.packedBytes = Math.toIntExact(PackCode.packedBytes(format, n));
        this.groupBytes = Math.multiplyExact(tokens, packedBytes);
        this.piecesOffset = Math.toIntExact(PackCode.piecesOffset(format, n));
        this.pieceBytes = PackCode.pieceBytes(format);
        this.placeStride = Math.toIntExact(PackCode.spans(n) * pieceBytes);
        this.stride = shape.stride();
        this.places = BlockCode.SPAN / format.group;
        this.sumBytes = tokens * stride;
    }

    /// Emits the function.
    ///
    /// @param set which instructions may be used
    /// @param tokens `many` or `few` of the set's shape
    /// @param n elements in a row
    static void emit(Assembler a, BlockCode format, FeatureSet set, int tokens, int n) {
        PanelCode code = set == FeatureSet.AVX512
                ? new PanelCode512(a, format, tokens, n)
                : new PanelCode256(a, format, tokens, n, set == FeatureSet.AVX_VNNI);
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
        return mem(RDI, t * packedBytes + disp);
    }

    /// {@return dx of token t}
    final Mem dx(int t) {
        return q(t, PackCode.pieceScales(format));
    }

    /// {@return c of token t}
    final Mem c(int t) {
        return q(t, PackCode.pieceScales(format) + Float.BYTES);
    }

    /// {@return u of token t}
    final Mem u(int t) {
        return q(t, PackCode.pieceScales(format) + 2 * Float.BYTES);
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

    private void emit() {
        a.push(RBP);
        a.add(RDI, RCX);
        a.add(RDI, piecesOffset);
        a.add(RSI, PanelShape.TEMP_BYTES);
        a.add(RDX, Assembler.stackArgument(0, SAVED));
        Gpr[] kept = {R9, R8, RDX, RSI, RDI};
        for (Gpr r : kept) {
            a.push(r);
        }
        a.mov(RBP, RSP);
        a.sub(RSP, places * sumBytes);
        a.and(RSP, -64);
        emitConstants();
        String next = a.fresh("panelTokens");
        a.label(next);
        emitTokens();
        a.mov(R10, mem(RBP, PIECES_START));
        a.add(R10, groupBytes);
        a.mov(mem(RBP, PIECES_START), R10);
        a.mov(R10, mem(RBP, TIMES));
        a.sub(R10, 1);
        a.mov(mem(RBP, TIMES), R10);
        a.j(If.GREATER, next);
        a.lea(RSP, mem(RBP, kept.length * Long.BYTES));
        a.vzeroupper();
        a.pop(RBP);
        a.ret();
    }

    /// Multiplies the panel with as many tokens as the registers hold; what is at RBP points to them.
    ///
    /// In the tile at hand R11 points to the pieces of the first token and RAX to the panel, both at the place
    /// at hand, whose sums RDX points to; R9 is the units left + 7.
    private void emitTokens() {
        String tile = a.fresh("panelTile");
        String place = a.fresh("panelPlace");
        a.mov(R11, mem(RBP, PIECES_START));
        a.mov(RAX, mem(RBP, PANEL_START));
        a.mov(R9, units + 7);
        a.label(tile);
        a.mov(RDX, RSP);
        a.label(place);
        emitPlace();
        a.add(RAX, shape.placeBytes(format));
        a.add(R11, placeStride);
        if (format.unitBytes > 0) {
            a.sub(R9, 1);
        }
        a.add(RDX, sumBytes);
        a.lea(RCX, mem(RSP, places * sumBytes));
        a.cmp(RDX, RCX);
        a.j(If.BELOW, place);
        a.add(R11, PanelShape.TILE * pieceBytes - places * placeStride);
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
        // Spans that reach to this place.
        a.mov(RCX, R9);
        a.shr(RCX, 3);
        a.cmp(RCX, PanelShape.TILE);
        a.j(If.LESS_OR_EQUAL, whole);
        a.mov(RCX, PanelShape.TILE);
        a.label(whole);
        a.cmp(R9, units);
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
        a.add(RSI, shape.blockBytes(format));
        a.add(RDI, pieceBytes);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, span);
        a.label(end);
        forSums((vec, memory) -> a.vmovdqu(memory, vec));
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
    /// @param u for what takes the bias out of a token's dot products; null if that is part of the instruction
    /// @param c for what a token's minimums are multiplied by
    /// @param scale scales of both halves of the rows
    /// @param min minimums of both halves of the rows; not read where the format has none
    final void emitScaling(Vec dx, Vec u, Vec c, Operand[] scale, Operand[] min) {
        for (int t = 0; t < tokens; t++) {
            a.vbroadcastss(dx, dx(t));
            if (u != null && !format.words) {
                a.vbroadcastss(u, u(t));
            }
            if (format.mins) {
                a.vbroadcastss(c, c(t));
            }
            for (int h = 0; h < 2; h++) {
                Vec z = dot(t, h);
                if (format.words) {
                    a.vcvtdq2ps(z, z);
                    a.vmulps(z, z, dx);
                } else {
                    a.vfmadd213ps(z, dx, u != null ? u : u(t).bcst());
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
        a.mov(R10, mem(RBP, OUT_STRIDE));
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                int first = 8 * (2 * t + h & 1);
                emitTree(first, stride * t + shape.halfBytes() * h, 0, 1);
                a.vmovdqu(mem(RDX, shape.halfBytes() * h), shape.vec(first));
            }
            a.add(RDX, R10);
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
        Operand other = mem(RSP, (place + step) * sumBytes + sum);
        if (2 * step < places) {
            other = shape.vec(register + 1);
            emitTree(register + 1, sum, place + step, 2 * step);
        }
        a.vaddps(shape.vec(register), shape.vec(register), other);
    }
}
