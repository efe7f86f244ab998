package dev.tenon.platform.core.placement;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.WindowLayers;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.control.Selection.Candidate;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a KV cache holds and takes, without the rest of a last page and what a backend adds to begin rows at whole
/// words.
///
/// @param layers layers that keep all positions
/// @param tokens positions that these hold, over all sequences
/// @param bytes of these
/// @param windowLayers layers with a window
/// @param windowTokens positions that these keep by themselves, or would; over all sequences
/// @param windowBytes bytes of a position over these
/// @param why why these keep all positions; empty if they keep `windowTokens`
record CacheSize(
        int layers, long tokens, long bytes, int windowLayers, long windowTokens, long windowBytes, String why) {
    private static final int LEAST_KEPT = 4;
    private static final int Q8_BLOCK = 32;
    private static final int Q8_BYTES = Q8_BLOCK + Short.BYTES;

    /// {@return that of a model}
    ///
    /// @param graph its graph
    /// @param config types of keys and values, and whether windows are kept
    /// @param settings of the request
    /// @param tokens positions, over all sequences
    /// @param sequences most sequences
    /// @param batchTokens most tokens of a step
    /// @param able whether the backend can keep windows
    static CacheSize of(
            Graph graph,
            EngineConfig config,
            Map<String, String> settings,
            long tokens,
            int sequences,
            int batchTokens,
            boolean able) {
        List<CoreOp.Attention> all = graph.cacheLayers();
        WindowLayers windows = WindowLayers.of(graph);
        long window = ofToken(windows.layers(), config.keyType(), config.valueType());
        long full = ofToken(all, config.keyType(), config.valueType()) - window;
        int span = windows.span();
        // What the next tokens see and some before, and a step.
        long needed = (long) sequences * (span + Placer.TAKEN_BACK) + batchTokens;
        // Windows of prompts that others begin like: some, and more while that is less than half of all.
        int most = config.prefixStates(span * window, settings);
        long kept = Math.clamp((tokens / 2 - needed) / Math.max(1, span), Math.min(most, LEAST_KEPT), most);
        long windowTokens = needed + kept * span;
        String why = "";
        if (windowTokens >= tokens) {
            why = "no fewer than all";
        } else if (!config.windows(settings)) {
            why = "setting cache.windows=off";
        } else if (!able) {
            why = "the backend keeps all positions";
        } else if (!graph.stateOps().isEmpty()) {
            why = "not for models with states"; // both would have to be where a sequence goes on
        }
        return new CacheSize(
                all.size() - windows.layers().size(),
                tokens,
                tokens * full,
                windows.layers().size(),
                windowTokens,
                window,
                why);
    }

    /// {@return bytes of a position over some layers}
    private static long ofToken(List<CoreOp.Attention> layers, KvType keys, KvType values) {
        return layers.stream()
                .mapToLong(layer -> layer.headCountKv()
                        * (bytes(keys, layer.keyLength())
                                + (layer.params().valuesInKeys() ? 0 : bytes(values, layer.valueLength()))))
                .sum();
    }

    private static long bytes(KvType type, int length) {
        return switch (type) {
            case F32 -> (long) length * Float.BYTES;
            case F16 -> (long) length * Short.BYTES;
            case Q8_0 -> (long) length / Q8_BLOCK * Q8_BYTES;
        };
    }

    /// {@return positions that layers with a window keep by themselves; 0 where they keep what the others do}
    int ownWindowTokens() {
        return windowLayers > 0 && why.isEmpty() ? (int) windowTokens : 0;
    }

    /// {@return in words; without candidates for a model without attention}
    ///
    /// @param origin who keeps it
    Selection selection(Class<?> origin) {
        List<Candidate> candidates = new ArrayList<>();
        boolean own = ownWindowTokens() > 0;
        int whole = layers + (own ? 0 : windowLayers);
        if (whole > 0) {
            String size = mebibytes(bytes + (own ? 0 : tokens * windowBytes));
            candidates.add(new Candidate("pages", origin, true, whole + " layers, " + size));
        }
        if (windowLayers > 0) {
            String size = windowLayers + " layers, " + windowTokens + " tokens, "
                    + mebibytes(windowTokens * windowBytes)
                    + (own ? " in place of " + mebibytes(tokens * windowBytes) : ": " + why);
            candidates.add(new Candidate("window pages", origin, own, size));
        }
        return new Selection("cache", "keys and values of " + tokens + " tokens", candidates);
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20));
    }
}
