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
import static dev.tenon.kernels.x86.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Vec;
import java.util.function.IntUnaryOperator;

/// Unpacks up to 16 rows to one half of a panel ([PanelShape]), for [PanelCode512].
///
/// A span of each row is unpacked to `temp` as in [RowsCode512]; then 16 × 16 tiles of 32 bits are
/// transposed. Where a format can do it the other way round ([Columns512]) and there are 16 rows, it does.
///
/// Arguments: weights, panel, temp, byte offset of the first row, bytes of a row, rows (1 to 16); on the
/// stack units of 32 in a row, byte offset of the half in the panel.
final class UnpackCode512 {
    private static final PanelShape SHAPE = PanelShape.WIDE;
    private static final int STRIDE = SHAPE.stride();
    private static final int TEMP_SCALES = PanelShape.TEMP_SCALES;
    private static final int TEMP_MINS = PanelShape.TEMP_MINS;
    private static final int SAVED = 5;
    private static final Vec SCALES = zmm(8);
    private static final Vec LEVELS = zmm(12);
    private static final Vec T1 = zmm(13);
    private static final Vec T2 = zmm(14);
    private static final Vec MINS = zmm(15);

    private final Assembler a;
    private final BlockCode format;
    private final String transpose;
    private final Columns512 columns;

    private UnpackCode512(Assembler a, BlockCode format) {
        this.a = a;
        this.format = format;
        this.transpose = a.fresh("transpose");
        this.columns = new Columns512(a, format);
    }

    /// Emits the function.
    static void emit(Assembler a, BlockCode format) {
        new UnpackCode512(a, format).emit();
    }

    // R10 span of row 0, RSI its first block, R14 spans left in the tile, RCX in the row, R15 units, RDI three rows;
    // inside: R11 row, R12 temp, R13 rows left.
    private void emit() {
        String span = a.fresh("unpackSpan");
        String sameTile = a.fresh("unpackSameTile");
        String tail = a.fresh("unpackTail");
        String end = a.fresh("unpackEnd");
        Gpr[] saved = {RBX, R12, R13, R14, R15};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.lea(R10, mem(RDI, RCX, 1, 0));
        a.lea(RDI, mem(R8, R8, 2, 0));
        a.mov(R15, Assembler.stackArgument(0, SAVED));
        a.mov(R14, PanelShape.TILE);
        a.add(RSI, Assembler.stackArgument(1, SAVED));
        format.constants512(a);
        a.mov(RCX, R15);
        a.shr(RCX, 3);
        a.j(If.ZERO, tail);
        a.label(span);
        if (format.hasColumns()) {
            String byRows = a.fresh("unpackByRows");
            String done = a.fresh("unpackDone");
            a.cmp(R9, SHAPE.half());
            a.j(If.LESS, byRows);
            emitSpanByColumns();
            a.jmp(done);
            a.label(byRows);
            emitRows(this::emitSpanOfRow);
            emitTransposes();
            a.label(done);
        } else {
            emitRows(this::emitSpanOfRow);
            emitTransposes();
        }
        a.add(R10, format.spanBytes);
        a.add(RSI, SHAPE.blockBytes(format));
        a.sub(R14, 1);
        a.j(If.NOT_ZERO, sameTile);
        a.add(RSI, SHAPE.tileBytes(format) - PanelShape.TILE * SHAPE.blockBytes(format));
        a.mov(R14, PanelShape.TILE);
        a.label(sameTile);
        a.sub(RCX, 1);
        a.j(If.NOT_ZERO, span);
        a.label(tail);
        if (format.unitBytes > 0) {
            a.mov(RCX, R15);
            a.and(RCX, 7);
            a.j(If.ZERO, end);
            emitRows(this::emitUnitsOfRow);
            emitTransposes();
        }
        a.label(end);
        a.vzeroupper();
        for (int i = saved.length - 1; i >= 0; i--) {
            a.pop(saved[i]);
        }
        a.ret();
        a.label(transpose);
        emitTranspose(i -> SHAPE.levels(format, i));
        a.ret();
    }

    private void emitRows(Runnable row) {
        String next = a.fresh("unpackRow");
        a.mov(R11, R10);
        a.mov(R12, RDX);
        a.mov(R13, R9);
        a.label(next);
        row.run();
        a.add(R11, R8);
        a.add(R12, 64);
        a.sub(R13, 1);
        a.j(If.NOT_ZERO, next);
    }

    private void emitSpanByColumns() {
        if (format.mins) {
            emitRows(this::emitScalesOfRow);
            emitScaleTransposes();
        }
        columns.emitPointers();
        columns.prefetch(format.spanBytes);
        format.columns512(a, columns);
    }

    private void emitScalesOfRow() {
        format.scales512(a, R11, SCALES, MINS, T1, T2);
        a.vmovdqu(mem(R12, TEMP_SCALES), SCALES);
        if (format.mins && format.group == 16) {
            a.vmovdqu(mem(R12, TEMP_MINS), MINS);
        }
    }

    private void emitSpanOfRow() {
        // As in Columns512.
        a.lea(RBX, mem(R11, R8, 8, 0));
        for (int b = 0; b < format.spanBytes; b += 64) {
            a.prefetchT0(mem(R11, format.spanBytes + b));
            a.prefetchT1(mem(RBX, R8, 8, b));
        }
        emitScalesOfRow();
        for (int c = 0; c < 4 * format.levelBytes(); c++) {
            format.levels512(a, R11, c, LEVELS, T1);
            a.vmovdqu(mem(R12, 1024 * c), LEVELS);
        }
    }

    /// RCX units of a last, partial span; what lies after them in the panel is not read.
    private void emitUnitsOfRow() {
        String done = a.fresh("unpackUnits");
        a.mov(RBX, R11);
        for (int k = 0; k < 7; k++) {
            format.unit512(a, RBX, LEVELS, T1);
            if (format.words) {
                a.vmovdqu(mem(R12, 1024 * k), LEVELS);
            } else {
                a.vmovdqu(mem(R12, 1024 * (k >> 1) + 32 * (k & 1)), LEVELS.y());
            }
            format.unitScale(a, RBX, SCALES);
            a.vmovss(mem(R12, TEMP_SCALES + Float.BYTES * k), SCALES);
            a.add(RBX, format.unitBytes);
            a.cmp(RCX, k + 1);
            a.j(If.LESS_OR_EQUAL, done);
        }
        a.label(done);
    }

    private void emitTransposes() {
        a.mov(RAX, RDX);
        a.mov(RBX, RSI);
        for (int c = 0; c < 4 * format.levelBytes(); c++) {
            a.call(transpose);
            a.add(RAX, 1024);
            a.add(RBX, 16 / SHAPE.steps(format) * SHAPE.placeBytes(format));
        }
        emitScaleTransposes();
    }

    private void emitScaleTransposes() {
        a.lea(RAX, mem(RDX, TEMP_SCALES));
        a.mov(RBX, RSI);
        int stride = SHAPE.placeBytes(format);
        if (format.group == 16) {
            emitTranspose(i -> stride * i);
            if (format.mins) {
                a.add(RAX, 1024);
                emitTranspose(i -> stride * i + STRIDE);
            }
        } else if (format.mins) {
            emitTranspose(i -> i < 8 ? stride * i : stride * (i - 8) + STRIDE);
        } else {
            emitTranspose(i -> i < 8 ? stride * i : -1);
        }
    }

    /// Transposes 16 rows of 64 bytes at RAX; column i goes to RBX + `to(i)`, or nowhere if that is
    /// negative.
    private void emitTranspose(IntUnaryOperator to) {
        for (int j = 0; j < 4; j++) {
            int part = 16 * j;
            Columns512.transpose(a, row -> mem(RAX, 64 * row + part));
            for (int i = 0; i < 4; i++) {
                int disp = to.applyAsInt(4 * j + i);
                if (disp >= 0) {
                    a.vmovdqu(mem(RBX, disp), zmm(i));
                }
            }
        }
    }
}
