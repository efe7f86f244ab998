package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// The hyperparameters of a model with random weights.
///
/// @param name what `general.name` says
/// @param architecture `llama` or `qwen3`; qwen3 has norms on query and key heads
/// @param layers number of layers
/// @param embedding length of the residual stream
/// @param heads attention heads
/// @param headsKv key and value heads; divides `heads`
/// @param headLength length of a query, key or value head; even
/// @param feedForward length of the feed-forward layer
/// @param vocabulary number of tokens, at least [#MIN_VOCABULARY]
/// @param context longest context the model claims
/// @param ropeFreqBase base of the rotation frequencies
/// @param normEpsilon epsilon of RMSNorm
/// @param ropeFactors whether there is a `rope_freqs.weight`, as Llama 3.1 and later have it
/// @param tied whether the embedding is the output matrix too
/// @param seed where randomness starts; equal shapes give equal files
public record SynthShape(
        String name,
        String architecture,
        int layers,
        int embedding,
        int heads,
        int headsKv,
        int headLength,
        int feedForward,
        int vocabulary,
        int context,
        float ropeFreqBase,
        float normEpsilon,
        boolean ropeFactors,
        boolean tied,
        long seed) {
    /// Fewest tokens: 256 bytes and three special tokens.
    public static final int MIN_VOCABULARY = 259;

    private static final Map<String, SynthShape> PRESETS = presets();

    /// Checks that the numbers match.
    public SynthShape {
        Objects.requireNonNull(name, "name");
        if (!architecture.equals("llama") && !architecture.equals("qwen3")) {
            throw argument("Architecture " + architecture + " cannot be generated; expected llama or qwen3.");
        }
        atLeast(1, "layers", layers);
        atLeast(1, "embedding", embedding);
        atLeast(1, "heads", heads);
        atLeast(1, "headsKv", headsKv);
        atLeast(2, "headLength", headLength);
        atLeast(1, "feedForward", feedForward);
        atLeast(MIN_VOCABULARY, "vocabulary", vocabulary);
        atLeast(1, "context", context);
        if (heads % headsKv != 0) {
            throw argument(heads + " heads cannot share " + headsKv + " key and value heads; expected a divisor.");
        }
        if (headLength % 2 != 0) {
            throw argument("headLength is " + headLength + "; expected an even number.");
        }
        if (!(ropeFreqBase > 0) || !(normEpsilon > 0)) {
            throw argument("ropeFreqBase is " + ropeFreqBase + " and normEpsilon " + normEpsilon
                    + "; expected positive numbers.");
        }
    }

    /// {@return a known shape}
    ///
    /// @param preset one of [#presetNames()], upper or lower case
    /// @throws TenonException (`CLI-001`) if there is none of that name
    public static SynthShape preset(String preset) {
        SynthShape shape = PRESETS.get(preset.toLowerCase(Locale.ROOT));
        if (shape == null) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "There is no shape named " + preset + "; expected one of " + String.join(", ", PRESETS.keySet())
                            + ".");
        }
        return shape;
    }

    /// {@return the names of the known shapes}
    public static List<String> presetNames() {
        return List.copyOf(PRESETS.keySet());
    }

    /// {@return length of all query heads together}
    public int queryLength() {
        return Math.multiplyExact(heads, headLength);
    }

    /// {@return length of all key heads together}
    public int keyLength() {
        return Math.multiplyExact(headsKv, headLength);
    }

    /// {@return a builder with the values of this shape}
    public Builder toBuilder() {
        return new Builder(this);
    }

    /// Builds a shape that differs from another one in some numbers. Not safe for several threads.
    public static final class Builder {
        private final SynthShape base;
        private int layers;
        private int embedding;
        private int heads;
        private int headsKv;
        private int headLength;
        private int feedForward;
        private int vocabulary;
        private int context;
        private boolean tied;
        private long seed;

        private Builder(SynthShape base) {
            this.base = base;
            layers = base.layers;
            embedding = base.embedding;
            heads = base.heads;
            headsKv = base.headsKv;
            headLength = base.headLength;
            feedForward = base.feedForward;
            vocabulary = base.vocabulary;
            context = base.context;
            tied = base.tied;
            seed = base.seed;
        }

        /// {@return this}
        ///
        /// @param count number of layers
        public Builder layers(int count) {
            layers = count;
            return this;
        }

        /// {@return this}
        ///
        /// @param length length of the residual stream; the head length stays
        public Builder embedding(int length) {
            embedding = length;
            return this;
        }

        /// {@return this}
        ///
        /// @param count attention heads
        /// @param countKv key and value heads
        /// @param length length of a head
        public Builder heads(int count, int countKv, int length) {
            heads = count;
            headsKv = countKv;
            headLength = length;
            return this;
        }

        /// {@return this}
        ///
        /// @param length length of the feed-forward layer
        public Builder feedForward(int length) {
            feedForward = length;
            return this;
        }

        /// {@return this}
        ///
        /// @param tokens number of tokens
        public Builder vocabulary(int tokens) {
            vocabulary = tokens;
            return this;
        }

        /// {@return this}
        ///
        /// @param length longest context
        public Builder context(int length) {
            context = length;
            return this;
        }

        /// {@return this}
        ///
        /// @param same whether embedding and output are one matrix
        public Builder tied(boolean same) {
            tied = same;
            return this;
        }

        /// {@return this}
        ///
        /// @param start where randomness starts
        public Builder seed(long start) {
            seed = start;
            return this;
        }

        /// {@return the shape}
        ///
        /// @throws TenonException (`STATE-002`) if the numbers do not match
        public SynthShape build() {
            return new SynthShape(
                    base.name,
                    base.architecture,
                    layers,
                    embedding,
                    heads,
                    headsKv,
                    headLength,
                    feedForward,
                    vocabulary,
                    context,
                    base.ropeFreqBase,
                    base.normEpsilon,
                    base.ropeFactors,
                    tied,
                    seed);
        }
    }

    private static void atLeast(int least, String what, int found) {
        if (found < least) {
            throw argument(what + " is " + found + "; expected at least " + least + ".");
        }
    }

    private static TenonException argument(String text) {
        return new TenonException(ErrorCode.ARGUMENT, text);
    }

    private static Map<String, SynthShape> presets() {
        Map<String, SynthShape> all = new TreeMap<>();
        all.put("llama-3.2-1b", llama("llama-3.2-1b", 16, 2048, 32, 64, 8192, 131072, true));
        all.put("llama-3.2-3b", llama("llama-3.2-3b", 28, 3072, 24, 128, 8192, 131072, true));
        all.put("llama-3-8b", llama("llama-3-8b", 32, 4096, 32, 128, 14336, 8192, false));
        all.put("qwen3-0.6b", qwen3("qwen3-0.6b", 28, 1024, 16, 3072));
        all.put("qwen3-1.7b", qwen3("qwen3-1.7b", 28, 2048, 16, 6144));
        all.put("qwen3-4b", qwen3("qwen3-4b", 36, 2560, 32, 9728));
        return all;
    }

    private static SynthShape llama(
            String name, int layers, int embedding, int heads, int headLength, int ff, int context, boolean small) {
        return new SynthShape(
                name,
                "llama",
                layers,
                embedding,
                heads,
                8,
                headLength,
                ff,
                128256,
                context,
                500000f,
                1e-5f,
                small,
                small,
                1);
    }

    private static SynthShape qwen3(String name, int layers, int embedding, int heads, int ff) {
        return new SynthShape(
                name, "qwen3", layers, embedding, heads, 8, 128, ff, 151936, 40960, 1000000f, 1e-6f, false, true, 1);
    }
}
