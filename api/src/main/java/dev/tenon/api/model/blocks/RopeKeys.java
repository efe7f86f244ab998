package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import java.util.Optional;

/// The rotation that the keys `rope.*` of a file ask for.
public final class RopeKeys {
    private static final double MIN_FACTOR = 1e-3;
    private static final double MAX_FACTOR = 1e6;

    private RopeKeys() {}

    /// Reads base, rotated elements and scaling: `none`, `linear` or `yarn`, and the divisors in
    /// `rope_freqs.weight`. With YaRN sines and cosines are multiplied by `1 + 0.1 ln(factor)`, as its paper
    /// has it; architectures that do otherwise set the attention factor of the builder.
    ///
    /// @param keys the file's keys
    /// @param config gives the base, the head's length and how much of it is rotated
    /// @param pairing which elements make a pair
    /// @return a builder, for what the architecture adds
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-001`, `MODEL-002`) if a key is
    ///     missing or impossible
    /// @throws dev.tenon.api.error.UnsupportedModelException (`MODEL-003`) for another scaling
    public static RopeParams.Builder read(ModelKeys keys, ModelConfig config, Pairing pairing) {
        RopeParams.Builder rope = plain(keys, config, pairing, config.ropeFreqBase());
        String type = keys.text("rope.scaling.type", "none");
        switch (type) {
            case "none" -> {}
            case "linear" -> rope.freqScale(1 / factor(keys));
            case "yarn" -> {
                float factor = factor(keys);
                rope.yarn(Optional.of(new Yarn(
                                factor,
                                keys.integer("rope.scaling.original_context_length", 1, Integer.MAX_VALUE),
                                keys.numberOr("rope.scaling.yarn_beta_fast", 32, MIN_FACTOR, MAX_FACTOR),
                                keys.numberOr("rope.scaling.yarn_beta_slow", 1, MIN_FACTOR, MAX_FACTOR))))
                        .attentionFactor((float) (1 + 0.1 * Math.log(factor)));
            }
            default -> throw keys.unsupported("rope.scaling.type", type, "none, linear and yarn");
        }
        return rope;
    }

    /// The rotation without scaling, such as that of layers with a window.
    ///
    /// @param keys the file's keys
    /// @param config gives the head's length and how much of it is rotated
    /// @param pairing which elements make a pair
    /// @param freqBase base of the frequencies
    /// @return a builder, for what the architecture adds
    public static RopeParams.Builder plain(ModelKeys keys, ModelConfig config, Pairing pairing, float freqBase) {
        return RopeParams.builder(config.keyLength(), pairing, freqBase)
                .ropeDim(config.ropeDim())
                .freqFactors(
                        keys.source().has("rope_freqs.weight")
                                ? Optional.of(Weight.vector("rope_freqs.weight", config.ropeDim() / 2))
                                : Optional.empty());
    }

    /// {@return `rope.scaling.factor`, which must be there}
    ///
    /// @param keys the file's keys
    public static float factor(ModelKeys keys) {
        return keys.number("rope.scaling.factor", MIN_FACTOR, MAX_FACTOR);
    }
}
