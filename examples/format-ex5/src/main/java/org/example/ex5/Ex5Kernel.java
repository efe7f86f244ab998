package org.example.ex5;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.kernel.cpu.PackedKernel;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/// Multiplies EX5 rows with the Vector API: decodes spans of four rows and leaves the products to [Tiles].
///
/// A level becomes a float without a conversion. A byte permutation puts the two bytes that hold a level into a lane of
/// 16 bits, which is widened; a shift moves the five bits to the top of a float's fraction, and the exponent of 1 makes
/// it `1 + level / 32`.
@CompileThresholdScaling(0.03)
final class Ex5Kernel implements PackedKernel {
    private static final VectorSpecies<Float> F = Tiles.F;
    private static final int LANES = Tiles.LANES;
    /// As many shorts as there are floats in a vector, and their bytes.
    private static final VectorSpecies<Short> S =
            VectorSpecies.of(short.class, VectorShape.forBitSize(F.vectorBitSize() / 2));

    private static final VectorSpecies<Byte> B = S.withLanes(byte.class);
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

    /// For each level of a block, its two bytes among those that are loaded for its vector.
    private static final byte[] PLACES = new byte[2 * Ex5Format.SIZE];
    /// What moves it to the upper five of the 23 bits of a float's fraction.
    private static final int[] SHIFTS = new int[Ex5Format.SIZE];

    /// Where the level stands in a float.
    private static final int FRACTION = 31 << 18;

    private static final int ONE = Float.floatToRawIntBits(1);

    static {
        for (int i = 0; i < Ex5Format.SIZE; i++) {
            int bit = 5 * i;
            int place = bit / 8 - window(i / LANES * LANES);
            PLACES[2 * i] = (byte) place;
            // The last level of a block ends in its first byte.
            PLACES[2 * i + 1] = (byte) Math.min(place + 1, B.length() - 1);
            SHIFTS[i] = 18 - bit % 8;
        }
    }

    /// {@return where the bytes for a vector of levels begin, such that none behind the block is loaded}
    private static int window(int level) {
        return Math.min(5 * level / 8, 5 * Ex5Format.SIZE / 8 - B.length());
    }

    @Override
    public String name() {
        return "ex5.vector";
    }

    @Override
    public String format() {
        return Ex5Format.ID;
    }

    /// Shorter vectors than those of 256 bits are left to the decoder.
    @Override
    public boolean accepts(int n) {
        return LANES >= 8;
    }

    @Override
    public int panelRows() {
        return Tiles.ROWS;
    }

    @Override
    public long scratchBytes(int n, int tokens) {
        return Tiles.scratchBytes(tokens);
    }

    @Override
    public void run(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        long w = Memory.at(weights, firstRow * rowBytes, rows * rowBytes);
        long x = Memory.at(packed, 0, tokens * packedBytes(n));
        long s = Memory.at(scratch, 0, scratchBytes(n, tokens));
        for (int r = 0; r < rows; r += Tiles.ROWS) {
            int count = Math.min(Tiles.ROWS, rows - r);
            Tiles.clear(scratch, s, tokens);
            for (int from = 0; from < n; from += Tiles.SPAN) {
                int length = Math.min(Tiles.SPAN, n - from);
                long span = (long) from / Ex5Format.SIZE * Ex5Format.BYTES;
                for (int i = 0; i < count; i++) {
                    decode(weights, w + (r + i) * rowBytes + span, length, scratch, s + i * Tiles.ROW);
                }
                Tiles.multiply(scratch, s, packed, x + 4L * from, packedBytes(n), tokens, length);
            }
            Tiles.store(scratch, s, tokens, count, out.array(), outOffset + r, outStride);
        }
    }

    /// Decodes blocks to float32.
    ///
    /// @param weights holds the blocks
    /// @param at where the first begins, from [Memory#at]
    /// @param n elements, whole blocks
    /// @param scratch receives the values
    /// @param to where the first goes, from [Memory#at]
    private static void decode(MemorySegment weights, long at, int n, MemorySegment scratch, long to) {
        MemorySegment blocks = Memory.base(weights);
        MemorySegment target = Memory.base(scratch);
        long block = at & Memory.ADDRESS;
        long o = to & Memory.ADDRESS;
        for (int left = n; left > 0; left -= Ex5Format.SIZE) {
            float d = Ex5Format.scale(blocks, block);
            FloatVector scale = FloatVector.broadcast(F, 32 * d);
            FloatVector offset = FloatVector.broadcast(F, -48 * d);
            for (int i = 0; i < Ex5Format.SIZE; i += LANES) {
                ByteVector bytes =
                        ByteVector.fromMemorySegment(B, blocks, block + Ex5Format.LEVELS + window(i), LE);
                IntVector words = (IntVector) ByteVector.fromArray(B, PLACES, 2 * i)
                        .selectFrom(bytes)
                        .reinterpretAsShorts()
                        .convertShape(VectorOperators.ZERO_EXTEND_S2I, I, 0);
                // Exact: a level and a scale fill 16 of the 24 bits of a float.
                words.lanewise(VectorOperators.LSHL, IntVector.fromArray(I, SHIFTS, i))
                        .and(FRACTION)
                        .or(ONE)
                        .reinterpretAsFloats()
                        .fma(scale, offset)
                        .intoMemorySegment(target, o, LE);
                o += Tiles.VECTOR;
            }
            block += Ex5Format.BYTES;
        }
    }
}
