package dev.tenon.kernels.x86.attention;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Attention of query rows to a page of 64 positions, with AVX2 or AVX-512; both give the same
/// bits.
///
/// Up to six rows at a time go through three parts ([AttentionTile], [WeighCode]):
///
/// ```
///              64 positions →                              elements →
///   rows ↓    scores = q · keys      weights = e^(s - m)   acc = acc · keep + weights · values
///             24 registers of sums   one row at a time     24 registers of sums, 64 elements at once
///             (AVX2: up to 12)                             (AVX2: up to 12; 64, 32 or 16 elements)
/// ```
///
/// Keys and values of few rows are read where they lie, in F16 or F32. For many rows, and from
/// Q8_0, they are first made float32 in scratch memory ([AttentionPages]):
///
/// ```
///   scratch:  weights [6, 64] | keep [16] | seen [64] | keys [keyLength, 64] | values [64, valueLength]
/// ```
///
/// Arguments: keys, values, scratch, q, max, sum; on the stack acc, runs, number of runs, and the
/// positions whose values are made float32 first, which are none where pages are read in place.
///
/// RDI keys, RSI values, RDX scratch, RCX q, R8 max, R9 sum, RBP acc, R12 run, R13 runs left, R14
/// rows left in it, R15 row. Which positions are seen, k1 to k4 say, with AVX2 the bits of "seen".
/// Free: RAX, RBX, R10, R11.
final class AttentionCode {
    /// Rows of a tile, at most.
    static final int ROWS = 6;
    /// Positions in a page.
    static final int TOKENS = 64;
    /// Bytes of a row of weights.
    static final int WEIGHTS_ROW = TOKENS * Float.BYTES;
    /// Where the factors of the rows are in scratch memory.
    static final int KEEP = ROWS * WEIGHTS_ROW;
    /// Where it is, with AVX2, in scratch memory which positions are seen: all bits of their 32, or
    /// none.
    static final int SEEN = KEEP + 64;
    /// Where float keys are in scratch memory.
    static final int KEYS = SEEN + TOKENS * Integer.BYTES;

    private static final int RUN_BYTES = 4 * Integer.BYTES;
    private static final int RUN_FROM = 2 * Integer.BYTES;
    private static final int RUN_TO = 3 * Integer.BYTES;
    private static final Gpr[] SAVED = {RBX, RBP, R12, R13, R14, R15};

    private final Assembler a;
    private final AttentionShape shape;

    private AttentionCode(Assembler a, AttentionShape shape) {
        this.a = a;
        this.shape = shape;
    }

    /// Emits the function and what it calls.
    ///
    /// @param shape types and lengths
    static void emit(Assembler a, AttentionShape shape) {
        new AttentionCode(a, shape).emit();
    }

    private void emit() {
        String floats = a.fresh("attendFloats");
        String end = a.fresh("attendEnd");
        String weigh = a.fresh("weigh");
        a.push(SAVED);
        a.mov(RBP, Assembler.stackArgument(0, SAVED.length));
        a.mov(R12, Assembler.stackArgument(1, SAVED.length));
        a.mov(R13, Assembler.stackArgument(2, SAVED.length));
        a.mov(R10, Assembler.stackArgument(3, SAVED.length));
        a.mov(R11, Assembler.stackArgument(4, SAVED.length));
        String[] tiles = names("tile");
        String[] floatTiles = names("floatTile");
        boolean inPlace = shape.type() != AttentionShape.Type.Q8_0;
        boolean converts = shape.type() != AttentionShape.Type.F32;
        if (inPlace) {
            a.cmp(R10, R11);
            a.j(If.NOT_ZERO, floats);
            emitRuns(tiles);
            a.jmp(end);
        }
        a.label(floats);
        if (converts) {
            AttentionPages.emit(a, shape);
            a.lea(RDI, mem(RDX, AttentionCode.KEYS));
            a.lea(RSI, mem(RDX, shape.valuesAt()));
            emitRuns(floatTiles);
        }
        a.label(end);
        a.end(SAVED);
        for (int rows = 1; rows <= ROWS; rows++) {
            if (inPlace) {
                new AttentionTile(a, shape, rows, shape.type()).emit(tiles[rows - 1], weigh);
            }
            if (converts) {
                new AttentionTile(a, shape, rows, AttentionShape.Type.F32).emit(floatTiles[rows - 1], weigh);
            }
        }
        a.align(64);
        a.label(weigh);
        WeighCode.emit(a);
    }

    private String[] names(String hint) {
        String[] names = new String[ROWS];
        for (int i = 0; i < ROWS; i++) {
            names[i] = a.fresh(hint);
        }
        return names;
    }

    /// Walks the runs, and the rows of each, six at a time and then the rest.
    private void emitRuns(String[] tiles) {
        String run = a.fresh("run");
        String six = a.fresh("six");
        String rest = a.fresh("rest");
        String next = a.fresh("nextRun");
        a.label(run);
        if (a.evex) {
            emitSeenMasks();
        } else {
            emitSeenBits();
        }
        a.mov32(R15, mem(R12));
        a.mov32(R14, mem(R12, Integer.BYTES));
        a.label(six);
        a.cmp(R14, ROWS);
        a.j(If.LESS, rest);
        a.call(tiles[ROWS - 1]);
        a.add(R15, ROWS);
        a.sub(R14, ROWS);
        a.jmp(six);
        a.label(rest);
        for (int rows = ROWS - 1; rows > 0; rows--) {
            String fewer = a.fresh("fewer");
            a.cmp(R14, rows);
            a.j(If.NOT_ZERO, fewer);
            a.call(tiles[rows - 1]);
            a.jmp(next);
            a.label(fewer);
        }
        a.label(next);
        a.add(R12, RUN_BYTES);
        a.loop(R13, run);
    }

    private void emitSeenMasks() {
        for (int v = 0; v < 4; v++) {
            int first = 16 * v;
            Vec positions = zmm(v);
            a.vmovdqu(positions, a.constant(lane -> first + lane));
            a.vpcmpltd(v + 1, positions, mem(R12, RUN_TO).bcst());
            a.vpcmpnltd(v + 1, positions, mem(R12, RUN_FROM).bcst());
        }
    }

    private void emitSeenBits() {
        Vec from = ymm(0);
        Vec to = ymm(1);
        Vec before = ymm(2);
        Vec seen = ymm(3);
        a.vpbroadcastd(from, mem(R12, RUN_FROM));
        a.vpbroadcastd(to, mem(R12, RUN_TO));
        for (int first = 0; first < TOKENS; first += 8) {
            int position = first;
            Mem positions = a.constant(lane -> position + lane);
            a.vpcmpgtd(before, from, positions);
            a.vpcmpgtd(seen, to, positions);
            a.vpandn(seen, before, seen);
            a.vmovdqu(mem(RDX, SEEN + first * Integer.BYTES), seen);
        }
    }

    /// Loads the position that a run begins or ends with.
    static void loadFrom(Assembler a, Gpr d) {
        a.mov32(d, mem(R12, RUN_FROM));
    }

    /// As [#loadFrom].
    static void loadTo(Assembler a, Gpr d) {
        a.mov32(d, mem(R12, RUN_TO));
    }
}
