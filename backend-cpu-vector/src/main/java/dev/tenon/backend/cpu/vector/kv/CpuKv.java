package dev.tenon.backend.cpu.vector.kv;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The KV cache: pages of [#TOKENS] positions, off-heap, owned by the plan.
///
/// All pages count as in use from the start, but a page gets its memory, zeroed, when a step first needs it
/// ([#prepare]): a cache for a long context costs neither time nor memory before it is filled.
///
/// A page holds, layer after layer, the keys `[headCountKv, keyLength, TOKENS]` and then the values
/// `[headCountKv, TOKENS, valueLength]`: what attention reads together, one head's positions, lies
/// together, and keys lie transposed, because scores are computed for many positions at once. A layer whose
/// values are in its keys has no values of its own.
///
/// In Q8_0, a head's levels (int8) lie like that, then its scales (F16): of keys `[keyLength / 32,
/// TOKENS]`, of values `[TOKENS, valueLength / 32]`. A block of 32 elements of one position has a
/// scale, `max |x| / 127`.
public final class CpuKv implements KvPages, AutoCloseable {
    /// Positions in a page, a power of two.
    public static final int TOKENS = 64;

    /// Elements that share a scale in Q8_0.
    public static final int BLOCK = 32;

    /// Tokens from which on a row of keys is stored at once.
    private static final int ROW_TOKENS = 4;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private final KvType keyType;
    private final KvType valueType;
    private final boolean windows;
    private final int pageCount;
    private final long pageBytes;
    private final long[] keyOffset;
    private final long[] valueOffset;
    private final CpuAllocator.Reservation memory;
    private final MemorySegment[] pages;

    /// Allocates the pages.
    ///
    /// @param layers the attention ops that append; their layer numbers index the cache
    /// @param windows whether they are the layers with a window, whose pages are in tables of their own
    /// @param once whether a step reads only what it has appended itself, layer after layer: then the layers take
    /// one another's place
    /// @param positions positions to hold; rounded up to whole pages
    /// @param keyType element type of keys
    /// @param valueType element type of values
    /// @param allocator gives the memory
    public CpuKv(
            List<CoreOp.Attention> layers,
            boolean windows,
            boolean once,
            long positions,
            KvType keyType,
            KvType valueType,
            CpuAllocator allocator) {
        this.windows = windows;
        this.keyType = keyType;
        this.valueType = valueType;
        int layerCount = layers.stream().mapToInt(a -> a.layer() + 1).max().orElse(0);
        keyOffset = new long[layerCount];
        valueOffset = new long[layerCount];
        long offset = 0;
        long most = 0;
        for (CoreOp.Attention layer : layers) {
            offset = once ? 0 : offset;
            keyOffset[layer.layer()] = offset;
            offset += layer.headCountKv() * headBytes(keyType, layer.keyLength());
            valueOffset[layer.layer()] = offset;
            offset +=
                    layer.params().valuesInKeys() ? 0 : layer.headCountKv() * headBytes(valueType, layer.valueLength());
            most = Math.max(most, offset);
        }
        pageBytes = most;
        pageCount = Math.toIntExact(Math.ceilDiv(positions, (long) TOKENS));
        memory = allocator.reserve(Math.max(1, Math.multiplyExact(pageBytes, (long) pageCount)), "kv");
        pages = new MemorySegment[pageCount];
    }

    /// {@return bytes of a head's positions in a page}
    ///
    /// @param type element type
    /// @param length elements of a head, in Q8_0 a multiple of [#BLOCK]
    private static long headBytes(KvType type, int length) {
        return switch (type) {
            case F32 -> (long) length * TOKENS * Float.BYTES;
            case F16 -> (long) length * TOKENS * Short.BYTES;
            case Q8_0 -> (long) length * TOKENS + (long) (length / BLOCK) * TOKENS * Short.BYTES;
        };
    }

    @Override
    public int tokensPerPage() {
        return TOKENS;
    }

    @Override
    public int pageCount() {
        return pageCount;
    }

    @Override
    public long pageBytes() {
        return pageBytes;
    }

    @Override
    public void copy(int from, int to) {
        if (from < 0 || from >= pageCount || to < 0 || to >= pageCount) {
            throw new IndexOutOfBoundsException(
                    "copy of page " + from + " to " + to + "; the cache has pages 0 to " + (pageCount - 1));
        }
        if (pages[from] != null) {
            prepare(to);
            pages[to].copyFrom(pages[from]);
        } else if (pages[to] != null) {
            pages[to].fill((byte) 0);
        }
    }

    @Override
    public Optional<HostCopies> hostCopies() {
        return Optional.of(new HostCopies() {
            @Override
            public String layout() {
                return "cpu-vector 1, " + keyType + ", " + valueType + ", " + Arrays.hashCode(keyOffset);
            }

            @Override
            public void read(int page, MemorySegment target) {
                if (pages[page] == null) {
                    target.fill((byte) 0);
                } else {
                    MemorySegment.copy(pages[page], 0, target, 0, pageBytes);
                }
            }

            @Override
            public void write(int page, int tokens, MemorySegment source) {
                prepare(page);
                MemorySegment.copy(source, 0, pages[page], 0, pageBytes);
            }
        });
    }

    /// {@return the pages of a sequence of a step, by their place in it; not copied}
    ///
    /// @param input the step
    /// @param sequence which
    public int[] table(StepInput input, int sequence) {
        return windows ? input.windowTable(sequence) : input.pageTable(sequence);
    }

    /// Gives memory to the pages that a step reads or writes. Not to be called while a step runs.
    ///
    /// @param input a checked step
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is none
    public void prepare(StepInput input) {
        for (int t = 0; t < input.tokenCount(); t++) {
            int sequence = input.sequence(t);
            if (t + 1 == input.tokenCount() || input.sequence(t + 1) != sequence) {
                int[] table = table(input, sequence);
                for (int i = input.position(t) / TOKENS; i >= 0; i--) {
                    prepare(table[i]);
                }
            }
        }
    }

    /// Gives memory to a page, if it has none.
    public void prepare(int page) {
        if (pages[page] == null) {
            pages[page] = memory.allocate(Math.max(1, pageBytes));
        }
    }

    /// {@return bytes of all pages}
    public long sizeBytes() {
        return memory.sizeBytes();
    }

    /// Keys and values of a step, as an op appends them.
    ///
    /// @param op the op
    /// @param k `[T, headCountKv * keyLength]`
    /// @param v `[T, headCountKv * valueLength]`
    public record Appended(CoreOp.Attention op, Activations k, Activations v) {}

    /// Stores a key head of a position.
    ///
    /// @param layer layer
    /// @param page page
    /// @param slot position in the page
    /// @param head key head
    /// @param source the elements
    /// @param from index of the first
    /// @param length elements of a head
    void storeKey(int layer, int page, int slot, int head, float[] source, int from, int length) {
        store(true, pages[page], keysAt(layer, head, length), slot, source, from, length);
    }

    /// Stores a value head of a position; as [#storeKey].
    void storeValue(int layer, int page, int slot, int head, float[] source, int from, int length) {
        store(false, pages[page], valuesAt(layer, head, length), slot, source, from, length);
    }

    /// Stores a key head and a value head of some tokens whose positions follow each other within a page.
    ///
    /// Float16 elements go there in whole rows: one by one they took most of attention's time in a first step,
    /// which runs before memory accesses are compiled.
    ///
    /// @param appended keys and values of all tokens
    /// @param page page
    /// @param slot first position in the page
    /// @param count tokens
    /// @param head key head
    /// @param token the first of the tokens
    /// @param f16 memory for the elements of a head in a page
    public void store(Appended appended, int page, int slot, int count, int head, int token, short[] f16) {
        CoreOp.Attention op = appended.op();
        Activations k = appended.k();
        Activations v = appended.v();
        int keyLength = op.keyLength();
        int keysAt = token * k.width + head * keyLength;
        if (keyType == KvType.F16 && count >= ROW_TOKENS) {
            long base = keysAt(op.layer(), head, keyLength);
            for (int t = 0; t < count; t++) {
                toF16(k.data, keysAt + t * k.width, f16, t, count, keyLength);
            }
            for (int i = 0; i < keyLength; i++) {
                long at = base + ((long) i * TOKENS + slot) * Short.BYTES;
                MemorySegment.copy(f16, i * count, pages[page], SHORT, at, count);
            }
        } else {
            for (int t = 0; t < count; t++) {
                storeKey(op.layer(), page, slot + t, head, k.data, keysAt + t * k.width, keyLength);
            }
        }
        int valueLength = op.valueLength();
        for (int t = 0; t < count && !op.params().valuesInKeys(); t++) {
            int from = (token + t) * v.width + head * valueLength;
            if (valueType == KvType.F16) {
                long base = valuesAt(op.layer(), head, valueLength);
                toF16(v.data, from, f16, 0, 1, valueLength);
                long at = base + (long) (slot + t) * valueLength * Short.BYTES;
                MemorySegment.copy(f16, 0, pages[page], SHORT, at, valueLength);
            } else {
                storeValue(op.layer(), page, slot + t, head, v.data, from, valueLength);
            }
        }
    }

    private static void toF16(float[] source, int from, short[] target, int at, int step, int count) {
        for (int i = 0; i < count; i++) {
            target[at + i * step] = Float.floatToFloat16(source[from + i]);
        }
    }

    /// Stores the elements of a key head, each [#TOKENS] after the one before, or of a value head; scales
    /// likewise.
    private void store(boolean key, MemorySegment memory, long base, int slot, float[] source, int from, int length) {
        KvType type = key ? keyType : valueType;
        int step = key ? TOKENS : 1;
        int at = key ? slot : slot * length;
        int scaleAt = key ? slot : slot * (length / BLOCK);
        switch (type) {
            case F32 -> {
                for (int i = 0; i < length; i++) {
                    memory.set(FLOAT, base + (at + (long) i * step) * Float.BYTES, source[from + i]);
                }
            }
            case F16 -> {
                for (int i = 0; i < length; i++) {
                    short f16 = Float.floatToFloat16(source[from + i]);
                    memory.set(SHORT, base + (at + (long) i * step) * Short.BYTES, f16);
                }
            }
            case Q8_0 -> {
                long scales = base + (long) length * TOKENS;
                for (int b = 0; b < length / BLOCK; b++) {
                    int first = from + b * BLOCK;
                    float largest = 0;
                    for (int i = first; i < first + BLOCK; i++) {
                        largest = Math.max(largest, Math.abs(source[i]));
                    }
                    short f16 = Float.floatToFloat16(largest / 127);
                    memory.set(SHORT, scales + (scaleAt + (long) b * step) * Short.BYTES, f16);
                    float inverse = largest > 0 ? 127 / largest : 0;
                    for (int i = 0; i < BLOCK; i++) {
                        byte level = (byte) Math.round(source[first + i] * inverse);
                        memory.set(BYTE, base + at + (long) (b * BLOCK + i) * step, level);
                    }
                }
            }
        }
    }

    /// {@return element type of keys}
    public KvType keyType() {
        return keyType;
    }

    /// {@return element type of values}
    public KvType valueType() {
        return valueType;
    }

    /// {@return the memory of a page}
    ///
    /// @param page page; prepared
    public MemorySegment page(int page) {
        return pages[page];
    }

    /// {@return where the keys of a head begin in a page}
    ///
    /// @param layer layer
    /// @param head key head
    /// @param length elements of a head
    public long keysAt(int layer, int head, int length) {
        return keyOffset[layer] + head * headBytes(keyType, length);
    }

    /// {@return where the values of a head begin in a page; as [#keysAt]}
    public long valuesAt(int layer, int head, int length) {
        return valueOffset[layer] + head * headBytes(valueType, length);
    }

    /// Loads the keys of a head into `keys` of the tiles, `[length, TOKENS]`: all positions of the
    /// page, also those that nothing was stored at.
    ///
    /// @param layer layer
    /// @param page page
    /// @param head key head
    /// @param length elements of a head
    /// @param tiles the thread's memory
    /// @param math converts levels
    public void loadKeys(int layer, int page, int head, int length, Tiles tiles, AttentionMath math) {
        long base = keysAt(layer, head, length);
        int count = length * TOKENS;
        MemorySegment memory = pages[page];
        float[] target = tiles.keys();
        switch (keyType) {
            case F32 -> MemorySegment.copy(memory, FLOAT, base, target, 0, count);
            case F16 -> {
                MemorySegment.copy(memory, SHORT, base, tiles.f16(), 0, count);
                fromF16(tiles.f16(), 0, target, 0, count);
            }
            case Q8_0 -> {
                loadScales(memory, base + count, count / BLOCK, tiles);
                MemorySegment.copy(memory, BYTE, base, tiles.levels(), 0, count);
                math.keyLevels(tiles.levels(), tiles.scales(), length, target);
            }
        }
    }

    /// Loads values of a head into `values` of the tiles, `[TOKENS, aligned valueLength]`.
    ///
    /// @param op an op of the layer
    /// @param page page
    /// @param head key head
    /// @param from first position in the page
    /// @param to position after the last
    /// @param tiles the thread's memory
    /// @param math converts levels
    public void loadValues(CoreOp.Attention op, int page, int head, int from, int to, Tiles tiles, AttentionMath math) {
        int length = op.valueLength();
        int stride = AttentionMath.aligned(length);
        long base = valuesAt(op.layer(), head, length);
        int count = (to - from) * length;
        MemorySegment memory = pages[page];
        float[] target = tiles.values();
        switch (valueType) {
            case F32 -> {
                for (int p = from; p < to; p++) {
                    long at = base + (long) p * length * Float.BYTES;
                    MemorySegment.copy(memory, FLOAT, at, target, p * stride, length);
                }
            }
            case F16 -> {
                MemorySegment.copy(memory, SHORT, base + (long) from * length * Short.BYTES, tiles.f16(), 0, count);
                if (length == stride) {
                    fromF16(tiles.f16(), 0, target, from * stride, count);
                } else {
                    for (int p = from; p < to; p++) {
                        fromF16(tiles.f16(), (p - from) * length, target, p * stride, length);
                    }
                }
            }
            case Q8_0 -> {
                int blocks = length / BLOCK;
                loadScales(memory, base + (long) length * TOKENS, TOKENS * blocks, tiles);
                MemorySegment.copy(memory, BYTE, base + (long) from * length, tiles.levels(), from * length, count);
                math.valueLevels(tiles.levels(), tiles.scales(), length, stride, from, to, target);
            }
        }
    }

    /// Takes values out of the keys that the tiles hold, into `values` of the tiles, `[TOKENS, stride]`.
    ///
    /// @param length elements of a value
    /// @param stride elements from one position to the next in the tile
    /// @param from first position in the page
    /// @param to position after the last
    /// @param tiles the thread's memory
    public static void valuesOfKeys(int length, int stride, int from, int to, Tiles tiles) {
        float[] keys = tiles.keys();
        float[] values = tiles.values();
        for (int i = 0; i < length; i++) {
            for (int p = from; p < to; p++) {
                values[p * stride + i] = keys[i * TOKENS + p];
            }
        }
    }

    private static void loadScales(MemorySegment memory, long base, int count, Tiles tiles) {
        MemorySegment.copy(memory, SHORT, base, tiles.f16(), 0, count);
        fromF16(tiles.f16(), 0, tiles.scales(), 0, count);
    }

    // The loop below stands alone, so that the JIT compiler makes vector instructions of it.

    private static void fromF16(short[] source, int from, float[] target, int at, int count) {
        for (int i = 0; i < count; i++) {
            target[at + i] = Float.float16ToFloat(source[from + i]);
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
