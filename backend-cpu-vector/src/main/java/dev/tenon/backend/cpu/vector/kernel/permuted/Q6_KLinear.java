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
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/// Q6_K: 256 six-bit levels, sixteen sub-blocks of 16 with an int8 scale each, 6.5625 bits a weight.
///
/// ```
/// byte 0              128           192                208     210
///      | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |
///
/// value[i] = d * scales[i / 16] * (q[i] - 32)
/// for part h of 128 and l in 0..31:   q[128h + l]      = ql[64h + l] & 15       | (qh[32h + l]      & 3) << 4
///                              q[128h + l + 32] = ql[64h + l + 32] & 15  | (qh[32h + l] >> 2 & 3) << 4
///                              q[128h + l + 64] = ql[64h + l] >> 4       | (qh[32h + l] >> 4 & 3) << 4
///                              q[128h + l + 96] = ql[64h + l + 32] >> 4  | (qh[32h + l] >> 6)     << 4
/// ```
public final class Q6_KLinear extends PermutedLinear {
    private static final int WIDTH = PermutedPanel.WIDTH;
    private static final int BYTES = 210;
    private static final int QH = 128;
    private static final int SUB_SCALES = 192;
    private static final int D = 208;
    private static final int ZERO_LEVEL = 32;
    private static final ValueLayout.OfShort F16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(Species.LE);

    private static final IntVector LOW = IntVector.broadcast(I, 0x0F0F0F0F);
    private static final IntVector HIGH = IntVector.broadcast(I, 0x30303030);
    /// The lower three of an int's levels.
    private static final IntVector LEVEL_0 = IntVector.broadcast(I, 63);
    private static final IntVector LEVEL_1 = IntVector.broadcast(I, 63 << 8);
    private static final IntVector LEVEL_2 = IntVector.broadcast(I, 63 << 16);
    /// The same where the int is part of a float that begins with [#UNIT], as longs, as in [Q4_KLinear].
    private static final LongVector UNIT_0 = UNIT.or(LEVEL_0).reinterpretAsLongs();
    private static final LongVector UNIT_1 = UNIT.or(LEVEL_1).reinterpretAsLongs();
    private static final LongVector UNIT_2 = UNIT.or(LEVEL_2).reinterpretAsLongs();
    /// Four ints have the same scale.
    private static final VectorShuffle<Float> SPREAD = VectorShuffle.fromOp(F, i -> i / 4);
    /// For sixteen lanes: the scales of the next 64 levels, and of those after them.
    private static final VectorShuffle<Float> SPREAD_1 = VectorShuffle.fromOp(F, i -> (4 + i / 4) % LANES);
    private static final VectorShuffle<Float> SPREAD_2 = VectorShuffle.fromOp(F, i -> (8 + i / 4) % LANES);
    private static final VectorShuffle<Float> SPREAD_3 = VectorShuffle.fromOp(F, i -> (12 + i / 4) % LANES);
    /// 32 bytes twice, the second 32 twice, and how far the bits of their second copy are shifted.
    /// Only for sixteen lanes.
    private static final VectorShuffle<Integer> TWICE = VectorShuffle.fromOp(I, i -> i % 8);
    private static final VectorShuffle<Integer> NEXT_TWICE = VectorShuffle.fromOp(I, i -> (8 + i % 8) % LANES);
    private static final IntVector SHIFT =
            IntVector.zero(I).addIndex(1).lanewise(VectorOperators.LSHR, 3).mul(2);

    public Q6_KLinear() {
        super(
                "Q6_K",
                new Packing(),
                new PermutedBlock(BYTES, 0, D / 4, D, 1),
                new PermutedParts(
                        Q6_KLinear::scales,
                        Q6_KLinear::dot,
                        Q6_KLinear::decode,
                        Q6_KLinear::numbers,
                        Q6_KLinear::unpack));
    }

    /// Order of the activations.
    private static final class Packing extends PermutedPacking {
        Packing() {
            super(BLOCK, 1, LANES == 16);
            for (int i = 0; i < BLOCK; i++) {
                int vector = i / 128 * 8 + i / 64 % 2 * 4 + i % 4;
                put(i, vector, i % 64 / 4, i % 4 == 3 ? 1 : 1f / (1 << 8 * (i % 4)));
            }
        }

        /// Levels count from -32: scales are multiplied with -32 times the sums of 16 activations.
        @Override
        float sum(float[] x, int at, int number) {
            return -ZERO_LEVEL * total(x, at + 16 * number, 16);
        }
    }

    private static void scales(LinearCall call, long at, int blocks, long to) {
        MemorySegment w = Memory.ALL == null ? call.weights : Memory.ALL;
        MemorySegment s = Memory.ALL == null ? call.scratch : Memory.ALL;
        for (int b = 0; b < blocks; b++) {
            long p = at + (long) b * BYTES;
            FloatVector d = FloatVector.broadcast(F, Species.f16(w, p + D));
            for (int j = 0; j < 16; j += LANES) {
                Species.floats(w, p + SUB_SCALES + j).mul(d).intoMemorySegment(s, to + b * VECTOR + 4 * j, Species.LE);
            }
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
        // Ints counted down, by 2, as Q4_K does.
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
                float factor = f16[w.get(F16, p + D) & 0xFFFF];
                FloatVector scale = ((FloatVector)
                                ByteVector.fromMemorySegment(ByteVector.SPECIES_128, w, p + SUB_SCALES, Species.LE)
                                        .convertShape(VectorOperators.B2F, F, 0))
                        .mul(FloatVector.broadcast(F, factor));
                a2 = scale.fma(FloatVector.fromMemorySegment(F, x, g, Species.LE), a2);
                IntVector both = IntVector.fromMemorySegment(I, w, p + QH, Species.LE);
                IntVector v = IntVector.fromMemorySegment(I, w, p, Species.LE);
                IntVector high = both.rearrange(TWICE).lanewise(VectorOperators.LSHR, SHIFT);
                IntVector l =
                        v.and(LOW).or(high.lanewise(VectorOperators.LSHL, 4).lanewise(VectorOperators.AND_NOT, LOW));
                LongVector levels = l.or(UNIT).reinterpretAsLongs();
                FloatVector d;
                FloatVector e;
                d = scale.rearrange(SPREAD);
                e = d.mul(MINUS_UNIT);
                a0 = levels.and(UNIT_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y, Species.LE), a0);
                a1 = levels.and(UNIT_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + VECTOR, Species.LE), a1);
                a0 = levels.and(UNIT_2)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 2 * VECTOR, Species.LE), a0);
                a1 = l.lanewise(VectorOperators.LSHR, 24)
                        .and(LEVEL_0)
                        .or(UNIT)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 3 * VECTOR, Species.LE), a1);
                l = v.lanewise(VectorOperators.LSHR, 4).and(LOW).or(high.lanewise(VectorOperators.AND_NOT, LOW));
                levels = l.or(UNIT).reinterpretAsLongs();
                d = scale.rearrange(SPREAD_1);
                e = d.mul(MINUS_UNIT);
                a0 = levels.and(UNIT_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 4 * VECTOR, Species.LE), a0);
                a1 = levels.and(UNIT_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 5 * VECTOR, Species.LE), a1);
                a0 = levels.and(UNIT_2)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 6 * VECTOR, Species.LE), a0);
                a1 = l.lanewise(VectorOperators.LSHR, 24)
                        .and(LEVEL_0)
                        .or(UNIT)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 7 * VECTOR, Species.LE), a1);
                v = IntVector.fromMemorySegment(I, w, p + 64, Species.LE);
                high = both.rearrange(NEXT_TWICE).lanewise(VectorOperators.LSHR, SHIFT);
                l = v.and(LOW).or(high.lanewise(VectorOperators.LSHL, 4).lanewise(VectorOperators.AND_NOT, LOW));
                levels = l.or(UNIT).reinterpretAsLongs();
                d = scale.rearrange(SPREAD_2);
                e = d.mul(MINUS_UNIT);
                a0 = levels.and(UNIT_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 8 * VECTOR, Species.LE), a0);
                a1 = levels.and(UNIT_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 9 * VECTOR, Species.LE), a1);
                a0 = levels.and(UNIT_2)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 10 * VECTOR, Species.LE), a0);
                a1 = l.lanewise(VectorOperators.LSHR, 24)
                        .and(LEVEL_0)
                        .or(UNIT)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 11 * VECTOR, Species.LE), a1);
                l = v.lanewise(VectorOperators.LSHR, 4).and(LOW).or(high.lanewise(VectorOperators.AND_NOT, LOW));
                levels = l.or(UNIT).reinterpretAsLongs();
                d = scale.rearrange(SPREAD_3);
                e = d.mul(MINUS_UNIT);
                a0 = levels.and(UNIT_0)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 12 * VECTOR, Species.LE), a0);
                a1 = levels.and(UNIT_1)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 13 * VECTOR, Species.LE), a1);
                a0 = levels.and(UNIT_2)
                        .reinterpretAsFloats()
                        .fma(d, e)
                        .fma(FloatVector.fromMemorySegment(F, x, y + 14 * VECTOR, Species.LE), a0);
                a1 = l.lanewise(VectorOperators.LSHR, 24)
                        .and(LEVEL_0)
                        .or(UNIT)
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
        long p = at + part;
        long h = at + QH + part % 32;
        int shift = (int) (2 * (part / 32));
        long e = scales + part / 4;
        long y = even;
        long z = odd;
        long end = p + (long) blocks * BYTES;
        do {
            long partEnd = p + 128;
            do {
                p &= Memory.ADDRESS;
                h &= Memory.ADDRESS;
                e &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                z &= Memory.ADDRESS;
                IntVector v = IntVector.fromMemorySegment(I, w, p, Species.LE);
                IntVector high = LANES == 16
                        ? ((IntVector) IntVector.fromMemorySegment(IntVector.SPECIES_256, w, h, Species.LE)
                                        .reinterpretShape(I, 0))
                                .rearrange(TWICE)
                                .lanewise(VectorOperators.LSHR, SHIFT)
                        : IntVector.fromMemorySegment(I, w, h, Species.LE).lanewise(VectorOperators.LSHR, shift);
                IntVector l =
                        v.and(LOW).or(high.lanewise(VectorOperators.LSHL, 4).and(HIGH));
                IntVector u = v.lanewise(VectorOperators.LSHR, 4).and(LOW).or(high.and(HIGH));
                FloatVector d =
                        FloatVector.fromMemorySegment(F, s, e, Species.LE).rearrange(SPREAD);
                ((FloatVector) l.and(LEVEL_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y, Species.LE);
                ((FloatVector) l.and(LEVEL_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z, Species.LE);
                ((FloatVector) l.and(LEVEL_2).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + VECTOR, Species.LE);
                ((FloatVector) l.lanewise(VectorOperators.LSHR, 24).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + VECTOR, Species.LE);
                d = FloatVector.fromMemorySegment(F, s, e + 16, Species.LE).rearrange(SPREAD);
                ((FloatVector) u.and(LEVEL_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + 2 * VECTOR, Species.LE);
                ((FloatVector) u.and(LEVEL_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + 2 * VECTOR, Species.LE);
                ((FloatVector) u.and(LEVEL_2).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + 3 * VECTOR, Species.LE);
                ((FloatVector) u.lanewise(VectorOperators.LSHR, 24).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + 3 * VECTOR, Species.LE);
                p += 64;
                h += 32;
                e += 32;
                y += 4 * VECTOR;
                z += 4 * VECTOR;
            } while (p != partEnd);
            p += BYTES - 128;
            h += BYTES - 64;
        } while (p != end);
    }

    private static void numbers(MemorySegment scratch, long words, long to, long apart) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        FloatVector factor = FloatVector.fromMemorySegment(F, s, words + D / 4 * apart & Memory.ADDRESS, Species.LE);
        long p = words + SUB_SCALES / 4 * apart;
        long end = words + D / 4 * apart;
        long y = to;
        do {
            IntVector v = IntVector.fromMemorySegment(I, s, p & Memory.ADDRESS, Species.LE);
            for (int shift = 24; shift >= 0; shift -= 8) {
                ((FloatVector) v.lanewise(VectorOperators.LSHL, shift)
                                .lanewise(VectorOperators.ASHR, 24)
                                .convert(VectorOperators.I2F, 0))
                        .mul(factor)
                        .intoMemorySegment(s, y & Memory.ADDRESS, Species.LE);
                y += apart;
            }
            p += apart;
        } while (p != end);
    }

    /// The same levels times the same scales, a row in each lane.
    private static void unpack(MemorySegment scratch, int lane, long words, int blocks, long numbers, long even) {
        long apart = wordBytes(blocks);
        for (int part = 0; part < 2; part++) {
            long p = words + (16 * part + lane) * apart;
            long high = words + (QH / 4 + 8 * part + lane % 8) * apart;
            long first = numbers + (8 * part + lane / 4) * apart;
            unpackPart(scratch, p, high, lane / 8 * 2, blocks, first, even + part * 4L * WIDTH);
        }
    }

    /// 128 levels of each block: four levels with low nibbles, then four with high ones.
    private static void unpackPart(
            MemorySegment scratch, long words, long high, int shift, int blocks, long numbers, long even) {
        MemorySegment s = Memory.ALL == null ? scratch : Memory.ALL;
        long p = words;
        long g = numbers;
        long y = even;
        long end = even + blocks * 8L * WIDTH;
        long z = end;
        long apart = wordBytes(blocks);
        long h = high - words;
        do {
            long unit = y + WIDTH;
            do {
                p &= Memory.ADDRESS;
                g &= Memory.ADDRESS;
                y &= Memory.ADDRESS;
                z &= Memory.ADDRESS;
                IntVector v = IntVector.fromMemorySegment(I, s, p, Species.LE);
                IntVector w = IntVector.fromMemorySegment(I, s, p + h & Memory.ADDRESS, Species.LE)
                        .lanewise(VectorOperators.LSHR, shift);
                IntVector l = v.and(LOW).or(w.lanewise(VectorOperators.LSHL, 4).and(HIGH));
                IntVector u = v.lanewise(VectorOperators.LSHR, 4).and(LOW).or(w.and(HIGH));
                FloatVector d = FloatVector.fromMemorySegment(F, s, g, Species.LE);
                FloatVector e = FloatVector.fromMemorySegment(F, s, g + 4 * apart & Memory.ADDRESS, Species.LE);
                ((FloatVector) l.and(LEVEL_0).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y, Species.LE);
                ((FloatVector) l.and(LEVEL_1).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z, Species.LE);
                ((FloatVector) l.and(LEVEL_2).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, y + 1 * WIDTH, Species.LE);
                ((FloatVector) l.lanewise(VectorOperators.LSHR, 24).convert(VectorOperators.I2F, 0))
                        .mul(d)
                        .intoMemorySegment(s, z + 1 * WIDTH, Species.LE);
                ((FloatVector) u.and(LEVEL_0).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, y + 2 * WIDTH, Species.LE);
                ((FloatVector) u.and(LEVEL_1).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, z + 2 * WIDTH, Species.LE);
                ((FloatVector) u.and(LEVEL_2).convert(VectorOperators.I2F, 0))
                        .mul(e)
                        .intoMemorySegment(s, y + 3 * WIDTH, Species.LE);
                ((FloatVector) u.lanewise(VectorOperators.LSHR, 24).convert(VectorOperators.I2F, 0))
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
