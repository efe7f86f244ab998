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
import java.util.function.IntFunction;

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
/// The product by `dx` is rounded once: [PackCode#BIAS] cancels without a trace. Tiled formats ([PackTileCode])
/// multiply with it once for the groups that a tile has at a place, whose sums are in registers meanwhile:
///
/// ```
/// dot  = bits of c[t] + levels · q[t];   a += float with these bits * scale
/// v    = a - BIAS * (sum of scale);      sum += v * dx[t]                     at the end of a place in a tile
/// ```
///
/// Each place that a group has in its span keeps a sum over all spans. So that sums stay in registers, the
/// spans of a tile are walked for one place after the other; between them sums lie on the stack (12 KiB at
/// most, less than the JVM keeps free for native calls). In the end the places are added like the lanes of
/// [RowsCode512], as a tree. A value therefore does not depend on the other rows and tokens, nor on which
/// of the functions computes it.
///
/// A function is made for one length of rows: the distance of tokens is then part of every address, without a
/// register for it, and a load can be part of the instruction that needs it. (With an index register the
/// processor takes the two apart again.)
///
/// Arguments: packed rows, panel, out, byte offset of the first token's row, bytes between tokens in out, how
/// many times the function's tokens there are; on the stack the byte offset of the first token in out, and the
/// address of weights that come next: each place fetches a few lines of them to the second-level cache.
abstract sealed class PanelCode permits PanelCode256, PanelCode512 {
    private static final int LINE = 64;
    /// Lines of the next weights that a place fetches: with 128 tokens those of the next panel.
    private static final int FETCHED_LINES = 3;

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
    /// Bytes from the pieces of a row back to dx of its tiles.
    private final int tilesBack;
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
        this.tilesBack = piecesOffset - Math.toIntExact(PackCode.tilesOffset(format, n));
        this.pieceBytes = PackCode.pieceBytes(format);
        this.placeStride = Math.toIntExact(PackCode.spans(n) * pieceBytes);
        this.stride = shape.stride();
        this.places = BlockCode.SPAN / format.group;
        this.sumBytes = tokens * stride;
    }

    /// {@return bytes of the next weights that are fetched while a panel is multiplied once}
    ///
    /// @param n elements in a row
    static long fetchedBytes(BlockCode format, int n) {
        return PackCode.tiles(n) * (BlockCode.SPAN / format.group) * FETCHED_LINES * LINE;
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

    /// {@return the register of a token's sums of half the rows, which the other methods leave alone; of a
    /// tile in tiled formats}
    abstract Vec sum(int token, int half);

    /// {@return the register of the dot products of a token and half of the rows}
    abstract Vec dot(int token, int half);

    /// Loads what stays in registers.
    abstract void emitConstants();

    /// Loads what [#emitDots] expects of the block that RSI points to, in front of a place.
    abstract void emitFirstLoads();

    /// Multiplies a group, whose block RSI points to, with all tokens: integers.
    abstract void emitDots();

    /// Adds these to the sums.
    abstract void emitScaling();

    /// Adds the sums of a tile to those of its place; for tiled formats.
    ///
    /// @param first whether there are none yet
    /// @param scaleSums of half the rows
    abstract void emitTileSums(boolean first, IntFunction<Mem> scaleSums);

    /// {@return activations of token t}
    final Mem q(int t, int disp) {
        return mem(RDI, t * packedBytes + disp);
    }

    /// {@return dx of token t}
    final Mem dx(int t) {
        return format.tiled ? mem(RAX, t * packedBytes) : q(t, PackCode.pieceScales(format));
    }

    /// {@return c of token t}
    final Mem c(int t) {
        return q(t, PackCode.pieceScales(format) + (format.tiled ? 0 : Float.BYTES));
    }

    /// {@return u of token t}
    final Mem u(int t) {
        return q(t, PackCode.pieceScales(format) + 2 * Float.BYTES);
    }

    /// {@return four weights of half the rows}
    final Mem levels(int step, int half) {
        return mem(RSI, shape.headBytes(format) + stride * step + shape.halfBytes() * half);
    }

    /// {@return where the sums of a token and half the rows are between tiles}
    final Mem memory(int t, int half) {
        return mem(RDX, stride * t + shape.halfBytes() * half);
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
        a.mov(R11, Assembler.stackArgument(1, SAVED));
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
    /// RSI and RDI walk through the panel and the pieces of the first token, RDX through the sums, RAX through
    /// its dx of tiles. How many spans a tile has is known here, so nothing is decided while the code runs.
    private void emitTokens() {
        int wholeSpans = units * BlockCode.UNIT / BlockCode.SPAN;
        int rest = units % (BlockCode.SPAN / BlockCode.UNIT);
        int wholeTiles = wholeSpans / PanelShape.TILE;
        a.mov(RDI, mem(RBP, PIECES_START));
        a.mov(RSI, mem(RBP, PANEL_START));
        if (format.tiled) {
            a.lea(RAX, mem(RDI, -tilesBack));
        }
        if (wholeTiles > 0) {
            emitTile(true, PanelShape.TILE, 0);
        }
        if (wholeTiles > 1) {
            String tile = a.fresh("panelTile");
            a.mov(R9, wholeTiles - 1);
            a.label(tile);
            emitTile(false, PanelShape.TILE, 0);
            a.sub(R9, 1);
            a.j(If.NOT_ZERO, tile);
        }
        int lastSpans = wholeSpans % PanelShape.TILE;
        if (lastSpans > 0 || rest > 0) {
            emitTile(wholeTiles == 0, lastSpans, rest);
        }
        emitResults();
    }

    /// Adds a tile to the sums of its places.
    ///
    /// @param first whether sums begin here
    /// @param spans whole spans of the tile
    /// @param rest how many places have a group in a partial span behind them
    private void emitTile(boolean first, int spans, int rest) {
        a.mov(RDX, RSP);
        emitPlaces(first, rest, spans + 1);
        emitPlaces(first, places - rest, spans);
        a.add(RDI, PanelShape.TILE * pieceBytes - places * placeStride);
    }

    /// Adds the groups of a tile that have the same place to the place's sums, for some places.
    ///
    /// @param count how many places
    /// @param spans how many groups each of them has
    private void emitPlaces(boolean first, int count, int spans) {
        if (count == 0) {
            return;
        }
        String place = a.fresh("panelPlace");
        String span = a.fresh("panelSpan");
        a.mov(R8, count);
        a.label(place);
        if (first || format.tiled) {
            forSums((vec, memory) -> a.zero(vec));
        } else {
            forSums((vec, memory) -> a.vmovdqu(vec, memory));
        }
        if (spans > 0) {
            emitFirstLoads();
            a.mov(RCX, spans);
            a.label(span);
            emitDots();
            emitScaling();
            a.add(RSI, shape.blockBytes(format));
            a.add(RDI, pieceBytes);
            a.sub(RCX, 1);
            a.j(If.NOT_ZERO, span);
        }
        if (format.tiled) {
            int behind = shape.scaleSums(format) - spans * shape.blockBytes(format);
            emitTileSums(first, half -> mem(RSI, behind + shape.halfBytes() * half));
            a.add(RAX, Float.BYTES);
        }
        forSums((vec, memory) -> a.vmovdqu(memory, vec));
        for (int i = 0; i < FETCHED_LINES; i++) {
            a.prefetchT1(mem(R11, LINE * i));
        }
        a.add(R11, LINE * FETCHED_LINES);
        a.add(RDX, sumBytes);
        a.add(RSI, shape.placeBytes(format) - spans * shape.blockBytes(format));
        a.add(RDI, placeStride - spans * pieceBytes);
        a.sub(R8, 1);
        a.j(If.NOT_ZERO, place);
    }

    private void forSums(BiConsumer<Vec, Mem> emitter) {
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                emitter.accept(sum(t, h), memory(t, h));
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
