package dev.tenon.platform.tools.gguf;

import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// Metadata keys and their values, in their order. Not safe for several threads.
final class SynthKeys {
    /// How many of the last layers have the keys and values of others.
    static final String SHARED_KV = "attention.shared_kv_layers";

    private final Map<String, GgufValue> keys = new LinkedHashMap<>();

    /// Sets a key.
    ///
    /// @param value `Integer`, `Float`, `Boolean`, `String`, `long[]`, `float[]` or `boolean[]`
    /// @return this
    SynthKeys put(String key, Object value) {
        keys.put(
                key,
                switch (value) {
                    case Integer number -> GgufValue.ofUint32(number);
                    case Float number -> GgufValue.of(number);
                    case Boolean truth -> GgufValue.of(truth);
                    case String text -> GgufValue.of(text);
                    case long[] numbers -> GgufValue.ofInt32Array(numbers);
                    case float[] numbers -> GgufValue.of(numbers);
                    case boolean[] truths -> new GgufValue(GgufType.ARRAY, GgufType.BOOL, truths);
                    default -> throw new IllegalArgumentException(key + " is " + value.getClass());
                });
        return this;
    }

    /// {@return keys and values}
    Map<String, GgufValue> map() {
        return keys;
    }

    /// {@return the keys of a small Gemma 4: heads of two lengths, layers without keys and values,
    ///     a second table of embeddings}
    ///
    /// @param layers number of layers
    /// @param period layers from one that sees everything to the next
    /// @param shared layers without keys and values, the last ones
    /// @param ownWidth elements of the feed-forward layer of the others
    /// @param sharedWidth elements of theirs
    static Map<String, GgufValue> gemma4(int layers, int period, int shared, int ownWidth, int sharedWidth) {
        boolean[] windows = new boolean[layers];
        long[] widths = new long[layers];
        for (int layer = 0; layer < layers; layer++) {
            windows[layer] = layer % period != period - 1;
            widths[layer] = layer < layers - shared ? ownWidth : sharedWidth;
        }
        return new SynthKeys()
                .put("attention.sliding_window", 512)
                .put("attention.sliding_window_pattern", windows)
                .put("attention.key_length_swa", 256)
                .put("attention.value_length_swa", 256)
                .put("rope.dimension_count_swa", 256)
                .put("rope.freq_base_swa", 10_000f)
                .put(SHARED_KV, shared)
                .put("feed_forward_length", widths)
                .put("embedding_length_per_layer_input", 256)
                .put("final_logit_softcapping", 30f)
                .map();
    }

    /// {@return the keys of a Gemma 3n: those of a small Gemma 4 with heads of one length, several residual streams,
    /// and
    ///     gates of which few stay in the first layers}
    ///
    /// @param layers number of layers
    /// @param shared layers without keys and values, the last ones
    /// @param width elements of the feed-forward layer
    static Map<String, GgufValue> gemma3n(int layers, int shared, int width) {
        float[] deviations = new float[layers];
        // Those of a normal distribution beyond which 5 % lie.
        Arrays.fill(deviations, 0, 10, 1.6448536f);
        SynthKeys keys = new SynthKeys()
                .put("altup.num_inputs", 4)
                .put("altup.active_idx", 0)
                .put("activation_sparsity_scale", deviations);
        keys.keys.putAll(gemma4(layers, 5, shared, width, width));
        return keys.map();
    }

    /// {@return the keys of layers of which some have attention, and the others a short convolution}
    ///
    /// @param layers number of layers
    /// @param attention which of them have attention
    /// @param headsKv key heads of those
    static Map<String, GgufValue> shortConvolutions(int layers, Set<Integer> attention, int headsKv) {
        long[] heads = new long[layers];
        attention.forEach(layer -> heads[layer] = headsKv);
        return new SynthKeys()
                .put("attention.head_count_kv", heads)
                .put("shortconv.l_cache", 3)
                .map();
    }

    /// {@return the keys of latent attention without compressed queries}
    ///
    /// @param latent elements that keys and values are projections of
    /// @param plain elements of a head's query that are not rotated
    /// @param turned elements that are
    /// @param value elements of a head's value
    static Map<String, GgufValue> latentAttention(int latent, int plain, int turned, int value) {
        return new SynthKeys()
                .put("attention.kv_lora_rank", latent)
                .put("attention.key_length", latent + turned)
                .put("attention.value_length", latent)
                .put("attention.key_length_mla", plain + turned)
                .put("attention.value_length_mla", value)
                .put("rope.dimension_count", turned)
                .map();
    }

    /// {@return the keys of layers with a gated delta rule, of which every fourth has attention}
    ///
    /// @param valueHeads heads of the delta rule
    static Map<String, GgufValue> deltaRule(int valueHeads) {
        return new SynthKeys()
                .put("full_attention_interval", 4)
                .put("ssm.state_size", 128)
                .put("ssm.group_count", 16)
                .put("ssm.time_step_rank", valueHeads)
                .put("ssm.inner_size", valueHeads * 128)
                .put("ssm.conv_kernel", 4)
                .put("rope.dimension_count", 64)
                .put("rope.dimension_sections", new long[] {11, 11, 10, 0})
                .map();
    }

    /// {@return the keys of Mamba-2 layers}
    ///
    /// @param inner elements of the layer
    /// @param heads its heads
    /// @param state elements of a state
    /// @param groups groups of heads
    static Map<String, GgufValue> mamba2(int inner, int heads, int state, int groups) {
        return new SynthKeys()
                .put("ssm.inner_size", inner)
                .put("ssm.state_size", state)
                .put("ssm.group_count", groups)
                .put("ssm.time_step_rank", heads)
                .put("ssm.conv_kernel", 4)
                .map();
    }

    /// {@return the keys of layers each of which is a Mamba-2 layer, attention, or a feed-forward layer}
    ///
    /// @param layers a letter a layer: M for Mamba-2, `*` for attention, E for experts, `-` for a dense one
    /// @param headsKv key heads of a layer with attention
    /// @param width elements of an expert or of a dense layer
    static Map<String, GgufValue> mixedLayers(String layers, int headsKv, int width) {
        long[] heads = new long[layers.length()];
        long[] widths = new long[layers.length()];
        for (int layer = 0; layer < heads.length; layer++) {
            heads[layer] = layers.charAt(layer) == '*' ? headsKv : 0;
            widths[layer] = "E-".indexOf(layers.charAt(layer)) >= 0 ? width : 0;
        }
        return new SynthKeys()
                .put("attention.head_count_kv", heads)
                .put("feed_forward_length", widths)
                .map();
    }
}
