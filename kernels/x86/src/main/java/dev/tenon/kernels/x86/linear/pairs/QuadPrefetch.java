package dev.tenon.kernels.x86.linear.pairs;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.QuadMicroKernel;

/// How [QuadLoop] fetches the next four rows into the second-level cache while it multiplies four.
/// (From there out-of-order execution has them in time.) Results do not depend on it.
///
/// A few lines are fetched in each turn of tokens: all those of a span at once would take all line
/// buffers of the first level for as long as memory takes, and activations come through these too.
/// Short rows are fetched in the order of their addresses, one after the other; of long ones the
/// same span of each, so that hardware prefetchers see four streams.
///
/// Uses RBP, and R9 in a turn. A fetch past the end of the weights does nothing.
///
/// @param inOrder whether rows are fetched in the order of their addresses
/// @param count lines a turn in that order; otherwise how many turns there are at least, a power of
/// two
public record QuadPrefetch(boolean inOrder, int count) {
    /// Longest rows that are fetched in order: four of them take three pages of 4 KiB at most.
    private static final int SHORT_ROW = 3072;

    private static final int LINE = 64;
    private static final int ROWS = QuadLoop.ROWS;
    /// More than any count in order.
    private static final int ORDERED = 64;

    /// How many indices there are.
    static final int INDICES = ORDERED + Integer.SIZE;

    /// Chooses; allocates nothing.
    ///
    /// @param rowBytes bytes of a row
    /// @param turns turns of tokens, at least 1
    /// @return which way to fetch, less than [#INDICES]: what [#of] takes
    public static int index(BlockCode format, long rowBytes, int turns) {
        if (rowBytes <= SHORT_ROW) {
            return (ROWS * format.spanBytes + LINE * turns - 1) / (LINE * turns);
        }
        return ORDERED + Integer.numberOfTrailingZeros(Integer.highestOneBit(turns));
    }

    /// {@return what is fetched}
    ///
    /// @param index of [#index]
    static QuadPrefetch of(int index) {
        return index < ORDERED ? new QuadPrefetch(true, index) : new QuadPrefetch(false, 1 << index - ORDERED);
    }

    /// Begins a quad: RDI points to its first row, R8 is bytes of a row.
    void quad(Assembler a) {
        if (inOrder) {
            a.lea(RBP, mem(RDI, R8, ROWS, 0));
        }
    }

    /// Begins a span.
    void span(Assembler a) {
        if (!inOrder) {
            a.mov(RBP, R8);
            a.shl(RBP, 2);
        }
    }

    /// Fetches what a turn does; R14 is the number of those left.
    void turn(Assembler a, BlockCode format) {
        if (inOrder) {
            for (int i = 0; i < count; i++) {
                a.prefetchT1(mem(RBP, i * LINE));
            }
            a.add(RBP, count * LINE);
            return;
        }
        int lines = (format.spanBytes + LINE - 1) / LINE;
        int every = Math.max(1, count / lines);
        int times = (lines + count - 1) / count;
        String not = a.fresh("quadFetched");
        if (every > 1) {
            a.mov(R9, R14);
            a.and(R9, every - 1);
            a.j(If.NOT_ZERO, not);
        }
        for (int i = 0; i < times; i++) {
            for (Gpr w : QuadMicroKernel.ROWS) {
                a.prefetchT1(mem(w, RBP, 1, i * LINE));
            }
        }
        a.add(RBP, times * LINE);
        a.label(not);
    }
}
