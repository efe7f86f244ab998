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
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/// Q4_K: 256 four-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each, 4.5 bits
/// a weight.
///
/// ```
/// byte 0       2          4                    16              144
///      | d:f16 | dmin:f16 | scales: uint8[12] | qs: uint8[128] |       scales and minimums: see Unpacking
///
/// value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32]
/// for quarter c and l in 0..31:   q[64c + l] = qs[32c + l] & 15,   q[64c + l + 32] = qs[32c + l] >> 4
/// ```
public final class Q4_KLinear extends PermutedLinear {
    private static final int BYTES = 144;
    private static final int QS = 16;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(Species.LE);

    /// The levels of an int's lower part: low nibbles of two bytes, and high ones.
    private static final IntVector LOW_0 = IntVector.broadcast(I, 15);
    private static final IntVector LOW_1 = IntVector.broadcast(I, 15 << 8);
    private static final IntVector HIGH_0 = IntVector.broadcast(I, 15 << 4);
    private static final IntVector HIGH_1 = IntVector.broadcast(I, 15 << 12);
    /// The same where the int is part of a float that begins with [#UNIT]. They are longs because of an `or`
    /// and an `and` of ints C2 makes one instruction, which overwrites its source: four of them need
    /// three copies of it.
    private static final LongVector UNIT_LOW_0 = UNIT.or(LOW_0).reinterpretAsLongs();
    private static final LongVector UNIT_LOW_1 = UNIT.or(LOW_1).reinterpretAsLongs();
    private static final LongVector UNIT_HIGH_0 = UNIT.or(HIGH_0).reinterpretAsLongs();
    private static final LongVector UNIT_HIGH_1 = UNIT.or(HIGH_1).reinterpretAsLongs();
    /// Sixteen ints are of two quarters: eight have the first scale, eight the one after the next.
    private static final VectorShuffle<Float> SPREAD = VectorShuffle.fromOp(F, i -> i / 8 * 2);
    /// For sixteen lanes: the scales of the high nibbles, and both for the other part of the block.
    private static final VectorShuffle<Float> SPREAD_1 = VectorShuffle.fromOp(F, i -> (1 + i / 8 * 2) % LANES);
    private static final VectorShuffle<Float> SPREAD_2 = VectorShuffle.fromOp(F, i -> (4 + i / 8 * 2) % LANES);
    private static final VectorShuffle<Float> SPREAD_3 = VectorShuffle.fromOp(F, i -> (5 + i / 8 * 2) % LANES);

    /// For eight scales, then eight minimums: which words of a block's head their low bits come
    /// from, how far those are shifted, and which bits count; then the same for the two high
    /// bits of each second four. Word 0 is d and dmin. Only for sixteen lanes.
    private static final VectorShuffle<Integer> LOW_FROM = VectorShuffle.fromOp(I, i -> i % 8 > 3 ? 3 : 1 + i / 8);
    private static final IntVector LOW_SHIFT = ints(i -> i % 8 > 3 ? 8 * (i % 4) + i / 8 * 4 : 8 * (i % 4));
    private static final IntVector LOW_MASK = ints(i -> i % 8 > 3 ? 15 : 63);
    private static final VectorShuffle<Integer> HIGH_FROM = VectorShuffle.fromOp(I, i -> 1 + i / 8);
    private static final IntVector HIGH_SHIFT = ints(i -> i % 8 > 3 ? 8 * (i % 4) + 2 : 0);
    private static final IntVector HIGH_MASK = ints(i -> i % 8 > 3 ? 48 : 0);
    private static final int WIDTH = PermutedPanel.WIDTH;
    private static final IntVector LOW_SIX = IntVector.broadcast(I, 0x3F3F3F3F);
    private static final IntVector LOW_FOUR = IntVector.broadcast(I, 0x0F0F0F0F);
    private static final IntVector HIGH_TWO = IntVector.broadcast(I, 0x30303030);
    private static final VectorMask<Float> UPPER = VectorMask.fromLong(F, 0xFF00);

    public Q4_KLinear() {
        super(
                "Q4_K",
                new Packing(),
                new PermutedBlock(BYTES, 0, BYTES / 4, 0, 2),
                new PermutedParts(
                        Q4_KLinear::scales,
                        Q4_KLinear::dot,
                        Q4_KLinear::decode,
                        Q4_KLinear::numbers,
                        Q4_KLinear::unpack));
    }

    private static IntVector ints(IntUnaryOperator value) {
        return IntVector.fromArray(I, IntStream.range(0, LANES).map(value).toArray(), 0);
    }

    /// Order of the activations.
    private static final class Packing extends PermutedPacking {
        Packing() {
            super(BLOCK, 1, LANES == 16);
            for (int i = 0; i < BLOCK; i++) {
                int chunk = i / 64;
                int nibble = i / 32 % 2;
                int vector = chunk / 2 * 8 + nibble * 4 + i % 4;
                put(i, vector, chunk % 2 * 8 + i % 32 / 4, 1f / (1 << 8 * (i % 2) + 4 * nibble));
            }
        }

        /// Minimums are multiplied with the sums of 32 activations.
        @Override
        float sum(float[] x, int at, int number) {
            return number < 8 ? 0 : total(x, at + 32 * (number - 8), 32);
        }
    }

    private static void scales(LinearCall call, long at, int blocks, long to) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        long p = at;
        long y = to;
        long end = to + (long) blocks * VECTOR;
        do {
            p &= Memory.ADDRESS;
            y &= Memory.ADDRESS;
            int head = w.get(INT, p);
            float d = Float.float16ToFloat((short) head);
            float dmin = -Float.float16ToFloat((short) (head >> 16));
            if (LANES == 16) {
                IntVector v = IntVector.fromMemorySegment(I, w, p, Species.LE);
                IntVector low = v.rearrange(LOW_FROM)
                        .lanewise(VectorOperators.LSHR, LOW_SHIFT)
                        .and(LOW_MASK);
                IntVector high = v.rearrange(HIGH_FROM)
                        .lanewise(VectorOperators.LSHR, HIGH_SHIFT)
                        .and(HIGH_MASK);
                ((FloatVector) low.or(high).convert(VectorOperators.I2F, 0))
                        .mul(FloatVector.broadcast(F, d).blend(dmin, UPPER))
                        .intoMemorySegment(s, y, Species.LE);
            } else {
                int a = w.get(INT, p + 4);
                int b = w.get(INT, p + 8);
                int c = w.get(INT, p + 12);
                numbers(s, y, a & 0x3F3F3F3F, c & 0x0F0F0F0F | a >>> 2 & 0x30303030, d);
                numbers(s, y + 32, b & 0x3F3F3F3F, c >>> 4 & 0x0F0F0F0F | b >>> 2 & 0x30303030, dmin);
            }
            p += BYTES;
            y += VECTOR;
        } while (y != end);
    }

    /// Writes eight bytes times a factor.
    private static void numbers(MemorySegment s, long to, int first, int second, float factor) {
        for (int i = 0; i < 4; i++) {
            s.set(ValueLayout.JAVA_FLOAT, to + 4 * i, factor * (first >>> 8 * i & 63));
            s.set(ValueLayout.JAVA_FLOAT, to + 4 * i + 16, factor * (second >>> 8 * i & 63));
        }
    }

    /// A block at a time, for sixteen lanes; no conversion of levels, as [PermutedLinear] describes.
    private static void dot(LinearCall call, long at, int rows, int blocks, long strands, long even, long sums) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        MemorySegment x = Memory.ALL == null ? call.packed : Memory.ALL;
        float[] f16 = F16Table.FLOATS;
        long t = strands;
        long row = at;
        long apart = apart(call);
        // Ints counted down to 0: a comparison of longs, at the end of a loop, costs four
        // instructions. By 2, because of a step of 1 C2 makes three loops.
        int more = 2 * rows;
        do {
            t &= Memory.ADDRESS;
            FloatVector a0 = FloatVector.fromMemorySegment(F, s, t, Species.LE);
            FloatVector a1 = FloatVector.fromMemorySegment(F, s, t + VECTOR, Species.LE);
            FloatVector a2 = FloatVector.fromMemorySegment(F, s, t + 2 * VECTOR, Species.LE);
            long p = row;
            long y = even;
            long g = sums;
            int left = 2 * blocks;
            do {
                p &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                g &= Memory.ADDRESS;
                int head = w.get(INT, p);
                FloatVector factors = FloatVector.broadcast(F, f16[head & 0xFFFF])
                        .blend(FloatVector.broadcast(F, f16[head >>> 16 ^ 0x8000]), UPPER);
                IntVector v = IntVector.fromMemorySegment(I, w, p, Species.LE);
                IntVector low = v.rearrange(LOW_FROM)
                        .lanewise(VectorOperators.LSHR, LOW_SHIFT)
                        .and(LOW_MASK);
                IntVector high = v.rearrange(HIGH_FROM)
                        .lanewise(VectorOperators.LSHR, HIGH_SHIFT)
                        .and(HIGH_MASK);
                FloatVector scale = ((FloatVector) low.or(high).convert(VectorOperators.I2F, 0)).mul(factors);
                a2 = scale.fma(FloatVector.fromMemorySegment(F, x, g, Species.LE), a2);
                FloatVector d;
                FloatVector e;
                v = IntVector.fromMemorySegment(I, w, p + QS, Species.LE);
                LongVector lower = v.or(UNIT).reinterpretAsLongs();
                // Two bytes further: what a shift by 16 bits would give.
                LongVector upper = IntVector.fromMemorySegment(I, w, p + QS + 2, Species.LE)
                        .or(UNIT)
                        .reinterpretAsLongs();
                d = scale.rearrange(SPREAD);
                e = d.mul(MINUS_UNIT);
                a0 = lower.and(UNIT_LOW_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y, Species.LE), a0);
                a1 = lower.and(UNIT_LOW_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + VECTOR, Species.LE), a1);
                a0 = upper.and(UNIT_LOW_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 2 * VECTOR, Species.LE), a0);
                a1 = upper.and(UNIT_LOW_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 3 * VECTOR, Species.LE), a1);
                d = scale.rearrange(SPREAD_1);
                e = d.mul(MINUS_UNIT);
                a0 = lower.and(UNIT_HIGH_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 4 * VECTOR, Species.LE), a0);
                a1 = lower.and(UNIT_HIGH_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 5 * VECTOR, Species.LE), a1);
                a0 = upper.and(UNIT_HIGH_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 6 * VECTOR, Species.LE), a0);
                a1 = upper.and(UNIT_HIGH_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 7 * VECTOR, Species.LE), a1);
                v = IntVector.fromMemorySegment(I, w, p + QS + 64, Species.LE);
                lower = v.or(UNIT).reinterpretAsLongs();
                upper = v.lanewise(VectorOperators.LSHR, 16).or(UNIT).reinterpretAsLongs();
                d = scale.rearrange(SPREAD_2);
                e = d.mul(MINUS_UNIT);
                a0 = lower.and(UNIT_LOW_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 8 * VECTOR, Species.LE), a0);
                a1 = lower.and(UNIT_LOW_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 9 * VECTOR, Species.LE), a1);
                a0 = upper.and(UNIT_LOW_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 10 * VECTOR, Species.LE), a0);
                a1 = upper.and(UNIT_LOW_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 11 * VECTOR, Species.LE), a1);
                d = scale.rearrange(SPREAD_3);
                e = d.mul(MINUS_UNIT);
                a0 = lower.and(UNIT_HIGH_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 12 * VECTOR, Species.LE), a0);
                a1 = lower.and(UNIT_HIGH_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 13 * VECTOR, Species.LE), a1);
                a0 = upper.and(UNIT_HIGH_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 14 * VECTOR, Species.LE), a0);
                a1 = upper.and(UNIT_HIGH_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 15 * VECTOR, Species.LE), a1);
                p += BYTES;
                y += 16 * VECTOR;
                g += VECTOR;
                left -= 2;
            } while (left != 0);
            a0.intoMemorySegment(s, t, Species.LE);
            a1.intoMemorySegment(s, t + VECTOR, Species.LE);
            a2.intoMemorySegment(s, t + 2 * VECTOR, Species.LE);
            t += PermutedPanel.PAIR;
            row += apart;
            more -= 2;
        } while (more != 0);
    }

    /// The same levels times the same scales, at any width.
    private static void decode(LinearCall call, long at, int blocks, long scales, long even, long odd, long part) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        long p = at + QS + part;
        long e = scales + part / 32 * 8;
        long y = even;
        long z = odd;
        long end = p + (long) blocks * BYTES;
        do {
            long partEnd = p + 128;
            do {
                p &= Memory.ADDRESS;
                e &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                z &= Memory.ADDRESS;
                IntVector v = IntVector.fromMemorySegment(I, w, p, Species.LE);
                IntVector u = v.lanewise(VectorOperators.LSHR, 16);
                FloatVector d =
                        FloatVector.fromMemorySegment(F, s, e, Species.LE).rearrange(SPREAD);
                ((FloatVector) v.and(LOW_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y, Species.LE);
                ((FloatVector) v.and(LOW_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z, Species.LE);
                ((FloatVector) u.and(LOW_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + VECTOR, Species.LE);
                ((FloatVector) u.and(LOW_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + VECTOR, Species.LE);
                d = FloatVector.fromMemorySegment(F, s, e + 4, Species.LE).rearrange(SPREAD);
                ((FloatVector) v.and(HIGH_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + 2 * VECTOR, Species.LE);
                ((FloatVector) v.and(HIGH_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + 2 * VECTOR, Species.LE);
                ((FloatVector) u.and(HIGH_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + 3 * VECTOR, Species.LE);
                ((FloatVector) u.and(HIGH_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + 3 * VECTOR, Species.LE);
                p += 64;
                e += 16;
                y += 4 * VECTOR;
                z += 4 * VECTOR;
            } while (p != partEnd);
            p += BYTES - 128;
            e += VECTOR - 32;
        } while (p != end);
    }

    private static void numbers(MemorySegment scratch, long words, long to, long apart) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = words & Memory.ADDRESS;
        IntVector a = IntVector.fromMemorySegment(I, s, p + apart & Memory.ADDRESS, Species.LE);
        IntVector b = IntVector.fromMemorySegment(I, s, p + 2 * apart & Memory.ADDRESS, Species.LE);
        IntVector c = IntVector.fromMemorySegment(I, s, p + 3 * apart & Memory.ADDRESS, Species.LE);
        FloatVector d = FloatVector.fromMemorySegment(F, s, p + BYTES / 4 * apart & Memory.ADDRESS, Species.LE);
        FloatVector dmin = FloatVector.fromMemorySegment(F, s, p + (BYTES / 4 + 1) * apart & Memory.ADDRESS, Species.LE)
                .neg();
        bytes(scratch, a.and(LOW_SIX), d, to, apart);
        bytes(scratch, c.and(LOW_FOUR).or(a.lanewise(VectorOperators.LSHR, 2).and(HIGH_TWO)), d, to + 4 * apart, apart);
        bytes(scratch, b.and(LOW_SIX), dmin, to + 8 * apart, apart);
        IntVector high = b.lanewise(VectorOperators.LSHR, 2).and(HIGH_TWO);
        bytes(scratch, c.lanewise(VectorOperators.LSHR, 4).and(LOW_FOUR).or(high), dmin, to + 12 * apart, apart);
    }

    /// Writes the bytes of each int, times a factor.
    private static void bytes(MemorySegment scratch, IntVector v, FloatVector factor, long to, long apart) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        ((FloatVector) v.and(63).convert(VectorOperators.I2F, 0))
                .mul(factor)
                .intoMemorySegment(s, to & Memory.ADDRESS, Species.LE);
        ((FloatVector) v.lanewise(VectorOperators.LSHR, 8).and(63).convert(VectorOperators.I2F, 0))
                .mul(factor)
                .intoMemorySegment(s, to + apart & Memory.ADDRESS, Species.LE);
        ((FloatVector) v.lanewise(VectorOperators.LSHR, 16).and(63).convert(VectorOperators.I2F, 0))
                .mul(factor)
                .intoMemorySegment(s, to + 2 * apart & Memory.ADDRESS, Species.LE);
        ((FloatVector) v.lanewise(VectorOperators.LSHR, 24).convert(VectorOperators.I2F, 0))
                .mul(factor)
                .intoMemorySegment(s, to + 3 * apart & Memory.ADDRESS, Species.LE);
    }

    /// The same levels times the same scales, a row in each lane.
    private static void unpack(MemorySegment scratch, int lane, long words, int blocks, long numbers, long even) {
        long apart = wordBytes(blocks);
        for (int part = 0; part < 2; part++) {
            long p = words + (4 + 16 * part + lane) * apart;
            long first = numbers + (4 * part + lane / 8 * 2) * apart;
            unpackPart(scratch, p, blocks, first, even + part * 4L * WIDTH);
        }
    }

    /// 128 levels of each block: four levels with low nibbles, then four with high ones.
    private static void unpackPart(MemorySegment scratch, long words, int blocks, long numbers, long even) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = words;
        long g = numbers;
        long y = even;
        long end = even + blocks * 8L * WIDTH;
        long z = end;
        long apart = wordBytes(blocks);
        do {
            long unit = y + WIDTH;
            do {
                p &= Memory.ADDRESS;
                g &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                z &= Memory.ADDRESS;
                IntVector v = IntVector.fromMemorySegment(I, s, p, Species.LE);
                IntVector u = v.lanewise(VectorOperators.LSHR, 16);
                FloatVector d = FloatVector.fromMemorySegment(F, s, g, Species.LE);
                FloatVector e = FloatVector.fromMemorySegment(F, s, g + apart & Memory.ADDRESS, Species.LE);
                ((FloatVector) v.and(LOW_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y, Species.LE);
                ((FloatVector) v.and(LOW_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z, Species.LE);
                ((FloatVector) u.and(LOW_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + 1 * WIDTH, Species.LE);
                ((FloatVector) u.and(LOW_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + 1 * WIDTH, Species.LE);
                ((FloatVector) v.and(HIGH_0).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, y + 2 * WIDTH, Species.LE);
                ((FloatVector) v.and(HIGH_1).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, z + 2 * WIDTH, Species.LE);
                ((FloatVector) u.and(HIGH_0).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, y + 3 * WIDTH, Species.LE);
                ((FloatVector) u.and(HIGH_1).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, z + 3 * WIDTH, Species.LE);
                p += LANE_BYTES;
                g += LANE_BYTES;
                y += LANE_BYTES;
                z += LANE_BYTES;
            } while (y != unit);
            y += 7L * WIDTH;
            z += 7L * WIDTH;
        } while (y != end);
    }
}
