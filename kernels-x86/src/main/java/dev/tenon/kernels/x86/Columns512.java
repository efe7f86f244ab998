package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.xmm;
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Mem;
import dev.tenon.kernels.x86.Operand.Vec;
import java.util.function.IntFunction;

/// A span of sixteen weight rows seen by columns: what [BlockCode#columns512] works on.
///
/// A column is a register with the same dword of all sixteen rows, one a lane. Packed bytes are transposed
/// first and unpacked afterwards: there are fewer of them than of levels, and a lane is a row in the panel too.
///
/// Registers: R10 points to the span of row 0, R8 is the distance of rows, RDI three times that; RSI points to
/// the first block of the span in the panel.
final class Columns512 {
    private static final PanelShape SHAPE = PanelShape.WIDE;
    private static final int ROWS = 16;
    /// Pointers to rows 0 to 3; the others lie 4, 8 or 12 rows behind them.
    private static final Gpr[] FIRST = {R11, R12, R13, RBX};

    private final Assembler a;
    private final BlockCode format;

    Columns512(Assembler a, BlockCode format) {
        this.a = a;
        this.format = format;
    }

    /// Points to the rows of a span.
    void emitPointers() {
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

    /// Fetches what comes next in each row, and the rows of the next half panel, which no hardware prefetcher
    /// guesses.
    void prefetch(int spanBytes) {
        for (int r = 0; r < ROWS; r++) {
            a.lea(RAX, row(r, 0));
            for (int b = 0; b < spanBytes; b += 64) {
                a.prefetchT0(mem(RAX, spanBytes + b));
            }
            a.lea(RAX, mem(RAX, R8, 8, 0));
            for (int b = 0; b < spanBytes; b += 64) {
                a.prefetchT1(mem(RAX, R8, 8, b));
            }
        }
    }

    /// Loads the four columns of sixteen bytes to registers 0 to 3; uses 4 to 7.
    ///
    /// @param offset bytes from the start of the span
    void load(int offset) {
        transpose(a, r -> row(r, offset));
    }

    /// Transposes sixteen bytes of sixteen rows to registers 0 to 3; uses 4 to 7.
    ///
    /// 128-bit pieces of four rows are gathered into a register by inserting loads, and transposed there in
    /// place by two rounds of unpacking.
    ///
    /// @param row where the bytes of a row are
    static void transpose(Assembler a, IntFunction<Mem> row) {
        for (int m = 0; m < 4; m++) {
            a.vmovdqu(xmm(m), row.apply(m));
            for (int lane = 1; lane < 4; lane++) {
                a.vinserti128(zmm(m), zmm(m), row.apply(4 * lane + m), lane);
            }
        }
        a.vpunpckldq(zmm(4), zmm(0), zmm(1));
        a.vpunpckhdq(zmm(5), zmm(0), zmm(1));
        a.vpunpckldq(zmm(6), zmm(2), zmm(3));
        a.vpunpckhdq(zmm(7), zmm(2), zmm(3));
        a.vpunpcklqdq(zmm(0), zmm(4), zmm(6));
        a.vpunpckhqdq(zmm(1), zmm(4), zmm(6));
        a.vpunpcklqdq(zmm(2), zmm(5), zmm(7));
        a.vpunpckhqdq(zmm(3), zmm(5), zmm(7));
    }

    /// Loads a half-precision number of each row as a float.
    ///
    /// @param offset bytes from the start of the span
    /// @param v receives them
    /// @param t temporary
    void halves(int offset, Vec v, Vec t) {
        a.zero(v);
        a.zero(t);
        for (int r = 0; r < ROWS / 2; r++) {
            a.vpinsrw(v, v, row(r, offset), r);
            a.vpinsrw(t, t, row(r + ROWS / 2, offset), r);
        }
        a.vinserti128(v.y(), v.y(), t.x(), 1);
        a.vcvtph2ps(v, v.y());
    }

    /// Stores four levels of each row.
    ///
    /// @param weight the first of them in the span
    /// @param v one row a lane
    void levels(int weight, Vec v) {
        a.vmovdqu(mem(RSI, SHAPE.levels(format, weight / 4)), v);
    }

    /// Stores the scale of a group of each row.
    void scale(int group, Vec v) {
        a.vmovdqu(mem(RSI, SHAPE.placeBytes(format) * group), v);
    }
}
