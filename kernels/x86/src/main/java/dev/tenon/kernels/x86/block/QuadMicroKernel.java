package dev.tenon.kernels.x86.block;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;

/// How a format multiplies a span of four rows with one token: the inner part of `QuadLoop`.
///
/// Levels, and the activations that they meet, are in the order of the format's [PairMicroKernel],
/// which spreads the activations.
///
/// Only for formats whose tiles have scales (`PackCode`): there are sums of the tile, and of the
/// tiles before.
///
/// Registers: an emitter may use all vector registers. What [#constants] leaves there lasts, what
/// [#unpack] leaves there lasts for the span, and what [#beginTile] leaves there for the tile.
public abstract class QuadMicroKernel {
    /// Point to the span at hand of each row.
    public static final Gpr[] ROWS = {Gpr.R10, Gpr.R11, Gpr.RBX, Gpr.RAX};
    /// Points to the span's spread activations of the token at hand.
    public static final Gpr X = Gpr.RCX;
    /// Points to the token's sums of the tile.
    public static final Gpr SUMS = Gpr.R13;
    /// Bytes from there to the sums of the tiles before.
    private static final int SUMS_BEFORE = PairScratch.PAIRS * PairScratch.SUM_REGISTERS * 32;

    /// Registers of sums for each token, of all rows; there are as many of the tiles before.
    public final int sumsPerToken;

    /// Creates the part of a format.
    public QuadMicroKernel(int sumsPerToken) {
        this.sumsPerToken = sumsPerToken;
    }

    /// Loads constants.
    public abstract void constants(Assembler a);

    /// Begins a tile: there are no scales yet.
    public abstract void beginTile(Assembler a);

    /// Unpacks a span of all rows.
    public abstract void unpack(Assembler a);

    /// Multiplies the span with a token, and adds to its sums of the tile.
    ///
    /// @param x bytes from [#X] to its spread activations
    /// @param sums bytes from [#SUMS] to its sums
    /// @param first whether it is the tile's first span: there are no sums yet
    public abstract void token(Assembler a, int x, int sums, boolean first);

    /// Multiplies the sums of the tile by its scales, adds those of the tiles before, and leaves
    /// them there.
    ///
    /// @param x bytes from [#X] to the token's scales of the tile
    /// @param token which token from [#SUMS] on
    /// @param first whether there are no tiles before
    public abstract void endTile(Assembler a, int x, int token, boolean first);

    /// Ends the last tile for two tokens, and adds up their sums: those of the four rows to lanes 0
    /// to 3 of register 0 for the first token, to lanes 4 to 7 for the second.
    ///
    /// @param x bytes between the scales of both
    /// @param first whether there are no tiles before
    public abstract void results(Assembler a, int x, boolean first);

    /// {@return a sum of the tile}
    ///
    /// @param register which one, from the first of the token at hand on
    protected static Mem sum(int register) {
        return Operand.mem(SUMS, 64 * register);
    }

    /// {@return the same sum of the tiles before}
    protected static Mem sumBefore(int register) {
        return Operand.mem(SUMS, SUMS_BEFORE + 64 * register);
    }

    /// Adds lanes as [PairMicroKernel#addBlocks] does, of two registers.
    protected static void addBlocks(Assembler a) {
        PairMicroKernel.addBlocks(a, 0, 2, 0);
    }
}
