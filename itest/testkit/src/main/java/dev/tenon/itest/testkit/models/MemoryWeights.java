package dev.tenon.itest.testkit.models;

import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Weights in native memory, each aligned to 32 bytes as in a GGUF file.
///
/// Owns the memory: whoever made it closes it, after every plan and
/// [dev.tenon.itest.testkit.reference.Reference] that uses it.
/// Adding is for one thread; reading is safe for any.
public final class MemoryWeights implements Weights, AutoCloseable {
    private record Entry(TensorInfo info, QuantFormat format, MemorySegment data) {}

    private final Arena arena = Arena.ofShared();
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private long offsetBytes;

    /// Creates an empty set.
    public MemoryWeights() {}

    /// Adds a weight in blocks. The bytes stand 32 bytes after a 64-byte boundary, the least that a GGUF
    /// file promises.
    ///
    /// @param weight name and shape of the whole tensor
    /// @param format its format
    /// @param blocks the blocks, row after row; copied
    /// @throws IllegalArgumentException if the size is not that of the shape, or the name is there already
    public void add(Weight weight, QuantFormat format, byte[] blocks) {
        long bytes = Math.multiplyExact(format.bytesFor(weight.cols()), (long) weight.rows() * weight.slices());
        if (bytes != blocks.length) {
            throw new IllegalArgumentException(
                    weight + " takes " + bytes + " bytes in " + format.id() + ", not " + blocks.length);
        }
        if (entries.containsKey(weight.name())) {
            throw new IllegalArgumentException(weight + " is there already");
        }
        MemorySegment data = arena.allocate(32 + bytes, 64).asSlice(32, bytes);
        MemorySegment.copy(blocks, 0, data, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, blocks.length);
        List<Long> shape = weight.slices() > 1
                ? List.of((long) weight.cols(), (long) weight.rows(), (long) weight.slices())
                : weight.rows() > 1
                        ? List.of((long) weight.cols(), (long) weight.rows())
                        : List.of((long) weight.cols());
        TensorInfo info = new TensorInfo(weight.name(), format.ggmlType(), shape, 0, offsetBytes, bytes);
        offsetBytes += (bytes + 31) / 32 * 32;
        entries.put(weight.name(), new Entry(info, format, data.asReadOnly()));
    }

    /// {@return the bytes of all weights}
    public long totalBytes() {
        return entries.values().stream().mapToLong(e -> e.info().sizeBytes()).sum();
    }

    @Override
    public TensorInfo info(String name) {
        return entry(name).info();
    }

    @Override
    public QuantFormat format(String name) {
        return entry(name).format();
    }

    @Override
    public MemorySegment data(String name) {
        return entry(name).data();
    }

    private Entry entry(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            throw new IllegalArgumentException("the graph has no weight " + name);
        }
        return entry;
    }

    /// Frees the memory.
    @Override
    public void close() {
        arena.close();
    }
}
