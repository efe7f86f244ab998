package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;
import java.util.function.IntFunction;

/// One to six query rows against a page: a small matrix product before [WeighCode] and one behind it.
///
/// ```
///   left: rows ↓, k →     a number of each row, in all lanes       multiplied and added to
///   right: k ↓, 64 →      four vectors, converted from F16         rows × 4 registers of sums
///                         if they are
///
///   scores:  left = q,        right = keys,   k = elements,    sums from 0, to scratch
///   values:  left = weights,  right = values, k = positions,   sums from acc · keep, to acc
/// ```
///
/// Registers: as [AttentionCode] says; zmm0 to 23 sums, 24 to 27 vectors of the right, 28 to 31 numbers of the left.
final class AttentionTile {
    private static final int WIDTH = 4;
    private static final int LANES = 16;
    /// Elements of keys in one turn of the loop.
    private static final int UNROLLED = 2;

    private final Assembler a;
    private final AttentionShape shape;
    private final int rows;
    private final AttentionShape.Type type;

    /// Prepares the code of a tile.
    ///
    /// @param rows number of query rows
    /// @param type F32 or F16: what keys and values are read as
    AttentionTile(Assembler a, AttentionShape shape, int rows, AttentionShape.Type type) {
        this.a = a;
        this.shape = shape;
        this.rows = rows;
        this.type = type;
    }

    /// Emits a subroutine for the rows from R15 on.
    ///
    /// @param label its name
    /// @param weigh that of the subroutine between the products
    void emit(String label, String weigh) {
        a.align(64);
        a.label(label);
        emitScores();
        a.mov(RBX, rows);
        a.call(weigh);
        for (int i = 0; i < shape.valueLength(); i += WIDTH * LANES) {
            emitValues(i, Math.min(WIDTH, (shape.valueLength() - i) / LANES));
        }
        a.ret();
    }

    private Vec sum(int row, int v) {
        return zmm(WIDTH * row + v);
    }

    /// Loads vectors of the right, then multiplies them with a number of each row.
    private void emitStep(Mem right, int vectors, IntFunction<Mem> left) {
        for (int v = 0; v < vectors; v++) {
            Vec d = zmm(24 + v);
            Mem m = right.plus(v * LANES * type.bytes);
            if (type == AttentionShape.Type.F16) {
                a.vcvtph2ps(d, m);
            } else {
                a.vmovdqu(d, m);
            }
        }
        for (int r = 0; r < rows; r++) {
            Vec x = zmm(28 + r % 4);
            a.vbroadcastss(x, left.apply(r));
            for (int v = 0; v < vectors; v++) {
                a.vfmadd231ps(sum(r, v), x, zmm(24 + v));
            }
        }
    }

    // RAX q, R10 keys, R11 their end.
    private void emitScores() {
        int keyRow = AttentionCode.TOKENS * type.bytes;
        int qRow = shape.keyLength() * Float.BYTES;
        String loop = a.fresh("scores");
        a.imul(RAX, R15, qRow);
        a.add(RAX, RCX);
        a.mov(R10, RDI);
        a.lea(R11, mem(RDI, shape.keyLength() * keyRow));
        for (int i = 0; i < WIDTH * rows; i++) {
            a.zero(zmm(i));
        }
        a.align(32);
        a.label(loop);
        for (int u = 0; u < UNROLLED; u++) {
            int element = u * Float.BYTES;
            emitStep(mem(R10, u * keyRow), WIDTH, r -> mem(RAX, r * qRow + element));
        }
        a.add(RAX, UNROLLED * Float.BYTES);
        a.add(R10, UNROLLED * keyRow);
        a.cmp(R10, R11);
        a.j(If.BELOW, loop);
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < WIDTH; v++) {
                a.vmovdqu(mem(RDX, r * AttentionCode.WEIGHTS_ROW + v * 64), sum(r, v));
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
            Vec keep = zmm(28 + r % 4);
            a.vbroadcastss(keep, mem(RDX, AttentionCode.KEEP + r * Float.BYTES));
            for (int v = 0; v < vectors; v++) {
                a.vmulps(sum(r, v), keep, mem(RBX, r * accRow + v * 64));
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
                a.vmovdqu(mem(RBX, r * accRow + v * 64), sum(r, v));
            }
        }
    }

    /// `d = base + index * bytes + offset`.
    private void pointer(Gpr d, Gpr index, int bytes, Gpr base, int offset) {
        a.imul(d, index, bytes);
        a.lea(d, mem(d, base, 1, offset));
    }
}
