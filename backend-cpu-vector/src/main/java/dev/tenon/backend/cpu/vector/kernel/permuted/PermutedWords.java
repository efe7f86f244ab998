package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.I;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;
import static dev.tenon.backend.cpu.vector.kernel.permuted.PermutedLinear.LANE_BYTES;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorShuffle;

/// Transposes blocks of weights: the first four bytes of all rows of a panel and of all blocks, then
/// the next four, and so on, so that a vector holds the same word of several rows, and what a lane
/// needs of all blocks lies together.
final class PermutedWords {
    private static final VectorShuffle<Integer> NEXT = VectorShuffle.fromOp(I, i -> (i + 1) % LANES);
    private static final VectorShuffle<Integer> PREVIOUS = VectorShuffle.fromOp(I, i -> (i + LANES - 1) % LANES);
    private static final VectorShuffle<Integer> NEXT_PAIR = VectorShuffle.fromOp(I, i -> (i + 2) % LANES);
    private static final VectorShuffle<Integer> PREVIOUS_PAIR = VectorShuffle.fromOp(I, i -> (i + LANES - 2) % LANES);
    private static final VectorMask<Integer> ODD = VectorMask.fromLong(I, 0xAAAA);
    private static final VectorMask<Integer> ODD_PAIR = VectorMask.fromLong(I, 0xCCCC);

    private PermutedWords() {}

    /// Copies a block of four rows: four words at a time to where [#transpose] expects them, then
    /// F16 numbers as floats. A word, or an F16 number, of all lanes takes a vector.
    ///
    /// @param call the matrix, and the memory that receives them
    /// @param parts where they are
    /// @param from where the block of the panel's first row is
    /// @param row the first of the four rows
    /// @param last the last row of the panel, copied instead of those behind it
    /// @param to where the first row's go, in the lanes of all rows; [PermutedLinear#LANE_BYTES] bytes behind them,
    ///     the next word's
    static void copy(LinearCall call, PermutedBlock parts, long from, int row, int last, long to) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        long rowBytes = call.rowBytes;
        int f16At = parts.firstF16() - parts.firstWord();
        int f16Count = parts.f16Count();
        long words = from + parts.firstWord();
        long p0 = words + Math.min(row, last) * rowBytes & Memory.ADDRESS;
        long p1 = words + Math.min(row + 1, last) * rowBytes & Memory.ADDRESS;
        long p2 = words + Math.min(row + 2, last) * rowBytes & Memory.ADDRESS;
        long p3 = words + Math.min(row + 3, last) * rowBytes & Memory.ADDRESS;
        long q = to & Memory.ADDRESS;
        int i = 0;
        int end = 4 * parts.words();
        do {
            long k = i & 0x3FFFFFFF;
            long j = q + k * (LANE_BYTES / 4);
            IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p0 + k, Species.LE)
                    .intoMemorySegment(s, j, Species.LE);
            IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p1 + k, Species.LE)
                    .intoMemorySegment(s, j + LANE_BYTES, Species.LE);
            IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p2 + k, Species.LE)
                    .intoMemorySegment(s, j + 2 * LANE_BYTES, Species.LE);
            IntVector.fromMemorySegment(IntVector.SPECIES_128, w, p3 + k, Species.LE)
                    .intoMemorySegment(s, j + 3 * LANE_BYTES, Species.LE);
            i += 16;
        } while (i != end);
        long at = q + (long) parts.words() * LANE_BYTES;
        for (int h = 0; h < f16Count; h++) {
            long k = f16At + 2L * h;
            s.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at & Memory.ADDRESS, Species.f16(w, p0 + k & Memory.ADDRESS));
            s.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at + 4 & Memory.ADDRESS, Species.f16(w, p1 + k & Memory.ADDRESS));
            s.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at + 8 & Memory.ADDRESS, Species.f16(w, p2 + k & Memory.ADDRESS));
            s.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at + 12 & Memory.ADDRESS, Species.f16(w, p3 + k & Memory.ADDRESS));
            at += LANE_BYTES;
        }
    }

    /// Transposes four words of four rows, in each quarter of a vector, and copies what follows.
    ///
    /// @param scratch their memory
    /// @param at where the first four words are
    /// @param quads how many groups of four words, at least 1
    /// @param f16Count how many vectors of F16 numbers follow
    /// @param to where the first word of all lanes goes
    /// @param apart bytes to where the next one goes
    static void transpose(MemorySegment scratch, long at, int quads, int f16Count, long to, long apart) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = at;
        long q = to;
        int left = 2 * quads;
        do {
            p &= Memory.ADDRESS;
            IntVector a = IntVector.fromMemorySegment(I, s, p, Species.LE);
            IntVector b = IntVector.fromMemorySegment(I, s, p + LANE_BYTES, Species.LE);
            IntVector c = IntVector.fromMemorySegment(I, s, p + 2 * LANE_BYTES, Species.LE);
            IntVector d = IntVector.fromMemorySegment(I, s, p + 3 * LANE_BYTES, Species.LE);
            IntVector ab = a.blend(b.rearrange(PREVIOUS), ODD);
            IntVector ba = a.rearrange(NEXT).blend(b, ODD);
            IntVector cd = c.blend(d.rearrange(PREVIOUS), ODD);
            IntVector dc = c.rearrange(NEXT).blend(d, ODD);
            ab.blend(cd.rearrange(PREVIOUS_PAIR), ODD_PAIR).intoMemorySegment(s, q & Memory.ADDRESS, Species.LE);
            ba.blend(dc.rearrange(PREVIOUS_PAIR), ODD_PAIR)
                    .intoMemorySegment(s, q + apart & Memory.ADDRESS, Species.LE);
            ab.rearrange(NEXT_PAIR)
                    .blend(cd, ODD_PAIR)
                    .intoMemorySegment(s, q + 2 * apart & Memory.ADDRESS, Species.LE);
            ba.rearrange(NEXT_PAIR)
                    .blend(dc, ODD_PAIR)
                    .intoMemorySegment(s, q + 3 * apart & Memory.ADDRESS, Species.LE);
            p += 4 * LANE_BYTES;
            q += 4 * apart;
            left -= 2;
        } while (left != 0);
        for (int h = 0; h < f16Count; h++) {
            IntVector.fromMemorySegment(I, s, p + h * LANE_BYTES & Memory.ADDRESS, Species.LE)
                    .intoMemorySegment(s, q + h * apart & Memory.ADDRESS, Species.LE);
        }
    }
}
