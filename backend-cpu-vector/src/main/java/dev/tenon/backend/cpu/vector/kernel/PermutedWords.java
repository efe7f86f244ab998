package dev.tenon.backend.cpu.vector.kernel;

import static dev.tenon.backend.cpu.vector.kernel.PermutedPanel.WIDTH;
import static dev.tenon.backend.cpu.vector.kernel.Species.I;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;

/// Transposes blocks of weights: the first four bytes of all rows of a panel, then the next four, and
/// so on, so that a vector holds the same word of several rows.
final class PermutedWords {
    private static final VectorShuffle<Integer> NEXT = VectorShuffle.fromOp(I, i -> (i + 1) % LANES);
    private static final VectorShuffle<Integer> PREVIOUS = VectorShuffle.fromOp(I, i -> (i + LANES - 1) % LANES);
    private static final VectorShuffle<Integer> NEXT_PAIR = VectorShuffle.fromOp(I, i -> (i + 2) % LANES);
    private static final VectorShuffle<Integer> PREVIOUS_PAIR = VectorShuffle.fromOp(I, i -> (i + LANES - 2) % LANES);
    private static final VectorMask<Integer> ODD = VectorMask.fromLong(I, 0xAAAA);
    private static final VectorMask<Integer> ODD_PAIR = VectorMask.fromLong(I, 0xCCCC);

    private PermutedWords() {}

    /// Copies a block of one row: four words at a time to where [#transpose] expects them, then halves
    /// as floats.
    ///
    /// @param weights the matrix
    /// @param from where the words are
    /// @param quads how many groups of four words
    /// @param half where the halves are
    /// @param halves how many
    /// @param scratch receives them
    /// @param to where those of all lanes go
    /// @param lane which lane the row has
    static void copy(
            MemorySegment weights,
            long from,
            int quads,
            long half,
            int halves,
            MemorySegment scratch,
            long to,
            int lane) {
        MemorySegment w = Memory.ALL == null ? weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = from;
        long q = to + lane % 4 * WIDTH + lane / 4 * 16;
        long end = p + 16L * quads;
        do {
            p &= Memory.ADDRESS;
            q &= Memory.ADDRESS;
            IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p, Species.LE).intoMemorySegment(s, q, Species.LE);
            p += 16;
            q += 4 * WIDTH;
        } while (p != end);
        for (int i = 0; i < halves; i++) {
            long at = to + (4L * quads + i) * WIDTH + 4L * lane;
            s.set(
                    ValueLayout.JAVA_FLOAT_UNALIGNED,
                    at & Memory.ADDRESS,
                    Species.half(w, half + 2L * i & Memory.ADDRESS));
        }
    }

    /// Transposes four words of four rows, in each quarter of a vector.
    ///
    /// @param scratch their memory
    /// @param at where the first four words are
    /// @param quads how many groups of four words
    static void transpose(MemorySegment scratch, long at, int quads) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = at;
        long end = at + (long) quads * 4 * WIDTH;
        do {
            p &= Memory.ADDRESS;
            IntVector a = IntVector.fromMemorySegment(I, s, p, Species.LE);
            IntVector b = IntVector.fromMemorySegment(I, s, p + WIDTH, Species.LE);
            IntVector c = IntVector.fromMemorySegment(I, s, p + 2 * WIDTH, Species.LE);
            IntVector d = IntVector.fromMemorySegment(I, s, p + 3 * WIDTH, Species.LE);
            IntVector ab = a.blend(b.rearrange(PREVIOUS), ODD);
            IntVector ba = a.rearrange(NEXT).blend(b, ODD);
            IntVector cd = c.blend(d.rearrange(PREVIOUS), ODD);
            IntVector dc = c.rearrange(NEXT).blend(d, ODD);
            ab.blend(cd.rearrange(PREVIOUS_PAIR), ODD_PAIR).intoMemorySegment(s, p, Species.LE);
            ba.blend(dc.rearrange(PREVIOUS_PAIR), ODD_PAIR).intoMemorySegment(s, p + WIDTH, Species.LE);
            ab.rearrange(NEXT_PAIR).blend(cd, ODD_PAIR).intoMemorySegment(s, p + 2 * WIDTH, Species.LE);
            ba.rearrange(NEXT_PAIR).blend(dc, ODD_PAIR).intoMemorySegment(s, p + 3 * WIDTH, Species.LE);
            p += 4 * WIDTH;
        } while (p != end);
    }
}
