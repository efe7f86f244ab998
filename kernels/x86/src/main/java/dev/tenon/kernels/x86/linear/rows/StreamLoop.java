package dev.tenon.kernels.x86.linear.rows;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.xmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.StreamMicroKernel;
import dev.tenon.kernels.x86.block.Tiles;
import dev.tenon.kernels.x86.cpu.Prefetch;

/// Four streams of rows times one token with AVX-512 VNNI, for formats that take a span of all four
/// at once ([StreamMicroKernel]). Results are those of [RowLoop512], bit for bit.
///
/// Arguments: as those of [RowLoop512] with streams; the last one is the byte offset in out of the
/// memory for spread activations instead.
public final class StreamLoop {
    private static final Gpr[] SAVED = {RBX, RBP, R12, R13, R14, R15};

    private StreamLoop() {}

    // RDI row of the first stream, RDX out, R8 bytes of a row, R9 rows left, R12 and R14 once and three times the
    // distance of streams, RSI spans left, R13 those of the tile, R15 spans, RBP spread activations.
    /// Emits the function.
    public static void emit(Assembler a, BlockCode format, StreamMicroKernel four) {
        String row = a.fresh("streamsRow");
        String tile = a.fresh("streamsTile");
        String span = a.fresh("streamsSpan");
        String end = a.fresh("streamsEnd");
        a.push(SAVED);
        a.add(RDI, RCX);
        a.mov(R12, Assembler.stackArgument(0, SAVED.length));
        a.lea(R14, mem(R12, R12, 2, 0));
        a.mov(R15, Assembler.stackArgument(3, SAVED.length));
        a.shr(R15, 3);
        a.mov(RBP, Assembler.stackArgument(4, SAVED.length));
        a.add(RBP, RDX);
        prefetchFirst(a);
        emitSpread(a, format, four);
        four.constants(a);
        a.label(row);
        a.cmp(R9, 0);
        a.j(If.LESS_OR_EQUAL, end);
        a.mov(R10, RDI);
        a.lea(Gpr.R11, mem(RDI, R12, 1, 0));
        a.lea(RBX, mem(RDI, R12, 2, 0));
        a.lea(RAX, mem(RDI, R14, 1, 0));
        a.mov(RCX, RBP);
        a.mov(RSI, R15);
        for (Vec v : four.sums()) {
            a.zero(v);
        }
        a.label(tile);
        Tiles.begin(a, format, R13, RSI);
        a.align(32);
        a.label(span);
        for (int s = 0; s < StreamMicroKernel.ROWS.length; s++) {
            Prefetch.here().stream(s).emit(a, StreamMicroKernel.ROWS[s], format.spanBytes);
        }
        four.span(a);
        for (Gpr w : StreamMicroKernel.ROWS) {
            a.add(w, format.spanBytes);
        }
        a.add(RCX, four.spreadBytes);
        a.loop(R13, span);
        if (format.tiled) {
            four.endTile(a);
            a.add(RCX, four.spreadBytes);
            a.cmp(RSI, 0);
            a.j(If.NOT_ZERO, tile);
        }
        four.results(a);
        a.mov(R13, Assembler.stackArgument(2, SAVED.length));
        a.vmovss(mem(RDX), xmm(0));
        a.vextractps(mem(RDX, R13, 1, 0), xmm(0), 1);
        a.vextractps(mem(RDX, R13, 2, 0), xmm(0), 2);
        a.lea(RSI, mem(R13, R13, 2, 0));
        a.vextractps(mem(RDX, RSI, 1, 0), xmm(0), 3);
        a.add(RDX, Float.BYTES);
        a.add(RDI, R8);
        a.sub(R9, 1);
        a.jmp(row);
        a.label(end);
        a.end(SAVED);
    }

    /// Fetches what the loop does not: how each stream begins, while activations are spread.
    private static void prefetchFirst(Assembler a) {
        Prefetch here = Prefetch.here();
        int last = StreamMicroKernel.ROWS.length - 1;
        for (int b = 0; b < here.stream(last).firstBytes(); b += 64) {
            for (int s = 0; s <= last; s++) {
                if (b < here.stream(s).firstBytes()) {
                    a.prefetchT0(s == 0 ? mem(RDI, b) : s == 3 ? mem(RDI, R14, 1, b) : mem(RDI, R12, s, b));
                }
            }
        }
    }

    private static void emitSpread(Assembler a, BlockCode format, StreamMicroKernel four) {
        String tile = a.fresh("streamsSpreadTile");
        String next = a.fresh("streamsSpread");
        a.mov(R13, Assembler.stackArgument(1, SAVED.length));
        a.add(R13, RSI);
        a.mov(RCX, RBP);
        a.mov(R10, R15);
        a.imul(RAX, R15, PackedActivations.scaleBytes(format));
        a.add(RAX, R13);
        a.label(tile);
        Tiles.begin(a, format, RBX, R10);
        a.label(next);
        four.spread(a, RSI, R13, RCX);
        a.add(RSI, BlockCode.SPAN * format.levelBytes());
        a.add(R13, PackedActivations.scaleBytes(format));
        a.add(RCX, four.spreadBytes);
        a.loop(RBX, next);
        if (format.tiled) {
            four.spreadTile(a, RAX, RCX);
            a.add(RAX, PackedActivations.arrayBytes(format));
            a.add(RCX, four.spreadBytes);
            a.cmp(R10, 0);
            a.j(If.NOT_ZERO, tile);
        }
    }
}
