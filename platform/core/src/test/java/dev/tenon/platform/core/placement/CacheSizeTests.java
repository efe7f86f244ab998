package dev.tenon.platform.core.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What the cache of a model with the layers of Gemma 3 27B takes: 16 key heads of 128, of six layers five with a
/// window of 1024.
class CacheSizeTests {
    private static final int LAYERS = 62;
    private static final int WIDTH = 16 * 128;
    private static final long GIB = 1L << 30;

    private static Graph graph(int window) {
        GraphBuilder g = new GraphBuilder("gemma");
        Weight table = new Weight("token_embd.weight", WIDTH, 10);
        Value x = g.embedding("x", table);
        for (int layer = 0; layer < LAYERS; layer++) {
            AttentionParams params = AttentionParams.builder(16, 16, 1)
                    .slidingWindow(layer % 6 == 5 ? 0 : window)
                    .build();
            x = g.attention("attended" + layer, x, x, x, layer, params);
        }
        return g.build(g.linear("logits", x, table, Optional.empty()));
    }

    private static CacheSize size(int window, long tokens, int sequences, Map<String, String> settings, boolean able) {
        return CacheSize.of(graph(window), EngineConfig.of(Map.of(), Map.of()), settings, tokens, sequences, 512, able);
    }

    @Test
    void layersWithAWindowTakeWhatTheWindowIs() {
        CacheSize size = size(1024, 1 << 17, 1, Map.of(), true);
        assertEquals(10, size.layers());
        assertEquals(10 * GIB, size.bytes());
        assertEquals(52, size.windowLayers());
        assertEquals(52 << 13, size.windowBytes());
        // A window and 64 tokens before it, a step, and four windows of prompts.
        assertEquals(1024 + 64 + 512 + 4 * 1024, size.ownWindowTokens());
        assertEquals(
                "[52 layers, 5696 tokens, 2314.0 MiB in place of 53248.0 MiB]",
                size.selection(null).candidates().stream()
                        .skip(1)
                        .map(candidate -> candidate.reason())
                        .toList()
                        .toString());
        assertEquals(
                4 * 1088 + 512 + 4 * 1024,
                size(1024, 1 << 19, 4, Map.of(), true).ownWindowTokens());
    }

    @Test
    void theyKeepAllPositionsWhereThatIsNotMore() {
        assertEquals(0, size(1024, 4096, 1, Map.of(), true).ownWindowTokens());
        assertEquals(
                1024 + 64 + 512,
                size(1024, 4096, 1, Map.of("prefix.cache", "off"), true).ownWindowTokens());
    }

    @Test
    void moreWindowsOfPromptsAreKeptUpToHalfOfAllPositions() {
        assertEquals(16 + 64 + 512 + 64 * 16, size(16, 4096, 1, Map.of(), true).ownWindowTokens());
    }

    @Test
    void aReasonSaysWhyTheyDoNot() {
        assertEquals(
                "setting cache.windows=off",
                size(1024, 1 << 17, 1, Map.of("cache.windows", "off"), true).why());
        assertEquals(
                "the backend keeps all positions",
                size(1024, 1 << 17, 1, Map.of(), false).why());
        assertEquals(0, size(1024, 1 << 17, 1, Map.of(), false).ownWindowTokens());
    }
}
