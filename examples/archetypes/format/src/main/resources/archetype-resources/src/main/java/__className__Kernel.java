package ${package};

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.api.kernel.cpu.PackedKernel;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/// Multiplies ${id} rows with the Vector API: decodes spans of four rows and leaves the products to [Tiles].
@CompileThresholdScaling(0.03)
final class ${className}Kernel implements PackedKernel {
    /// Vectors of as many bytes as there are floats in a vector.
    private static final VectorSpecies<Byte> B =
            VectorSpecies.of(byte.class, VectorShape.forBitSize(Math.max(64, Tiles.F.vectorBitSize() / 4)));

    private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

    @Override
    public String name() {
        return "${id}.vector";
    }

    @Override
    public String format() {
        return "${id}";
    }

    /// Shorter vectors than those of 256 bits are left to the decoder.
    @Override
    public boolean accepts(int n) {
        return Tiles.LANES >= 8;
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
                long span = (long) from / ${className}.SIZE * ${className}.BYTES;
                for (int i = 0; i < count; i++) {
                    decode(weights, w + (r + i) * rowBytes + span, length, scratch, s + i * Tiles.ROW);
                }
                Tiles.multiply(scratch, s, packed, x + 4L * from, packedBytes(n), tokens, length);
            }
            Tiles.store(scratch, s, tokens, count, out.array(), outOffset + r, outStride);
        }
    }

    /// Decodes blocks to float32: this is what depends on the format. Reads nothing behind the last block.
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
        for (int left = n; left > 0; left -= ${className}.SIZE) {
            FloatVector scale = FloatVector.broadcast(Tiles.F, ${className}.scale(blocks, block));
            for (int i = 0; i < ${className}.SIZE; i += Tiles.LANES) {
                ByteVector levels = ByteVector.fromMemorySegment(B, blocks, block + ${className}.LEVELS + i, LE);
                ((FloatVector) levels.convertShape(VectorOperators.B2F, Tiles.F, 0))
                        .mul(scale)
                        .intoMemorySegment(target, o, LE);
                o += Tiles.VECTOR;
            }
            block += ${className}.BYTES;
        }
    }
}
