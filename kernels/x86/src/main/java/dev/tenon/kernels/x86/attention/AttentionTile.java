package dev.tenon.kernels.x86.attention;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
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
import java.util.function.IntFunction;

/// One to six query rows against a page: a small matrix product before [WeighCode] and one after
/// it.
///
/// ```
///   left: rows ↓, k →     a number of each row, in all lanes       multiplied and added to
///   right: k ↓, 64 →      some vectors, converted from F16         rows × vectors registers of sums
///                         if they are
///
///   scores:  left = q,        right = keys,   k = elements,    sums from 0, to scratch
///   values:  left = weights,  right = values, k = positions,   sums from acc · keep, to acc
/// ```
///
/// Registers: as [AttentionCode] says, and
///
/// ```
///   AVX-512           sums 0 to 23 (four vectors), right 24 to 27, left 28 to 31
///   AVX2, 4 to 6 rows sums 0 to 11 (two vectors), right 12 and 13, left 14 and 15
///         2, 3        sums 0 to 11 (four vectors), right 12, left from 13 on
///         1           sums 0 to 7 (eight vectors), right 12, left 15
/// ```
final class AttentionTile {
    /// Vectors of the right at once with AVX2, by the number of rows less one.
    private static final int[] AVX2_WIDTH = {8, 4, 4, 2, 2, 2};
    /// Elements of keys in one turn of the loop.
    private static final int UNROLLED = 2;

    private final Assembler a;
    private final AttentionShape shape;
    private final int rows;
    private final AttentionShape.Type type;
    private final int bits;
    private final int lanes;
    private final int width;

    /// Prepares the code of a tile.
    ///
    /// @param rows number of query rows
    /// @param type F32 or F16: what keys and values are read as
    AttentionTile(Assembler a, AttentionShape shape, int rows, AttentionShape.Type type) {
        this.a = a;
        this.shape = shape;
        this.rows = rows;
        this.type = type;
        this.bits = a.evex ? 512 : 256;
        this.lanes = bits / Float.SIZE;
        this.width = a.evex ? 4 : AVX2_WIDTH[rows - 1];
    }

    /// Emits a subroutine for the rows from R15 on.
    ///
    /// @param label its name
    /// @param weigh that of the subroutine between the products
    void emit(String label, String weigh) {
        a.align(64);
        a.label(label);
        for (int i = 0; i < AttentionCode.TOKENS; i += width * lanes) {
            emitScores(i);
        }
        a.mov(RBX, rows);
        a.call(weigh);
        for (int i = 0; i < shape.valueLength(); i += width * lanes) {
            emitValues(i, Math.min(width, (shape.valueLength() - i) / lanes));
        }
        a.ret();
    }

    private Vec vec(int number) {
        return new Vec(number, bits);
    }

    private Vec sum(int row, int v) {
        return vec(width * row + v);
    }

    /// {@return where a row's number of the left goes}
    private Vec left(int row) {
        if (a.evex) {
            return vec(28 + row % 4);
        }
        return vec(keepsRight() ? 14 + row % 2 : 15 - row);
    }

    /// Whether vectors of the right stay in registers while rows go by, rather than the other way
    /// round.
    private boolean keepsRight() {
        return a.evex || rows > width;
    }

    private void loadRight(Vec d, Mem m) {
        if (type == AttentionShape.Type.F16) {
            a.vcvtph2ps(d, m);
        } else {
            a.vmovdqu(d, m);
        }
    }

    /// Multiplies vectors of the right with a number of each row.
    private void emitStep(Mem right, int vectors, IntFunction<Mem> left) {
        if (keepsRight()) {
            emitStepOfRows(right, vectors, left);
            return;
        }
        for (int r = 0; r < rows; r++) {
            a.vbroadcastss(left(r), left.apply(r));
        }
        for (int v = 0; v < vectors; v++) {
            loadRight(vec(12), right.plus(v * lanes * type.bytes));
            for (int r = 0; r < rows; r++) {
                a.vfmadd231ps(sum(r, v), left(r), vec(12));
            }
        }
    }

    private void emitStepOfRows(Mem right, int vectors, IntFunction<Mem> left) {
        int first = a.evex ? 24 : 12;
        for (int v = 0; v < vectors; v++) {
            loadRight(vec(first + v), right.plus(v * lanes * type.bytes));
        }
        for (int r = 0; r < rows; r++) {
            a.vbroadcastss(left(r), left.apply(r));
            for (int v = 0; v < vectors; v++) {
                a.vfmadd231ps(sum(r, v), left(r), vec(first + v));
            }
        }
    }

    // RAX q, R10 keys, R11 their end.
    private void emitScores(int first) {
        int keyRow = AttentionCode.TOKENS * type.bytes;
        int qRow = shape.keyLength() * Float.BYTES;
        String loop = a.fresh("scores");
        a.imul(RAX, R15, qRow);
        a.add(RAX, RCX);
        a.lea(R10, mem(RDI, first * type.bytes));
        a.lea(R11, mem(RDI, first * type.bytes + shape.keyLength() * keyRow));
        for (int i = 0; i < width * rows; i++) {
            a.zero(vec(i));
        }
        a.align(32);
        a.label(loop);
        for (int u = 0; u < UNROLLED; u++) {
            int element = u * Float.BYTES;
            emitStep(mem(R10, u * keyRow), width, r -> mem(RAX, r * qRow + element));
        }
        a.add(RAX, UNROLLED * Float.BYTES);
        a.add(R10, UNROLLED * keyRow);
        a.cmp(R10, R11);
        a.j(If.BELOW, loop);
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < width; v++) {
                a.vmovdqu(mem(RDX, r * AttentionCode.WEIGHTS_ROW + (first + v * lanes) * Float.BYTES), sum(r, v));
            }
        }
    }

    // RAX weights, RBX acc, R10 values, R11 their end.
    private void emitValues(int first, int vectors) {
        int valueRow = shape.valueLength() * type.bytes;
        int accRow = shape.valueLength() * Float.BYTES;
        String loop = a.fresh("values");
        AttentionCode.loadFrom(a, RBX);
        a.lea(RAX, mem(RDX, RBX, 4, 0));
        pointer(R10, RBX, valueRow, RSI, first * type.bytes);
        AttentionCode.loadTo(a, RBX);
        pointer(R11, RBX, valueRow, RSI, first * type.bytes);
        pointer(RBX, R15, accRow, RBP, first * Float.BYTES);
        for (int r = 0; r < rows; r++) {
            a.vbroadcastss(left(r), mem(RDX, AttentionCode.KEEP + r * Float.BYTES));
            for (int v = 0; v < vectors; v++) {
                a.vmulps(sum(r, v), left(r), mem(RBX, r * accRow + v * bits / 8));
            }
        }
        a.align(32);
        a.label(loop);
        emitStep(mem(R10), vectors, r -> mem(RAX, r * AttentionCode.WEIGHTS_ROW));
        a.add(RAX, Float.BYTES);
        a.add(R10, valueRow);
        a.cmp(R10, R11);
        a.j(If.BELOW, loop);
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < vectors; v++) {
                a.vmovdqu(mem(RBX, r * accRow + v * bits / 8), sum(r, v));
            }
        }
    }

    /// `d = base + index * bytes + offset`.
    private void pointer(Gpr d, Gpr index, int bytes, Gpr base, int offset) {
        a.imul(d, index, bytes);
        a.lea(d, mem(d, base, 1, offset));
    }
}
