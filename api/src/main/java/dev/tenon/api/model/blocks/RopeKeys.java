package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Turn;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// The rotation that the keys `rope.*` of a file ask for.
public final class RopeKeys {
    private static final double MIN_FACTOR = 1e-3;
    private static final double MAX_FACTOR = 1e6;

    private static final String LONG = "rope_factors_long.weight";
    private static final String SHORT = "rope_factors_short.weight";

    private static final String SECTIONS = "rope.dimension_sections";
    /// Those that a token has a coordinate on; sections may be one more, where it is 0.
    private static final int AXES = 3;

    private RopeKeys() {}

    /// Reads base, rotated elements and scaling.
    ///
    /// `rope.scaling.type` is `none`, `linear`, `yarn` or `longrope`; where it is missing, a factor means
    /// `linear`, and tensors of factors `longrope`. The scaling of Llama 3 has no type: its divisors are in
    /// `rope_freqs.weight`.
    ///
    /// - `linear` divides frequencies by `rope.scaling.factor`.
    /// - `yarn` is [Yarn], with sines and cosines multiplied by `(1 + 0.1 ln(factor)) / (1 + 0.1 m ln(factor))`,
    ///   where `m` is `yarn_log_multiplier`, 0 if missing.
    /// - `longrope` (Ding et al. 2024) divides frequencies by `rope_factors_long.weight` where a sequence may be
    ///   longer than `original_context_length`, and by `rope_factors_short.weight` elsewhere.
    ///
    /// `attn_factor` is what sines and cosines are multiplied by instead, with every scaling.
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
        float magnitude = 1;
        String type = type(keys);
        switch (type) {
            case "none" -> {}
            case "linear" -> rope.freqScale(1 / factor(keys));
            case "yarn" -> {
                Yarn yarn = yarn(keys);
                rope.yarn(Optional.of(yarn));
                float multiplier = keys.numberOr("rope.scaling.yarn_log_multiplier", 0, 0, MAX_FACTOR);
                magnitude = (float) (magnitude(yarn.factor(), 1) / magnitude(yarn.factor(), multiplier));
            }
            case "longrope" -> rope.freqFactors(Optional.of(longRope(keys, config)));
            default -> throw keys.unsupported("rope.scaling.type", type, "none, linear, yarn and longrope");
        }
        return rope.attentionFactor(keys.numberOr("rope.scaling.attn_factor", magnitude, MIN_FACTOR, MAX_FACTOR));
    }

    /// Has pairs turn along the axes of time, height and width where rows of pictures may come
    /// ([dev.tenon.api.model.ModelSource#rowWidth()]) and the file says which (`rope.dimension_sections`, M-RoPE).
    /// With texts alone all three are the position, so nothing is said then, unless pairs are left that turn by
    /// none.
    ///
    /// @param keys the file's keys
    /// @param rope the rotation, to which this is added
    /// @param pairs how many pairs there are
    /// @param interleaved whether axes take turns from pair to pair; otherwise each has a run of pairs
    /// @return the same builder
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-002`) if the sections are impossible
    public static RopeParams.Builder alongAxes(
            ModelKeys keys, RopeParams.Builder rope, int pairs, boolean interleaved) {
        if (!keys.has(SECTIONS)) {
            return rope;
        }
        int[] sections = keys.perLayer(SECTIONS, AXES + 1, 0, pairs);
        List<Turn> turns = IntStream.range(0, pairs)
                .mapToObj(i -> new Turn(interleaved ? turnsOver(sections, i) : runsOver(sections, i), i))
                .toList();
        boolean byPosition = keys.source().rowWidth() == 0 && turns.stream().allMatch(turn -> turn.axis() < AXES);
        return byPosition ? rope : rope.turns(turns);
    }

    private static int turnsOver(int[] sections, int pair) {
        int axis = pair % AXES;
        return pair < AXES * sections[axis] ? axis : AXES;
    }

    private static int runsOver(int[] sections, int pair) {
        int axis = 0;
        for (int end = sections[0]; axis < AXES && pair >= end; end += sections[axis]) {
            axis++;
        }
        return axis;
    }

    private static String type(ModelKeys keys) {
        String otherwise = keys.has("rope.scaling.factor") ? "linear" : "none";
        String type = keys.text("rope.scaling.type", otherwise);
        return type.equals("none") && keys.source().has(LONG) ? "longrope" : type;
    }

    private static Yarn yarn(ModelKeys keys) {
        float fast = keys.numberOr("rope.scaling.yarn_beta_fast", 32, MIN_FACTOR, MAX_FACTOR);
        float slow = keys.numberOr("rope.scaling.yarn_beta_slow", 1, MIN_FACTOR, MAX_FACTOR);
        if (slow >= fast) {
            throw keys.impossible("rope.scaling.yarn_beta_slow", slow, "less than yarn_beta_fast, which is " + fast);
        }
        return new Yarn(factor(keys), originalContext(keys), fast, slow);
    }

    /// {@return what YaRN multiplies queries and keys by: `1 + 0.1 multiplier ln(factor)`, and 1 for a shorter context}
    ///
    /// @param factor how much longer the context is
    /// @param multiplier 1 in the paper
    public static double magnitude(float factor, double multiplier) {
        return factor <= 1 ? 1 : 1 + 0.1 * multiplier * Math.log(factor);
    }

    private static Weight longRope(ModelKeys keys, ModelConfig config) {
        int asked = keys.source().contextLength();
        int context = asked > 0 ? asked : config.contextLength();
        return Weight.vector(context > originalContext(keys) ? LONG : SHORT, config.ropeDim() / 2);
    }

    /// {@return `rope.scaling.original_context_length`, which must be there}
    ///
    /// @param keys the file's keys
    public static int originalContext(ModelKeys keys) {
        return keys.integer("rope.scaling.original_context_length", 1, Integer.MAX_VALUE);
    }

    /// {@return whether a tensor holds the factors of one of the two lengths of a context, of which a model uses one}
    ///
    /// @param tensor its name
    public static boolean isLongRope(String tensor) {
        return tensor.equals(LONG) || tensor.equals(SHORT);
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
