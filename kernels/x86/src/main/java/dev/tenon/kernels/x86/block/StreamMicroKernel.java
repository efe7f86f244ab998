package dev.tenon.kernels.x86.block;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import java.util.function.IntUnaryOperator;

/// How a format multiplies a span of four rows with one token: the inner part of `StreamLoop`.
///
/// Nothing is put into order in the loop: levels lie as unpacking leaves them, sums of groups as
/// adding leaves them, and the activations' levels and scales are put into the same order before
/// ("spread"). That takes fewer instructions than one row at a time. Registers: an emitter may use
/// all vector registers; its sums and constants last from one span to the next.
public abstract class StreamMicroKernel {
    /// Point to the span at hand of each row.
    public static final Gpr[] ROWS = {Gpr.R10, Gpr.R11, Gpr.RBX, Gpr.RAX};
    /// Points to the span's spread activations.
    static final Gpr X = Gpr.RCX;

    /// Picks lanes 0 and 2 of both sources, and 1 and 3.
    public static final int EVEN_LANES = 0x88;
    public static final int ODD_LANES = 0xDD;

    /// Bytes of the spread activations of a span, whole lines.
    public final int spreadBytes;

    /// Creates the part of a format.
    public StreamMicroKernel(int spreadBytes) {
        this.spreadBytes = spreadBytes;
    }

    /// Puts the activations of a span into order.
    ///
    /// @param q points to the span's levels
    /// @param dx points to what the packed row has of it besides (`PackCode`)
    /// @param to receives [#spreadBytes]
    public abstract void spread(Assembler a, Gpr q, Gpr dx, Gpr to);

    /// Puts the scales of a tile into order; for formats whose tiles have some.
    ///
    /// @param dx points to them
    /// @param to receives them
    public void spreadTile(Assembler a, Gpr dx, Gpr to) {
        throw new IllegalStateException("There are no scales of tiles.");
    }

    /// Loads constants and sets sums to 0.
    public abstract void constants(Assembler a);

    /// {@return the registers of sums, those of a tile too}
    public abstract Vec[] sums();

    /// Multiplies a span of each row, and adds to the sums.
    public abstract void span(Assembler a);

    /// Multiplies what the spans of a tile gave by the tile's scales, which [#X] points to, and
    /// adds it to the sums.
    public void endTile(Assembler a) {
        throw new IllegalStateException("There are no scales of tiles.");
    }

    /// Adds up the sums of each row to lanes 0 to 3 of register 0; may use registers 0 to 7.
    public abstract void results(Assembler a);

    /// Adds lanes 1 to lanes 0 and lanes 3 to lanes 2 of each 128 bits: two sums of `x`, then two
    /// of `y`.
    ///
    /// @param d receives the sums; may be x or y
    /// @param t temporary
    /// @param floats whether lanes are floats rather than integers
    public static void addPairs(Assembler a, Vec d, Vec x, Vec y, Vec t, boolean floats) {
        a.vshufps(t, x, y, EVEN_LANES);
        a.vshufps(d, x, y, ODD_LANES);
        if (floats) {
            a.vaddps(d, t, d);
        } else {
            a.vpaddd(d, d, t);
        }
    }

    /// Adds the lanes of each 128 bits: of register i to lane i of register 0.
    ///
    /// @param v four registers of integers; all are changed
    /// @param t temporary
    protected static void addLanes(Assembler a, Vec[] v, Vec t) {
        for (int i = 0; i < v.length; i += 2) {
            a.vpunpckldq(t, v[i], v[i + 1]);
            a.vpunpckhdq(v[i], v[i], v[i + 1]);
            a.vpaddd(v[i], v[i], t);
        }
        a.vpunpcklqdq(t, v[0], v[2]);
        a.vpunpckhqdq(v[0], v[0], v[2]);
        a.vpaddd(v[0], v[0], t);
    }

    /// Adds the upper part of 512 bits to the lower one, and then that of 256.
    protected static void addBlocks(Assembler a, Vec v, Vec t) {
        a.vextracti64x4(t.y(), v, 1);
        a.vaddps(v.y(), v.y(), t.y());
        a.vextracti128(t.x(), v.y(), 1);
        a.vaddps(v.x(), v.x(), t.x());
    }

    /// Loads 16 bytes of each row into its 128-bit lane.
    protected static void gather(Assembler a, Vec v, int offset) {
        a.vmovdqu(v.x(), Operand.mem(ROWS[0], offset));
        for (int r = 1; r < ROWS.length; r++) {
            a.vinserti128(v, v, Operand.mem(ROWS[r], offset), r);
        }
    }

    /// Loads a constant.
    protected static void load(Assembler a, Vec v, IntUnaryOperator lane) {
        a.vmovdqu(v, a.constant(lane));
    }

    /// {@return spread activations}
    protected static Mem x(int offset) {
        return Operand.mem(X, offset);
    }
}
