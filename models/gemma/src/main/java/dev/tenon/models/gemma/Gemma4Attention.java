package dev.tenon.models.gemma;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;

/// Attention of Gemma 4 and Gemma 3n.
///
/// Layers with a window have heads of another length than those that see everything, and rotate with a base of their
/// own; the others turn only the pairs that the file's factors leave. Heads of queries and keys are normed before they
/// are rotated, those of values without a weight, and scores are not scaled. Where a layer that sees everything has no
/// values, they are its keys as projected. The last `attention.shared_kv_layers` layers have neither keys nor values:
/// they read those of the last layer of their kind that has some.
final class Gemma4Attention {
    private static final float DEFAULT_FREQ_BASE_OF_WINDOWS = 10_000;
    private static final double MAX_FREQ_BASE = 1e15;

    private final DecoderBlocks d;
    private final ModelKeys keys;
    private final boolean[] windows;
    private final int[] headCountsKv;
    private final int ownLayers;
    private final Kind all;
    private final Kind window;
    private final Cached[] cached;

    /// What layers have in common that see a window, or everything.
    ///
    /// @param keyLength elements of a head of queries and keys
    /// @param valueLength elements of a head of values
    /// @param window positions that they see; 0 for all
    /// @param rope how they rotate
    private record Kind(int keyLength, int valueLength, int window, RopeParams rope) {}

    /// What a layer leaves in the cache.
    private record Cached(Value k, Value v, int layer) {}

    /// @param windows which layers see a window
    Gemma4Attention(DecoderBlocks d, ModelKeys keys, boolean[] windows) {
        this.windows = windows;
        this.d = d;
        this.keys = keys;
        ModelConfig c = d.config();
        int layers = c.blockCount();
        headCountsKv = d.headCountsKv();
        ownLayers = layers - keys.integerOr("attention.shared_kv_layers", 0, 0, layers - 1);
        cached = new Cached[ownLayers];
        RopeParams rope = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();
        all = new Kind(c.keyLength(), c.valueLength(), 0, rope);
        int keyLength = keys.integerOr("attention.key_length_swa", c.keyLength(), 2, c.keyLength());
        int valueLength = keys.integerOr("attention.value_length_swa", c.valueLength(), 1, c.valueLength());
        int size = keys.integer("attention.sliding_window", 1, GemmaBlocks.MAX_WINDOW);
        window = new Kind(keyLength, valueLength, size, ropeOfWindows(keyLength));
    }

    private RopeParams ropeOfWindows(int length) {
        int turned = keys.integerOr("rope.dimension_count_swa", length, 2, length);
        if (turned % 2 != 0) {
            throw keys.impossible("rope.dimension_count_swa", turned, "an even number, 2 to " + length);
        }
        float base = keys.numberOr("rope.freq_base_swa", DEFAULT_FREQ_BASE_OF_WINDOWS, 1, MAX_FREQ_BASE);
        return RopeParams.builder(length, Pairing.HALF_SPLIT, base)
                .ropeDim(turned)
                .build();
    }

    /// {@return the projected result of a layer, `[T, E]`}
    ///
    /// @param layer the next layer
    /// @param x its normed input, `[T, E]`
    Value of(int layer, Value x) {
        GraphBuilder g = d.graph();
        String blk = "blk." + layer + ".";
        ModelConfig c = d.config();
        Kind kind = windows[layer] ? window : all;

        Value q = d.linear(blk + "attn_q", x, c.headCount() * kind.keyLength); //                     [T, H * K]
        q = g.rope(blk + "q_rope", d.rmsNorm(blk + "attn_q_norm", q, kind.keyLength), kind.rope);
        Cached kv = layer < ownLayers ? cache(layer, x, kind) : shared(layer);
        AttentionParams params = AttentionParams.builder(c.headCount(), headCountsKv[kv.layer], 1)
                .slidingWindow(kind.window)
                .spans(keys.source().rowWidth() > 0)
                .build();
        Value attended = g.attention(blk + "attn", q, kv.k, kv.v, kv.layer, params); //               [T, H * V]
        return d.linear(blk + "attn_output", attended, c.embeddingLength()); //                       [T, E]
    }

    private Cached cache(int layer, Value x, Kind kind) {
        GraphBuilder g = d.graph();
        String blk = "blk." + layer + ".";
        int heads = headCountsKv[layer];
        if (heads == 0) {
            throw keys.impossible("attention.head_count_kv", "0 for layer " + layer, "1 or more for every layer");
        }
        Value projected = d.linear(blk + "attn_k", x, heads * kind.keyLength); //                     [T, Hkv * K]
        Value k = g.rope(blk + "k_rope", d.rmsNorm(blk + "attn_k_norm", projected, kind.keyLength), kind.rope);
        boolean ownValues = windows[layer] || keys.source().has(blk + "attn_v.weight");
        Value v = ownValues ? d.linear(blk + "attn_v", x, heads * kind.valueLength) : projected; //   [T, Hkv * V]
        v = g.plainRmsNorm(blk + "attn_v_norm", v, heads, d.config().rmsEps());
        cached[layer] = new Cached(k, v, layer);
        return cached[layer];
    }

    /// What the last layer of the same kind left that has keys and values of its own.
    private Cached shared(int layer) {
        for (int own = ownLayers - 1; own >= 0; own--) {
            if (windows[own] == windows[layer]) {
                return cached[own];
            }
        }
        throw keys.impossible(
                "attention.shared_kv_layers",
                cached.length,
                "that a layer before them is of the kind of layer " + layer);
    }
}
