package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufValue;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// The hyperparameters of a model with random weights.
///
/// @param name what `general.name` says
/// @param architecture `general.architecture`
/// @param layers number of layers
/// @param embedding length of the residual stream
/// @param heads attention heads
/// @param headsKv key and value heads; divides `heads`
/// @param headLength length of a query, key or value head; even
/// @param feedForward length of the feed-forward layer; of an expert where there are experts
/// @param experts number of experts, 0 for none
/// @param expertsUsed how many experts a token uses
/// @param vocabulary number of tokens, at least [#MIN_VOCABULARY]
/// @param context longest context the model claims
/// @param ropeFreqBase base of the rotation frequencies
/// @param normEpsilon epsilon of RMSNorm
/// @param ropeFactors what `rope_freqs.weight` holds
/// @param tied whether the embedding is the output matrix too
/// @param seed where randomness starts; equal shapes give equal files
/// @param keys further keys, without the architecture before them, or such as begin with
///     `tokenizer.`; they replace usual ones
/// @param optional names of tensors that an architecture can do without, and which the model has;
///     `blk.*.` stands for each layer. Those that the architecture does not use then are left out
public record SynthShape(
        String name,
        String architecture,
        int layers,
        int embedding,
        int heads,
        int headsKv,
        int headLength,
        int feedForward,
        int experts,
        int expertsUsed,
        int vocabulary,
        int context,
        float ropeFreqBase,
        float normEpsilon,
        RopeFactors ropeFactors,
        boolean tied,
        long seed,
        Map<String, GgufValue> keys,
        Set<String> optional) {
    /// Fewest tokens: 256 bytes and three special tokens.
    public static final int MIN_VOCABULARY = 259;

    /// By what the frequencies of the rotation are divided.
    public enum RopeFactors {
        /// There is no such tensor.
        NONE,
        /// As in Llama 3.1 and later: long waves by 32, for an original context of 8192.
        STRETCHED,
        /// As in Gemma 4: all pairs but the first quarter hardly turn.
        QUARTER
    }

    /// Checks that the numbers match.
    public SynthShape {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(architecture, "architecture");
        atLeast(1, "layers", layers);
        atLeast(1, "embedding", embedding);
        atLeast(1, "heads", heads);
        atLeast(1, "headsKv", headsKv);
        atLeast(2, "headLength", headLength);
        atLeast(1, "feedForward", feedForward);
        atLeast(0, "experts", experts);
        atLeast(Math.min(experts, 1), "expertsUsed", expertsUsed);
        if (expertsUsed > experts) {
            throw argument("A token cannot use " + expertsUsed + " of " + experts + " experts.");
        }
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
        keys = Collections.unmodifiableMap(new LinkedHashMap<>(keys));
        optional = Set.copyOf(optional);
    }

    /// {@return a known shape}
    ///
    /// @param preset one of [#presetNames()], upper or lower case
    /// @throws TenonException (`CLI-001`) if there is none of that name
    public static SynthShape preset(String preset) {
        SynthShape shape = SynthPresets.ALL.get(preset.toLowerCase(Locale.ROOT));
        if (shape == null) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "There is no shape named " + preset + "; expected one of "
                            + String.join(", ", SynthPresets.ALL.keySet()) + ".");
        }
        return shape;
    }

    /// {@return the names of the known shapes}
    public static List<String> presetNames() {
        return List.copyOf(SynthPresets.ALL.keySet());
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
        private final Map<String, GgufValue> keys;
        private final Set<String> optional;
        private String architecture;
        private int layers;
        private int embedding;
        private int heads;
        private int headsKv;
        private int headLength;
        private int feedForward;
        private int experts;
        private int expertsUsed;
        private int vocabulary;
        private int context;
        private boolean tied;
        private long seed;

        private Builder(SynthShape base) {
            this.base = base;
            keys = new LinkedHashMap<>(base.keys);
            optional = new HashSet<>(base.optional);
            architecture = base.architecture;
            layers = base.layers;
            embedding = base.embedding;
            heads = base.heads;
            headsKv = base.headsKv;
            headLength = base.headLength;
            feedForward = base.feedForward;
            experts = base.experts;
            expertsUsed = base.expertsUsed;
            vocabulary = base.vocabulary;
            context = base.context;
            tied = base.tied;
            seed = base.seed;
        }

        /// {@return this}
        ///
        /// @param id another architecture, with the numbers of this shape
        public Builder architecture(String id) {
            architecture = id;
            return this;
        }

        /// {@return this}
        ///
        /// @param further more keys, without the architecture before them
        public Builder keys(Map<String, GgufValue> further) {
            keys.putAll(further);
            return this;
        }

        /// {@return this}
        ///
        /// @param tensors more tensors that an architecture can do without
        public Builder optional(Collection<String> tensors) {
            optional.addAll(tensors);
            return this;
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
        /// @param length length of the feed-forward layer, or of an expert
        public Builder feedForward(int length) {
            feedForward = length;
            return this;
        }

        /// {@return this}
        ///
        /// @param count number of experts
        /// @param used how many of them a token uses
        public Builder experts(int count, int used) {
            experts = count;
            expertsUsed = used;
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

        /// {@return the shape; of one whose layers differ, the first ones}
        ///
        /// @throws TenonException (`STATE-002`) if the numbers do not match
        public SynthShape build() {
            return new SynthShape(
                    base.name,
                    architecture,
                    layers,
                    embedding,
                    heads,
                    headsKv,
                    headLength,
                    feedForward,
                    experts,
                    expertsUsed,
                    vocabulary,
                    context,
                    base.ropeFreqBase,
                    base.normEpsilon,
                    base.ropeFactors,
                    tied,
                    seed,
                    cutKeys(),
                    optional);
        }

        /// {@return the keys, their lists of a value for each layer as long as there are layers}
        private Map<String, GgufValue> cutKeys() {
            Map<String, GgufValue> cut = new LinkedHashMap<>(keys);
            cut.replaceAll((key, value) -> switch (value.value()) {
                case boolean[] each
                when each.length == base.layers ->
                    new GgufValue(value.type(), value.elementType(), Arrays.copyOf(each, cut()));
                case long[] each
                when each.length == base.layers ->
                    new GgufValue(value.type(), value.elementType(), Arrays.copyOf(each, cut()));
                case float[] each
                when each.length == base.layers ->
                    new GgufValue(value.type(), value.elementType(), Arrays.copyOf(each, cut()));
                // The last layers share, which are the first to go.
                case Number last
                when key.equals(SynthKeys.SHARED_KV) ->
                    GgufValue.ofUint32(Math.max(0, last.longValue() - (base.layers - cut())));
                default -> value;
            });
            return cut;
        }

        private int cut() {
            if (layers > base.layers) {
                throw argument("The layers of " + base.name + " differ, and there are " + base.layers + " of them; not "
                        + layers + ".");
            }
            return layers;
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
}
