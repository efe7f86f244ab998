package dev.tenon.kernels.x86.linear.panels;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
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
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.Columns;
import dev.tenon.kernels.x86.block.PanelShape;
import java.util.function.IntUnaryOperator;

/// Unpacks up to 16 rows (AVX2: 8) to one part of a panel ([PanelShape]), for [PanelLoop].
///
/// A span of each row is unpacked to `temp` as in `RowLoop512` or `RowLoop256`; then pieces of 64
/// bytes of all rows are transposed. Where a format can do it the other way round ([Columns]) and
/// the part is full, it does.
///
/// Arguments: weights, panel, temp, byte offset of the first row, bytes of a row, rows; on the
/// stack units of 32 in a row, byte offset of the part in the panel.
public final class UnpackCode {
    private static final int TEMP_SCALES = PanelShape.TEMP_SCALES;
    private static final int TEMP_MINS = PanelShape.TEMP_MINS;
    private static final Gpr[] SAVED = {RBX, R12, R13, R14, R15};
    /// Bytes of a row in a piece of `temp`.
    private static final int PIECE = 64;

    private final Assembler a;
    private final BlockCode format;
    private final PanelShape shape;
    private final String transpose;
    private final Columns columns;
    private final Vec scales;
    private final Vec levels;
    private final Vec t1;
    private final Vec t2;
    private final Vec mins;

    private UnpackCode(Assembler a, BlockCode format, PanelShape shape) {
        this.a = a;
        this.format = format;
        this.shape = shape;
        this.transpose = a.fresh("transpose");
        this.columns = new Columns(a, format, shape);
        this.scales = shape.vec(8);
        this.levels = shape.vec(12);
        this.t1 = shape.vec(13);
        this.t2 = shape.vec(14);
        this.mins = shape.vec(15);
    }

    /// Emits the function.
    public static void emit(Assembler a, BlockCode format, PanelShape shape) {
        new UnpackCode(a, format, shape).emit();
    }

    // R10 span of row 0, RSI its first block, R14 spans left in the tile, RCX in the row, RDI three rows; R15 units, or
    // in tiled formats the sums of scales of the tile's first place; inside: R11 row, R12 temp, R13 rows left.
    private void emit() {
        String span = a.fresh("unpackSpan");
        String sameTile = a.fresh("unpackSameTile");
        String tail = a.fresh("unpackTail");
        String end = a.fresh("unpackEnd");
        a.push(SAVED);
        a.lea(R10, mem(RDI, RCX, 1, 0));
        a.lea(RDI, mem(R8, R8, 2, 0));
        a.mov(R15, Assembler.stackArgument(0, SAVED.length));
        a.mov(R14, PanelShape.TILE);
        a.add(RSI, Assembler.stackArgument(1, SAVED.length));
        if (a.evex) {
            format.constants512(a);
        }
        a.mov(RCX, R15);
        a.shr(RCX, 3);
        a.j(If.ZERO, tail);
        if (format.tiled) {
            a.lea(R15, mem(RSI, shape.scaleSums(format)));
        }
        a.label(span);
        if (format.hasColumns()) {
            String byRows = a.fresh("unpackByRows");
            String done = a.fresh("unpackDone");
            a.cmp(R9, shape.lanes());
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
        if (format.tiled) {
            emitScaleSums();
        }
        a.add(R10, format.spanBytes);
        a.add(RSI, shape.blockBytes(format));
        a.loop(R14, sameTile);
        a.add(RSI, shape.tileBytes(format) - PanelShape.TILE * shape.blockBytes(format));
        a.mov(R14, PanelShape.TILE);
        if (format.tiled) {
            a.lea(R15, mem(RSI, shape.scaleSums(format)));
        }
        a.label(sameTile);
        a.loop(RCX, span);
        a.label(tail);
        if (format.blockBytes > 0) {
            a.mov(RCX, R15);
            a.and(RCX, 7);
            a.j(If.ZERO, end);
            emitRows(this::emitUnitsOfRow);
            emitTransposes();
        }
        a.label(end);
        a.end(SAVED);
        a.label(transpose);
        emitTranspose(i -> shape.levels(format, i));
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
        a.add(R12, PIECE);
        a.loop(R13, next);
    }

    private void emitSpanByColumns() {
        if (!format.columnsHaveScales()) {
            emitRows(this::emitScalesOfRow);
            emitScaleTransposes();
        }
        columns.emitPointers();
        columns.prefetch(format.spanBytes);
        format.columns(a, columns);
    }

    private void emitScalesOfRow() {
        if (!a.evex) {
            format.scales256(
                    a, R11, mem(R12, TEMP_SCALES), mem(R12, format.group == 16 ? TEMP_MINS : TEMP_SCALES + 32));
            return;
        }
        format.scales512(a, R11, scales, mins, t1, t2);
        a.vmovdqu(mem(R12, TEMP_SCALES), scales);
        if (format.mins && format.group == 16) {
            a.vmovdqu(mem(R12, TEMP_MINS), mins);
        }
    }

    private void emitSpanOfRow() {
        // What comes next in the row, and the same span of the next part of the panel, which no hardware prefetcher
        // guesses.
        a.lea(RBX, mem(R11, R8, 8, 0));
        for (int b = 0; b < format.spanBytes; b += 64) {
            a.prefetchT0(mem(R11, format.spanBytes + b));
            a.prefetchT1(mem(RBX, R8, 8, b));
        }
        emitScalesOfRow();
        for (int c = 0; c < 4 * format.levelBytes(); c++) {
            if (a.evex) {
                format.levels512(a, R11, c, levels, t1);
                a.vmovdqu(piece(c, 0), levels);
            } else {
                emitLevels256(R11, 2 * c);
                emitLevels256(R11, 2 * c + 1);
            }
        }
    }

    /// {@return where levels of the row at R12 are}
    private Mem piece(int piece, int disp) {
        return mem(R12, PIECE * shape.lanes() * piece + disp);
    }

    private void emitLevels256(Gpr from, int unit) {
        format.levels256(a, from, unit, levels, t1);
        a.vmovdqu(piece(unit >> 1, 32 * (unit & 1)), levels);
    }

    /// RCX units of a last, partial span; what lies after them in the panel is not read.
    private void emitUnitsOfRow() {
        String done = a.fresh("unpackUnits");
        a.mov(RBX, R11);
        for (int k = 0; k < 7; k++) {
            if (a.evex) {
                format.unit512(a, RBX, k % format.blockUnits, levels, t1);
            } else {
                format.levels256(a, RBX, k % format.blockUnits, levels, t1);
            }
            if (!format.words) {
                a.vmovdqu(piece(k >> 1, 32 * (k & 1)), levels.y());
            } else {
                a.vmovdqu(piece(k, 0), levels);
                if (!a.evex) {
                    format.levels256(a, RBX, 1, levels, t1);
                    a.vmovdqu(piece(k, 32), levels);
                }
            }
            format.unitScale(a, RBX, scales);
            a.vmovss(mem(R12, TEMP_SCALES + Float.BYTES * k), scales);
            if (format.mins) {
                format.unitMin(a, RBX, mins);
                a.vmovss(mem(R12, TEMP_SCALES + 32 + Float.BYTES * k), mins);
            }
            if ((k + 1) % format.blockUnits == 0) {
                a.add(RBX, format.blockBytes);
            }
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
            a.add(RAX, PIECE * shape.lanes());
            a.add(RBX, 16 / shape.dwords(format) * shape.placeBytes(format));
        }
        emitScaleTransposes();
    }

    private void emitScaleTransposes() {
        a.lea(RAX, mem(RDX, TEMP_SCALES));
        a.mov(RBX, RSI);
        int stride = shape.placeBytes(format);
        if (format.group == 16) {
            emitTranspose(i -> stride * i);
            if (format.mins) {
                a.add(RAX, TEMP_MINS - TEMP_SCALES);
                emitTranspose(i -> stride * i + shape.stride());
            }
        } else if (format.mins) {
            emitTranspose(i -> i < 8 ? stride * i : stride * (i - 8) + shape.stride());
        } else {
            emitTranspose(i -> i < 8 ? stride * i : -1);
        }
    }

    /// Adds the span's scales to the sums of its tile, which begin with the first span's.
    private void emitScaleSums() {
        String more = a.fresh("unpackMore");
        String done = a.fresh("unpackSums");
        a.cmp(R14, PanelShape.TILE);
        a.j(If.NOT_ZERO, more);
        for (int place = 0; place < BlockCode.SPAN / format.group; place++) {
            a.vmovdqu(scales, mem(RSI, place * shape.placeBytes(format)));
            a.vmovdqu(mem(R15, place * shape.placeBytes(format)), scales);
        }
        a.jmp(done);
        a.label(more);
        for (int place = 0; place < BlockCode.SPAN / format.group; place++) {
            a.vmovdqu(scales, mem(R15, place * shape.placeBytes(format)));
            a.vaddps(scales, scales, mem(RSI, place * shape.placeBytes(format)));
            a.vmovdqu(mem(R15, place * shape.placeBytes(format)), scales);
        }
        a.label(done);
    }

    /// Transposes 64 bytes of each row at RAX; column i goes to RBX + `to(i)`, or nowhere if that
    /// is negative.
    private void emitTranspose(IntUnaryOperator to) {
        for (int j = 0; j < 4; j++) {
            int part = 16 * j;
            Columns.transpose(a, shape, row -> mem(RAX, PIECE * row + part));
            for (int i = 0; i < 4; i++) {
                int disp = to.applyAsInt(4 * j + i);
                if (disp >= 0) {
                    a.vmovdqu(mem(RBX, disp), shape.vec(i));
                }
            }
        }
    }
}
