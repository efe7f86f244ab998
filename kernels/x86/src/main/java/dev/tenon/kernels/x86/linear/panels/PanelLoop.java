package dev.tenon.kernels.x86.linear.panels;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSP;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;

/// A panel of unpacked rows ([PanelShape]) times some tokens: the loops, and the order of
/// additions.
///
/// A register has the rows of one part of a panel in its lanes. For each group of weights the dot
/// products of all (row, token) pairs are gathered in registers of 32-bit integers: four weights of
/// these rows with four activations of one token, repeated in all lanes. Then, with float sums in
/// as many other registers:
///
/// ```
/// dot  = bits of c[t] + levels · q[t];   sum += (float with these bits * dx[t] + u[t]) * scale
/// dot  = bits of BIAS + levels · q[t];   sum += (...) * scale;  sum += min * c[t]     with minimums
/// dot  = levels · q[t];                  sum += (dot as float * dx[t]) * scale        with words
/// ```
///
/// The product by `dx` is rounded once: [PackedActivations#BIAS] cancels without a trace. Tiled
/// formats (`PackTileCode`) multiply with it once for the groups that a tile has at a place, whose
/// sums are in registers meanwhile:
///
/// ```
/// dot  = bits of c[t] + levels · q[t];   a += float with these bits * scale
/// v    = a - BIAS * (sum of scale);      sum += v * dx[t]                     at the end of a place in a tile
/// ```
///
/// Each place that a group has in its span keeps a sum over all spans. So that sums stay in
/// registers, and the pieces of a token are read in the order of their addresses, rows are walked
/// for one place after the other. Rows of one tile are walked twice for each: for as many tokens as
/// the registers hold and, with that part of the panel in the first-level cache, for as many
/// others. Finished sums lie on the stack (24 KiB at most, less than the JVM keeps free for native
/// calls). In the end the places are added like the lanes of `RowLoop512`, as a tree. A value
/// therefore does not depend on the other rows and tokens, nor on which of the functions computes
/// it.
///
/// A function is made for one length of rows: the distance of tokens is then part of every address,
/// without a register for it, and a load can be part of the instruction that needs it. (With an
/// index register the processor takes the two apart again.)
///
/// Arguments: packed rows, panel, out, byte offset of the first token's row, bytes between tokens
/// in out, how many runs of the function's tokens there are; on the stack the byte offset of the
/// first token in out, and the address of weights that come next: each place of a tile fetches a
/// few lines of them to the second-level cache.
public abstract sealed class PanelLoop permits PanelLoop256, PanelLoop512 {
    private static final int LINE = 64;
    /// Lines of the next weights that a place fetches at a time.
    private static final int FETCHED_LINES = 3;
    /// How often it does so at most: with more lines at once, few tokens would wait for them.
    private static final int MOST_FETCHES = 4;

    /// Most runs of a place, each for the function's tokens, in rows of one tile.
    private static final int RUNS = 2;

    private static final Gpr[] SAVED = {RBP, RBX, R12};
    /// What is kept on the stack below the saved registers: pointers to the pieces of the first
    /// token, to the panel, to out; bytes between tokens in out; how many runs are left, and how
    /// many there are now; how often a place fetches.
    private static final int PIECES_START = 8;
    private static final int PANEL_START = 16;
    private static final int OUT_START = 24;
    private static final int OUT_STRIDE = 32;
    private static final int RUNS_LEFT = 40;
    private static final int FETCHES = 48;
    private static final int RUNS_NOW = 0;

    final Assembler a;
    final BlockCode format;
    final PanelShape shape;
    final int tokens;
    /// Units of 32 in a row.
    private final int units;
    /// Bytes of a packed row, of those of a run's tokens, and up to the pieces of a row.
    private final int packedBytes;
    private final int runBytes;
    private final int piecesOffset;
    /// Bytes from the pieces of a row back to dx of its tiles.
    private final int tilesBack;
    /// Bytes of a piece, and from the pieces of one place to those of the next.
    private final int pieceBytes;
    private final int placeStride;
    /// Bytes of four weights of all rows.
    private final int stride;
    /// Groups of a span, bytes of a run's sums of one place in a span, and most runs of a place.
    private final int places;
    private final int sumBytes;
    private final int runs;

    PanelLoop(Assembler a, BlockCode format, PanelShape shape, int tokens, int n) {
        this.a = a;
        this.format = format;
        this.shape = shape;
        this.tokens = tokens;
        this.units = n / BlockCode.UNIT;
        this.packedBytes = Math.toIntExact(PackedActivations.packedBytes(format, n));
        this.runBytes = Math.multiplyExact(tokens, packedBytes);
        this.piecesOffset = Math.toIntExact(PackedActivations.piecesOffset(format, n));
        this.tilesBack = piecesOffset - Math.toIntExact(PackedActivations.tilesOffset(format, n));
        this.pieceBytes = PackedActivations.pieceBytes(format);
        this.placeStride = Math.toIntExact(PackedActivations.spans(n) * pieceBytes);
        this.stride = shape.stride();
        this.places = BlockCode.SPAN / format.group;
        this.sumBytes = tokens * stride;
        this.runs = PackedActivations.tiles(n) == 1 ? RUNS : 1;
    }

    /// {@return bytes of the next weights that a run fetches for each time that its places do}
    ///
    /// @param n elements in a row
    public static long fetchedBytes(BlockCode format, int n) {
        return PackedActivations.tiles(n) * (BlockCode.SPAN / format.group) * FETCHED_LINES * LINE;
    }

    /// {@return how often each place has to fetch, so that some runs fetch a whole panel, or most
    /// of it}
    ///
    /// @param n elements in a row
    /// @param rows rows of a panel
    /// @param runs how many runs there are, of either function
    public static int fetches(BlockCode format, int n, int rows, int runs) {
        long all = runs * fetchedBytes(format, n);
        return (int) Math.min((rows * format.rowBytes(n) + all - 1) / all, MOST_FETCHES);
    }

    /// Emits the function.
    ///
    /// @param set which instructions may be used
    /// @param tokens `many` or `few` of the set's shape
    /// @param n elements in a row
    public static void emit(Assembler a, BlockCode format, FeatureSet set, int tokens, int n) {
        PanelLoop code = set.wide
                ? new PanelLoop512(a, format, tokens, n)
                : new PanelLoop256(a, format, tokens, n, set == FeatureSet.AVX_VNNI);
        code.emit();
    }

    /// {@return the register of a token's sums of one part of the rows, which the other methods
    /// leave alone; of a tile in tiled formats}
    final Vec sum(int token, int part) {
        return shape.vec(2 * shape.many() + 2 * token + part);
    }

    /// {@return the register of the dot products of a token and one part of the rows}
    final Vec dot(int token, int part) {
        return shape.vec(2 * token + part);
    }

    /// Loads what [#emitDots] expects of the block that RSI points to, in front of a place.
    void emitFirstLoads() {}

    /// Multiplies a group, whose block RSI points to, with all tokens: integers.
    abstract void emitDots();

    /// Adds these to the sums.
    abstract void emitScaling();

    /// Adds the sums of a tile to those of its place; for tiled formats.
    ///
    /// @param first whether there are none: the row has one tile
    /// @param scaleSums of one part of the rows
    abstract void emitTileSums(boolean first, IntFunction<Mem> scaleSums);

    /// {@return activations of token t}
    final Mem q(int t, int disp) {
        return mem(RDI, t * packedBytes + disp);
    }

    /// {@return dx of token t}
    final Mem dx(int t) {
        return format.tiled ? mem(RAX, t * packedBytes) : q(t, PackedActivations.pieceScales(format));
    }

    /// {@return c of token t}
    final Mem c(int t) {
        return q(t, PackedActivations.pieceScales(format) + (format.tiled ? 0 : Float.BYTES));
    }

    /// {@return u of token t}
    final Mem u(int t) {
        return q(t, PackedActivations.pieceScales(format) + 2 * Float.BYTES);
    }

    /// {@return four weights of one part of the rows}
    final Mem levels(int dword, int part) {
        return mem(RSI, shape.headBytes(format) + stride * dword + shape.registerBytes() * part);
    }

    /// {@return where a place's sums of a token and one part of the rows are}
    final Mem memory(int t, int part) {
        return mem(RDX, stride * t + shape.registerBytes() * part);
    }

    /// {@return scales of one part of the rows}
    final Mem scale(int part) {
        return mem(RSI, shape.registerBytes() * part);
    }

    /// {@return minimums of one part of the rows}
    final Mem min(int part) {
        return mem(RSI, stride + shape.registerBytes() * part);
    }

    private void emit() {
        a.push(SAVED);
        a.add(RDI, RCX);
        a.add(RDI, piecesOffset);
        a.add(RSI, PanelShape.TEMP_BYTES);
        a.add(RDX, Assembler.stackArgument(0, SAVED.length));
        a.mov(R11, Assembler.stackArgument(1, SAVED.length));
        a.mov(R10, Assembler.stackArgument(2, SAVED.length));
        Gpr[] kept = {R10, R9, R8, RDX, RSI, RDI, R9};
        a.push(kept);
        a.mov(RBP, RSP);
        a.sub(RSP, places * runs * sumBytes);
        a.and(RSP, -64);
        String next = a.fresh("panelRuns");
        a.label(next);
        a.mov(R10, runs);
        a.mov(R9, mem(RBP, RUNS_LEFT));
        a.cmp(R10, R9);
        a.cmov(If.GREATER, R10, R9);
        a.mov(mem(RBP, RUNS_NOW), R10);
        a.imul(RBX, R10, runBytes);
        a.imul(R12, R10, sumBytes);
        emitRuns();
        a.mov(R10, mem(RBP, PIECES_START));
        a.add(R10, RBX);
        a.mov(mem(RBP, PIECES_START), R10);
        a.mov(R10, mem(RBP, RUNS_LEFT));
        a.mov(R9, mem(RBP, RUNS_NOW));
        a.sub(R10, R9);
        a.mov(mem(RBP, RUNS_LEFT), R10);
        a.j(If.GREATER, next);
        a.lea(RSP, mem(RBP, kept.length * Long.BYTES));
        a.end(SAVED);
    }

    /// Multiplies the panel with the tokens of some runs; what is at RBP points to them.
    ///
    /// RSI and RDI walk through the panel and the pieces of a run's first token, RDX through the
    /// sums, RAX through the token's dx of tiles. RBX is how far all runs are apart in packed rows,
    /// R12 in sums. How many spans a tile has is known here, so nothing is decided while the code
    /// runs.
    private void emitRuns() {
        int spans = units * BlockCode.UNIT / BlockCode.SPAN;
        int rest = units % (BlockCode.SPAN / BlockCode.UNIT);
        a.mov(RDI, mem(RBP, PIECES_START));
        a.mov(RSI, mem(RBP, PANEL_START));
        a.mov(RDX, RSP);
        if (format.tiled) {
            a.lea(RAX, mem(RDI, -tilesBack));
        }
        emitPlaces(rest, spans + 1);
        emitPlaces(places - rest, spans);
        emitResults();
    }

    /// Adds up the groups of some places, each over the whole row.
    ///
    /// @param count how many places
    /// @param spans how many groups each of them has
    private void emitPlaces(int count, int spans) {
        if (count == 0) {
            return;
        }
        int tiles = (spans + PanelShape.TILE - 1) / PanelShape.TILE;
        String place = a.fresh("panelPlace");
        String run = a.fresh("panelRun");
        a.mov(R8, count);
        a.label(place);
        a.mov(R10, mem(RBP, RUNS_NOW));
        a.label(run);
        emitPlace(spans, tiles);
        a.sub(RSI, tiles * shape.tileBytes(format));
        a.add(RDI, runBytes - spans * pieceBytes);
        a.add(RDX, sumBytes);
        if (format.tiled) {
            a.add(RAX, runBytes - tiles * PackedActivations.arrayBytes(format));
        }
        a.loop(R10, run);
        a.add(RSI, shape.placeBytes(format));
        a.sub(RDI, RBX);
        a.add(RDI, placeStride);
        a.sub(RDX, R12);
        a.add(RDX, runs * sumBytes);
        if (format.tiled) {
            a.sub(RAX, RBX);
            a.add(RAX, Float.BYTES);
        }
        a.loop(R8, place);
    }

    /// Adds up the groups of a place for one run.
    ///
    /// @param spans how many groups there are
    /// @param tiles how many tiles they are in
    private void emitPlace(int spans, int tiles) {
        int wholeTiles = spans / PanelShape.TILE;
        boolean several = tiles > 1;
        if (!format.tiled || several) {
            forSums((vec, memory) -> a.zero(vec));
        }
        if (format.tiled && several) {
            forSums((vec, memory) -> a.vmovdqu(memory, vec));
        }
        if (wholeTiles > 0) {
            String tile = a.fresh("panelTile");
            a.mov(R9, wholeTiles);
            a.label(tile);
            emitTile(PanelShape.TILE, !several);
            a.loop(R9, tile);
        }
        if (wholeTiles < tiles) {
            emitTile(spans % PanelShape.TILE, !several);
        }
        if (!format.tiled) {
            forSums((vec, memory) -> a.vmovdqu(memory, vec));
        }
    }

    /// Adds the groups of a tile that have the same place to the place's sums.
    ///
    /// @param spans how many there are
    /// @param only whether the row has no other tile
    private void emitTile(int spans, boolean only) {
        String span = a.fresh("panelSpan");
        if (format.tiled) {
            forSums((vec, memory) -> a.zero(vec));
        }
        emitFirstLoads();
        a.mov(RCX, spans);
        a.label(span);
        emitDots();
        emitScaling();
        a.add(RSI, shape.blockBytes(format));
        a.add(RDI, pieceBytes);
        a.loop(RCX, span);
        if (format.tiled) {
            int after = shape.scaleSums(format) - spans * shape.blockBytes(format);
            emitTileSums(only, part -> mem(RSI, after + shape.registerBytes() * part));
            forSums((vec, memory) -> a.vmovdqu(memory, vec));
            a.add(RAX, PackedActivations.arrayBytes(format));
        }
        emitFetches();
        a.add(RSI, shape.tileBytes(format) - spans * shape.blockBytes(format));
    }

    private void emitFetches() {
        String fetch = a.fresh("panelFetch");
        a.mov(RCX, mem(RBP, FETCHES));
        a.label(fetch);
        for (int i = 0; i < FETCHED_LINES; i++) {
            a.prefetchT1(mem(R11, LINE * i));
        }
        a.add(R11, LINE * FETCHED_LINES);
        a.loop(RCX, fetch);
    }

    private void forSums(BiConsumer<Vec, Mem> emitter) {
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                emitter.accept(sum(t, h), memory(t, h));
            }
        }
    }

    private void emitResults() {
        String run = a.fresh("panelResults");
        a.mov(RDX, mem(RBP, OUT_START));
        a.mov(R10, mem(RBP, OUT_STRIDE));
        a.mov(R9, mem(RBP, RUNS_NOW));
        a.mov(RCX, RSP);
        a.label(run);
        for (int t = 0; t < tokens; t++) {
            for (int h = 0; h < 2; h++) {
                int first = 8 * (2 * t + h & 1);
                emitTree(first, stride * t + shape.registerBytes() * h, 0, 1);
                a.vmovdqu(mem(RDX, shape.registerBytes() * h), shape.vec(first));
            }
            a.add(RDX, R10);
        }
        a.add(RCX, sumBytes);
        a.loop(R9, run);
        a.mov(mem(RBP, OUT_START), RDX);
    }

    /// Adds every `step`-th place from one on, of the run that RCX points to, to a register; uses
    /// the registers after it.
    private void emitTree(int register, int sum, int place, int step) {
        if (step == places) {
            a.vmovdqu(shape.vec(register), mem(RCX, runs * place * sumBytes + sum));
            return;
        }
        emitTree(register, sum, place, 2 * step);
        Operand other = mem(RCX, runs * (place + step) * sumBytes + sum);
        if (2 * step < places) {
            other = shape.vec(register + 1);
            emitTree(register + 1, sum, place + step, 2 * step);
        }
        a.vaddps(shape.vec(register), shape.vec(register), other);
    }
}
