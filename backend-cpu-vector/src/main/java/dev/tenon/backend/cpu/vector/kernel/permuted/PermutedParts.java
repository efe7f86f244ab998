package dev.tenon.backend.cpu.vector.kernel.permuted;

import dev.tenon.api.kernel.cpu.LinearCall;
import java.lang.foreign.MemorySegment;

/// The code of a format that [PermutedLinear] calls. A format gives each part as a method of its own class, which
/// the JIT compiler compiles by itself.
///
/// @param scales reads scales in front of `decode`; null if the format is for vectors of
///     sixteen floats only
/// @param dot multiplies a row, with vectors of sixteen floats
/// @param decode decodes a row, for narrower vectors; null as `scales`
/// @param numbers reads scales for a panel; null if a block has no sums
/// @param unpack decodes rows for a panel
record PermutedParts(Scales scales, Dot dot, Decode decode, Numbers numbers, Unpack unpack) {
    /// Reads scales.
    interface Scales {
        /// Writes sixteen numbers a block: what its levels and what its sums are multiplied with.
        ///
        /// @param call the matrix, and memory for the numbers
        /// @param at where the first block starts
        /// @param blocks how many
        /// @param to where they start
        void read(LinearCall call, long at, int blocks, long to);
    }

    /// Multiplies levels with activations, all in one, on machines with vectors of sixteen floats.
    interface Dot {
        /// Adds the products of some blocks of some rows and a token to the strands of the rows.
        ///
        /// @param call the matrix, memory of the strands, and the packed activations; several
        ///     rows are a quarter of its rows apart ([PermutedLinear#apart])
        /// @param at where the first row's first block starts
        /// @param rows how many, at least one
        /// @param blocks how many of each, at least one
        /// @param strands where the first row's are; the next one's follow, [PermutedPanel#PAIR]
        ///     bytes behind them
        /// @param even where the first even vector is; the odd one follows, then the next even one
        /// @param sums where the first vector of sums is
        void add(LinearCall call, long at, int rows, int blocks, long strands, long even, long sums);
    }

    /// Decodes levels.
    interface Decode {
        /// Writes levels times scales, as [Dot] multiplies them with activations.
        ///
        /// @param call the matrix, and memory of scales and values
        /// @param at where the first block starts
        /// @param blocks how many
        /// @param scales where the blocks' numbers are
        /// @param even where the first even vector goes
        /// @param odd where the first odd vector goes
        /// @param part bytes from a vector of sixteen floats to the part of it that is
        ///     computed; `even` and `odd` have it added already
        void write(LinearCall call, long at, int blocks, long scales, long even, long odd, long part);
    }

    /// Reads scales of several rows, one in each lane.
    interface Numbers {
        /// Writes the sixteen numbers of a block that its levels and its sums are multiplied with.
        ///
        /// @param scratch memory of words and numbers
        /// @param words where the first of the block's words are; behind them its F16 numbers
        /// @param to where the first number goes
        /// @param apart bytes to the next word, and to where the next number goes
        void write(MemorySegment scratch, long words, long to, long apart);
    }

    /// Decodes levels of several rows, one in each lane.
    interface Unpack {
        /// Writes levels times scales of the two strands of a lane, for all rows of a panel.
        ///
        /// @param scratch memory of words, numbers and strands
        /// @param lane which lane
        /// @param words where the first word of the first block is; the next block's follows
        /// @param blocks how many blocks
        /// @param numbers where the first number of the first block is; the next block's follows.
        ///     From a word, or a number, to the next one it is [PermutedLinear#wordBytes]
        /// @param even where the even strand goes; the odd one follows
        void write(MemorySegment scratch, int lane, long words, int blocks, long numbers, long even);
    }
}
