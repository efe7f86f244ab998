package dev.tenon.kernels.x86.block;

import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// How a format multiplies a span of two rows with some tokens: the inner part of `PairLoop`.
///
/// Levels are put into such an order when they are unpacked that the lanes of a register belong to
/// different groups, or rows: a dot product is then in one lane, and nothing is added across lanes
/// but a row's last sum. The activations' levels and scales are put into the same order before
/// ("spread").
///
/// Registers: the sums come first, from register 0 on, [#sumsPerToken] for each token; an emitter
/// may use those that no sums of [PairScratch#PAIRS_TOKENS] tokens take. What [#constants] leaves
/// there lasts, what [#unpack] leaves there lasts for the span.
public abstract class PairMicroKernel {
    /// Point to the span at hand of both rows.
    public static final Gpr[] ROWS = {Gpr.R10, Gpr.R11};
    /// Points to the span's spread activations of the first token.
    static final Gpr X = Gpr.RCX;

    private static final Vec TEMPORARY = zmm(16);
    /// Picks the upper two 128-bit lanes of the second register.
    public static final int UPPER_OF_SECOND = 0xE4;
    /// `b ? a : d`.
    public static final int SELECT = 0xD8;

    /// Bytes of the spread activations of a span and token, whole lines.
    public final int spreadBytes;
    /// Registers of sums for each token.
    public final int sumsPerToken;

    /// Creates the part of a format.
    public PairMicroKernel(int spreadBytes, int sumsPerToken) {
        this.spreadBytes = spreadBytes;
        this.sumsPerToken = sumsPerToken;
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

    /// Loads constants.
    public abstract void constants(Assembler a);

    /// Begins a tile, in formats whose tiles have scales.
    public void beginTile(Assembler a) {}

    /// Unpacks a span of both rows.
    public abstract void unpack(Assembler a);

    /// Multiplies the span with the tokens, and adds to their sums.
    public abstract void tokens(Assembler a, int tokens);

    /// Ends a tile, whose scales [#X] points to, in formats whose tiles have some. Sums are those
    /// of the tile before, and those of the row so far afterwards.
    ///
    /// @param sums points to the sums so far; null where there are none
    public void endTile(Assembler a, int tokens, Gpr sums) {
        throw new IllegalStateException("There are no scales of tiles.");
    }

    /// Adds up the sums of each token and row, and stores them; may use all registers but the
    /// constants.
    public abstract void results(Assembler a, int tokens, Results out);

    /// Where results go.
    public interface Results {
        /// {@return where the value of a token and row goes}
        ///
        /// @param token which token of the function
        /// @param row 0 or 1
        Mem at(int token, int row);
    }

    /// {@return spread activations of a token}
    protected final Mem x(int token, int offset) {
        return Operand.mem(X, token * spreadBytes + offset);
    }

    /// Loads an F16 number as a float into all lanes.
    protected static void f16ToAll(Assembler a, Mem from, Vec to) {
        a.vpbroadcastw(to.y(), from);
        a.vcvtph2ps(to, to.y());
    }

    /// Adds up the 128-bit lanes of up to four registers: lane 2 to lane 0, lane 3 to lane 1, then
    /// these two; lane q of `to`, which may be the first of them, gets the sums of register q.
    protected static void addBlocks(Assembler a, int first, int count, int to) {
        int last = first + count - 1;
        addShuffled(a, zmm(to), zmm(first), zmm(Math.min(first + 1, last)), 0x44, 0xEE);
        if (count > 2) {
            addShuffled(a, zmm(first + 1), zmm(first + 2), zmm(last), 0x44, 0xEE);
        }
        addShuffled(a, zmm(to), zmm(to), zmm(count > 2 ? first + 1 : to), 0x88, 0xDD);
    }

    private static void addShuffled(Assembler a, Vec d, Vec x, Vec y, int first, int second) {
        a.vshufi64x2(TEMPORARY, x, y, first);
        a.vshufi64x2(d, x, y, second);
        a.vaddps(d, d, TEMPORARY);
    }

    /// Stores the four numbers of a 128-bit lane: two of a token, then two of another.
    ///
    /// @param second the other token, or -1 for none
    protected static void store(Assembler a, Vec v, int lane, Results out, int first, int second) {
        Vec t = TEMPORARY.x();
        a.vextracti128(t, v, lane);
        for (int i = 0; i < (second < 0 ? 2 : 4); i++) {
            a.vextractps(out.at(i < 2 ? first : second, i % 2), t, i % 2 + i / 2 * 2);
        }
    }
}
