package dev.tenon.backend.cpu.vector.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Value;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;
import dev.tenon.backend.cpu.vector.sequence.AttentionMemory;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CpuKvTests {
    private static final int HEADS = 3;
    private static final int KEY = 64;
    private static final int VALUE = 96;

    /// Fills two pages of two layers, then looks at every head.
    @ParameterizedTest
    @EnumSource(KvType.class)
    void whatIsStoredComesBackWithinHalfAStep(KvType type) {
        List<CoreOp.Attention> layers = List.of(layer(0), layer(1));
        Random random = new Random(2);
        CpuAllocator allocator = new CpuAllocator(1 << 30);
        try (CpuKv cache = new CpuKv(layers, false, false, 100, type, type, allocator)) {
            assertEquals(2, cache.pageCount());
            cache.prepare(0);
            cache.prepare(1);
            int elements = 4 * CpuKv.TOKENS * HEADS;
            float[] keys = values(random, elements * KEY);
            float[] values = values(random, elements * VALUE);
            for (int i = 0; i < elements; i++) {
                int slot = i / HEADS % CpuKv.TOKENS;
                int page = i / HEADS / CpuKv.TOKENS % 2;
                int layer = i / HEADS / CpuKv.TOKENS / 2;
                cache.storeKey(layer, page, slot, i % HEADS, keys, i * KEY, KEY);
                cache.storeValue(layer, page, slot, i % HEADS, values, i * VALUE, VALUE);
            }
            Tiles tiles = AttentionMemory.tiles(layers, new PlanMemory(new CpuAllocator(0)));
            for (int i = 0; i < elements; i++) {
                int slot = i / HEADS % CpuKv.TOKENS;
                int page = i / HEADS / CpuKv.TOKENS % 2;
                int layer = i / HEADS / CpuKv.TOKENS / 2;
                cache.loadKeys(layer, page, i % HEADS, KEY, tiles, AttentionMath.SCALAR);
                cache.loadValues(
                        layers.get(layer), page, i % HEADS, slot, Math.min(slot + 2, 64), tiles, AttentionMath.SCALAR);
                for (int k = 0; k < KEY; k++) {
                    close(type, keys, i * KEY + k, tiles.keys()[k * CpuKv.TOKENS + slot]);
                }
                for (int k = 0; k < VALUE; k++) {
                    close(type, values, i * VALUE + k, tiles.values()[slot * VALUE + k]);
                }
            }
        }
        assertEquals(0, allocator.use().allocatedBytes());
    }

    @Test
    void valuesThatAreInKeysTakeNoMemory() {
        AttentionParams params =
                AttentionParams.builder(4, 1, 1).valuesInKeys(true).build();
        Value queries = new Value(0, "q", 4 * 96);
        Value values = new Value(2, "v", 64);
        CoreOp.Attention latent =
                new CoreOp.Attention(queries, new Value(1, "k", 96), values, 0, params, new Value(3, "out", 4 * 64));
        CpuAllocator allocator = new CpuAllocator(1 << 30);
        try (CpuKv cache = new CpuKv(List.of(latent), false, false, 64, KvType.F16, KvType.F16, allocator)) {
            assertEquals(96 * 2 * CpuKv.TOKENS, cache.pageBytes());
        }
    }

    @Test
    void layersTakeOneAnothersPlaceWhereAStepReadsItsOwnAlone() {
        CpuAllocator allocator = new CpuAllocator(1 << 30);
        List<CoreOp.Attention> three = List.of(layer(0), layer(1), layer(2));
        try (CpuKv one = new CpuKv(List.of(layer(0)), false, false, 64, KvType.F16, KvType.F16, allocator);
                CpuKv once = new CpuKv(three, false, true, 64, KvType.F16, KvType.F16, allocator);
                CpuKv all = new CpuKv(three, false, false, 64, KvType.F16, KvType.F16, allocator)) {
            assertEquals(one.pageBytes(), once.pageBytes());
            assertEquals(3 * one.pageBytes(), all.pageBytes());
        }
    }

    @Test
    void aPageThatNothingWasStoredInIsCopiedAsZeros() {
        List<CoreOp.Attention> layers = List.of(layer(0));
        CpuAllocator allocator = new CpuAllocator(1 << 30);
        Tiles tiles = AttentionMemory.tiles(layers, new PlanMemory(new CpuAllocator(0)));
        try (CpuKv cache = new CpuKv(layers, false, false, 200, KvType.F32, KvType.F32, allocator)) {
            assertEquals(cache.pageCount() * cache.pageBytes(), allocator.use().allocatedBytes());
            cache.prepare(1);
            float[] keys = values(new Random(3), KEY);
            cache.storeKey(0, 1, 5, 2, keys, 0, KEY);
            cache.copy(1, 0);
            cache.loadKeys(0, 0, 2, KEY, tiles, AttentionMath.SCALAR);
            for (int k = 0; k < KEY; k++) {
                assertEquals(keys[k], tiles.keys()[k * CpuKv.TOKENS + 5]);
            }
            cache.copy(3, 1);
            cache.loadKeys(0, 1, 2, KEY, tiles, AttentionMath.SCALAR);
            for (int k = 0; k < KEY; k++) {
                assertEquals(0, tiles.keys()[k * CpuKv.TOKENS + 5]);
            }
            cache.copy(3, 2);
        }
        assertEquals(0, allocator.use().allocatedBytes());
    }

    private static void close(KvType type, float[] source, int at, float got) {
        float largest = 0;
        for (int i = at / CpuKv.BLOCK * CpuKv.BLOCK; i / CpuKv.BLOCK == at / CpuKv.BLOCK; i++) {
            largest = Math.max(largest, Math.abs(source[i]));
        }
        double allowed = switch (type) {
            case F32 -> 0;
            case F16 -> Math.max(Math.abs(source[at]) / 2048, 0x1p-25);
            // Half a step, and float16's rounding of the scale.
            case Q8_0 -> largest / 127 * 0.5 + largest / 2048;
        };
        assertEquals(source[at], got, allowed * 1.0001, type + " element " + at);
    }

    private static float[] values(Random random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    private static CoreOp.Attention layer(int layer) {
        return new CoreOp.Attention(
                new Value(0, "q", HEADS * KEY),
                new Value(1, "k", HEADS * KEY),
                new Value(2, "v", HEADS * VALUE),
                layer,
                AttentionParams.builder(HEADS, HEADS, 1).build(),
                new Value(3, "out", HEADS * VALUE));
    }
}
