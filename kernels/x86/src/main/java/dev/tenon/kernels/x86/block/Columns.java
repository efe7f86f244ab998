package dev.tenon.kernels.x86.block;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.xmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.function.IntFunction;

/// A span of the rows of one part of a panel, sixteen or eight, seen by columns: what
/// [BlockCode#columns] works on.
///
/// A column is a register with the same dword of all these rows, one a lane. Packed bytes are
/// transposed first and unpacked afterwards: there are fewer of them than of levels, and a lane is
/// a row in the panel too.
///
/// Registers: R10 points to the span of row 0, R8 is the distance of rows, RDI three times that;
/// RSI points to the first block of the span in the panel.
public final class Columns {
    /// Pointers to rows 0 to 3; the others lie 4, 8 or 12 rows after them.
    private static final Gpr[] FIRST = {R11, R12, R13, RBX};

    private final Assembler a;
    private final BlockCode format;
    private final PanelShape shape;

    public Columns(Assembler a, BlockCode format, PanelShape shape) {
        this.a = a;
        this.format = format;
        this.shape = shape;
    }

    /// {@return a register that holds a column}
    public Vec vec(int number) {
        return shape.vec(number);
    }

    /// {@return a constant that is the same in every lane}
    ///
    /// @param wide the register that has it with AVX-512
    public Operand constant(Vec wide, int dword) {
        return a.evex ? wide : a.constant(i -> dword);
    }

    /// Puts the bits of `v` that `mask` has into `t` too.
    ///
    /// @param u temporary; may be `v`
    public void or(Vec t, Vec v, Operand mask, Vec u) {
        if (a.evex) {
            a.vpternlogd(t, v, mask, 0xF8);
        } else {
            a.vpand(u, v, mask);
            a.vpor(t, t, u);
        }
    }

    /// Points to the rows of a span.
    public void emitPointers() {
        a.mov(R11, R10);
        a.lea(R12, mem(R10, R8, 1, 0));
        a.lea(R13, mem(R10, R8, 2, 0));
        a.lea(RBX, mem(R10, RDI, 1, 0));
    }

    private static Mem row(int r, int disp) {
        Gpr first = FIRST[r % 4];
        return switch (r / 4) {
            case 0 -> mem(first, disp);
            case 1 -> mem(first, R8, 4, disp);
            case 2 -> mem(first, R8, 8, disp);
            default -> mem(first, RDI, 4, disp);
        };
    }

    /// Fetches what comes next in each row. (The next panel is fetched while this one is
    /// multiplied, by `PanelLoop`.)
    public void prefetch(int spanBytes) {
        for (int r = 0; r < shape.lanes(); r++) {
            a.lea(RAX, row(r, 0));
            for (int b = 0; b < spanBytes; b += 64) {
                a.prefetchT0(mem(RAX, spanBytes + b));
            }
        }
    }

    /// Loads the four columns of sixteen bytes to registers 0 to 3; uses 4 to 7.
    ///
    /// @param offset bytes from the start of the span
    public void load(int offset) {
        transpose(a, shape, r -> row(r, offset));
    }

    /// Transposes sixteen bytes of each row to registers 0 to 3; uses 4 to 7.
    ///
    /// 128-bit pieces of four rows are gathered into a register by inserting loads, and transposed
    /// there in place by two rounds of unpacking.
    ///
    /// @param row where the bytes of a row are
    public static void transpose(Assembler a, PanelShape shape, IntFunction<Mem> row) {
        for (int m = 0; m < 4; m++) {
            a.vmovdqu(xmm(m), row.apply(m));
            for (int lane = 1; lane < shape.lanes() / 4; lane++) {
                a.vinserti128(shape.vec(m), shape.vec(m), row.apply(4 * lane + m), lane);
            }
        }
        for (int m = 0; m < 4; m += 2) {
            a.vpunpckldq(shape.vec(4 + m), shape.vec(m), shape.vec(m + 1));
            a.vpunpckhdq(shape.vec(5 + m), shape.vec(m), shape.vec(m + 1));
        }
        for (int m = 0; m < 2; m++) {
            a.vpunpcklqdq(shape.vec(2 * m), shape.vec(4 + m), shape.vec(6 + m));
            a.vpunpckhqdq(shape.vec(2 * m + 1), shape.vec(4 + m), shape.vec(6 + m));
        }
    }

    /// Loads an F16 number of each row as a float.
    ///
    /// @param offset bytes from the start of the span
    /// @param v receives them
    /// @param t temporary
    public void f16(int offset, Vec v, Vec t) {
        a.zero(v);
        a.zero(t);
        for (int r = 0; r < 8; r++) {
            a.vpinsrw(v, v, row(r, offset), r);
            if (a.evex) {
                a.vpinsrw(t, t, row(r + 8, offset), r);
            }
        }
        if (a.evex) {
            a.vinserti128(v.y(), v.y(), t.x(), 1);
        }
        a.vcvtph2ps(v, a.evex ? v.y() : v.x());
    }

    /// Makes floats of the F16 numbers in a column, with AVX-512.
    ///
    /// @param column its dwords
    /// @param upper whether they are the upper parts of these
    /// @param v receives them
    public void f16(Vec column, boolean upper, Vec v) {
        if (upper) {
            a.vpsrld(v, column, 16);
        }
        a.vpmovdw(v.y(), upper ? v : column);
        a.vcvtph2ps(v, v.y());
    }

    /// Stores 32 bits of levels of each row: four of them, or two words.
    ///
    /// @param weight the first of them in the span
    /// @param v one row a lane
    public void levels(int weight, Vec v) {
        a.vmovdqu(mem(RSI, shape.levels(format, weight * format.levelBytes() / Integer.BYTES)), v);
    }

    /// Stores the scale of a group of each row.
    public void scale(int group, Vec v) {
        a.vmovdqu(mem(RSI, shape.placeBytes(format) * group), v);
    }
}
