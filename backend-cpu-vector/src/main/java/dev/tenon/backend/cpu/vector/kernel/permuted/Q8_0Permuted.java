package dev.tenon.backend.cpu.vector.kernel.permuted;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.I;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.F16Table;
import dev.tenon.backend.cpu.vector.kernel.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/// Q8_0, as `Q8_0Linear` describes it, with packed activations, for vectors of sixteen floats: the
/// same sums, from aligned memory.
public final class Q8_0Permuted extends PermutedLinear {
    private static final int BLOCK = 32;
    private static final int BYTES = 34;
    private static final int QS = 2;
    private static final int WORDS = 8;
    private static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(Species.LE);
    private static final int WIDTH = PermutedPanel.WIDTH;

    public Q8_0Permuted() {
        super(
                "Q8_0",
                new Packing(),
                new PermutedBlock(BYTES, QS, WORDS, 0, 1),
                new PermutedParts(null, Q8_0Permuted::dot, null, null, Q8_0Permuted::unpack));
    }

    /// Vectors lie as the activations do, odd ones behind even ones.
    private static final class Packing extends PermutedPacking {
        Packing() {
            super(BLOCK, 0, true);
        }

        @Override
        void permute(float[] x, int xOffset, int blocks, MemorySegment packed, long even, long odd, long rest) {
            MemorySegment m = Memory.ALL == null ? packed : Memory.ALL;
            for (int b = 0; b < blocks; b++) {
                long to = (long) b * apart;
                int at = xOffset + b * BLOCK;
                FloatVector.fromArray(F, x, at).intoMemorySegment(m, even + to, Species.LE);
                FloatVector.fromArray(F, x, at + LANES).intoMemorySegment(m, odd + to, Species.LE);
            }
        }
    }

    /// Four blocks at a time, then those that are left.
    private static void dot(LinearCall call, long at, int rows, int blocks, long strands, long even, long sums) {
        int fours = blocks & -4;
        if (fours != 0) {
            fours(call, at, rows, fours, strands, even);
        }
        if (fours != blocks) {
            long p = at + (long) fours * BYTES;
            long y = even + 2L * fours * VECTOR;
            ones(call, p, rows, blocks - fours, strands, y);
        }
    }

    /// Adds products four blocks at a time. A method has one loop over blocks, and strands come from memory
    /// and go there: where a vector may be that of one of several loops, or of none, C2 leaves it
    /// on the heap at times. Ints are counted down to 0, because a comparison of longs, at the end of a
    /// loop, costs four instructions.
    ///
    /// @param blocks how many of each row, a multiple of 4, at least 4
    private static void fours(LinearCall call, long at, int rows, int blocks, long strands, long even) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        MemorySegment x = Memory.ALL == null ? call.packed : Memory.ALL;
        float[] f16 = F16Table.FLOATS;
        long t = strands;
        long row = at;
        long apart = apart(call);
        int more = 2 * rows;
        do {
            t &= Memory.ADDRESS;
            FloatVector a0 = FloatVector.fromMemorySegment(F, s, t, Species.LE);
            FloatVector a1 = FloatVector.fromMemorySegment(F, s, t + VECTOR, Species.LE);
            FloatVector d;
            long p = row;
            long y = even;
            int left = blocks;
            do {
                p &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                d = FloatVector.broadcast(F, f16[w.get(F16, p) & 0xFFFF]);
                a0 = ((FloatVector) ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + QS, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y, Species.LE), a0);
                a1 = ((FloatVector) ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + QS + LANES, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + VECTOR, Species.LE), a1);
                d = FloatVector.broadcast(F, f16[w.get(F16, p + BYTES) & 0xFFFF]);
                a0 = ((FloatVector) ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + BYTES + QS, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 2 * VECTOR, Species.LE), a0);
                a1 = ((FloatVector) ByteVector.fromMemorySegment(
                                        ByteVector.SPECIES_128, w, p + BYTES + QS + LANES, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 3 * VECTOR, Species.LE), a1);
                d = FloatVector.broadcast(F, f16[w.get(F16, p + 2 * BYTES) & 0xFFFF]);
                a0 = ((FloatVector)
                                ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + 2 * BYTES + QS, Species.LE)
                                        .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 4 * VECTOR, Species.LE), a0);
                a1 = ((FloatVector) ByteVector.fromMemorySegment(
                                        ByteVector.SPECIES_128, w, p + 2 * BYTES + QS + LANES, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 5 * VECTOR, Species.LE), a1);
                d = FloatVector.broadcast(F, f16[w.get(F16, p + 3 * BYTES) & 0xFFFF]);
                a0 = ((FloatVector)
                                ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + 3 * BYTES + QS, Species.LE)
                                        .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 6 * VECTOR, Species.LE), a0);
                a1 = ((FloatVector) ByteVector.fromMemorySegment(
                                        ByteVector.SPECIES_128, w, p + 3 * BYTES + QS + LANES, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 7 * VECTOR, Species.LE), a1);
                p += 4 * BYTES;
                y += 8 * VECTOR;
                left -= 4;
            } while (left != 0);
            a0.intoMemorySegment(s, t, Species.LE);
            a1.intoMemorySegment(s, t + VECTOR, Species.LE);
            t += PermutedPanel.PAIR;
            row += apart;
            more -= 2;
        } while (more != 0);
    }

    /// Adds products one block at a time. It counts by 2, because of a step of 1 C2 makes three loops.
    private static void ones(LinearCall call, long at, int rows, int blocks, long strands, long even) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        MemorySegment x = Memory.ALL == null ? call.packed : Memory.ALL;
        float[] f16 = F16Table.FLOATS;
        long t = strands;
        long row = at;
        long apart = apart(call);
        int more = 2 * rows;
        do {
            t &= Memory.ADDRESS;
            FloatVector a0 = FloatVector.fromMemorySegment(F, s, t, Species.LE);
            FloatVector a1 = FloatVector.fromMemorySegment(F, s, t + VECTOR, Species.LE);
            FloatVector d;
            long p = row;
            long y = even;
            int left = 2 * blocks;
            do {
                p &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                d = FloatVector.broadcast(F, f16[w.get(F16, p) & 0xFFFF]);
                a0 = ((FloatVector) ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + QS, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y, Species.LE), a0);
                a1 = ((FloatVector) ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + QS + LANES, Species.LE)
                                .convertShape(VectorOperators.B2F, F, 0))
                        .mul(d)
                        .fma(FloatVector.fromMemorySegment(F, x, y + VECTOR, Species.LE), a1);
                p += BYTES;
                y += 2 * VECTOR;
                left -= 2;
            } while (left != 0);
            a0.intoMemorySegment(s, t, Species.LE);
            a1.intoMemorySegment(s, t + VECTOR, Species.LE);
            t += PermutedPanel.PAIR;
            row += apart;
            more -= 2;
        } while (more != 0);
    }

    /// A row in each lane.
    private static void unpack(MemorySegment scratch, int lane, long words, int blocks, long numbers, long even) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        int shift = 24 - 8 * (lane % 4);
        long apart = wordBytes(blocks);
        long p = words + lane / 4 * apart;
        long d = words + WORDS * apart - p;
        long o = WORDS / 2 * apart;
        long y = even;
        long end = even + (long) blocks * WIDTH;
        long z = end;
        do {
            long unit = y + WIDTH;
            do {
                p &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                z &= Memory.ADDRESS;
                FloatVector factor = FloatVector.fromMemorySegment(F, s, p + d & Memory.ADDRESS, Species.LE);
                ((FloatVector) IntVector.fromMemorySegment(I, s, p, Species.LE)
                                .lanewise(VectorOperators.LSHL, shift)
                                .lanewise(VectorOperators.ASHR, 24)
                                .convert(VectorOperators.I2F, 0))
                        .mul(factor)
                        .intoMemorySegment(s, y, Species.LE);
                ((FloatVector) IntVector.fromMemorySegment(I, s, p + o & Memory.ADDRESS, Species.LE)
                                .lanewise(VectorOperators.LSHL, shift)
                                .lanewise(VectorOperators.ASHR, 24)
                                .convert(VectorOperators.I2F, 0))
                        .mul(factor)
                        .intoMemorySegment(s, z, Species.LE);
                p += LANE_BYTES;
                y += LANE_BYTES;
                z += LANE_BYTES;
            } while (y != unit);
        } while (y != end);
    }
}
