package dev.tenon.api.graph;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// How rotary position embedding (RoPE, Su et al. 2021) turns pairs of elements of each head. Immutable; made by
/// [#builder(int, Pairing, float)].
///
/// Pair `i` of `ropeDim / 2` is rotated by `position * frequency(i) / factor[i]`, and both of its elements are
/// multiplied by `attentionFactor`. [#frequency(int)] is `freqScale * freqBase^(-2i / ropeDim)`, changed by
/// [Yarn] if that is there. With [#turns()] each pair has a coordinate of the token in place of its position, and
/// the number of another pair in place of `i` in its frequency: so tokens that stand in a picture are rotated. With
/// [#run()], the position is that of the first token of a run.
public final class RopeParams {
    /// Which two elements of a head are rotated together.
    public enum Pairing {
        /// Elements `2i` and `2i + 1` (llama; ggml calls it NORM).
        INTERLEAVED,
        /// Elements `i` and `i + ropeDim / 2` (qwen and most others; ggml calls it NEOX).
        HALF_SPLIT
    }

    /// YaRN (Peng et al. 2023): pairs that turn less than `betaSlow` times in the original context get the
    /// frequency divided by `factor`, those that turn more than `betaFast` times keep it, the ones between
    /// change gradually.
    ///
    /// @param factor how much longer the context is than the original one
    /// @param originalContextLength positions that the model was trained for
    /// @param betaFast turns, usually 32
    /// @param betaSlow turns, usually 1
    public record Yarn(float factor, int originalContextLength, float betaFast, float betaSlow) {
        /// Checks the numbers.
        public Yarn {
            if (!(factor > 0) || originalContextLength < 1 || !(betaSlow > 0) || !(betaFast > betaSlow)) {
                throw new IllegalArgumentException("YaRN with factor " + factor + ", original context length "
                        + originalContextLength + ", beta " + betaFast + " and " + betaSlow
                        + "; expected positive numbers, the fast beta above the slow one");
            }
        }
    }

    /// What a pair is rotated by.
    ///
    /// @param axis which coordinate of the token ([dev.tenon.api.device.StepInput#coordinate])
    /// @param order the pair that has the frequency where there are no turns, 0-based
    public record Turn(int axis, int order) {
        /// Checks the numbers.
        public Turn {
            if (axis < 0 || order < 0) {
                throw new IllegalArgumentException(
                        "turn along axis " + axis + " with order " + order + "; expected numbers from 0");
            }
        }
    }

    private final int headDim;
    private final Pairing pairing;
    private final float freqBase;
    private final int ropeDim;
    private final List<Turn> turns;
    private final int span;
    private final int run;
    private final float freqScale;
    private final Optional<Weight> freqFactors;
    private final Optional<Yarn> yarn;
    private final float attentionFactor;

    private RopeParams(Builder builder) {
        this.headDim = builder.headDim;
        this.pairing = builder.pairing;
        this.freqBase = builder.freqBase;
        this.ropeDim = builder.ropeDim;
        this.turns = builder.turns;
        this.span = builder.span == 0 ? builder.ropeDim : builder.span;
        this.run = builder.run;
        this.freqScale = builder.freqScale;
        this.freqFactors = builder.freqFactors;
        this.yarn = builder.yarn;
        this.attentionFactor = builder.attentionFactor;
    }

    /// {@return a builder of a rotation of whole heads, without scaling and factors}
    ///
    /// @param headDim elements in a head, at least 2
    /// @param pairing which two elements make a pair
    /// @param freqBase base of the frequencies, such as 10000
    public static Builder builder(int headDim, Pairing pairing, float freqBase) {
        return new Builder(headDim, pairing, freqBase);
    }

    /// {@return a builder that starts with these values}
    public Builder toBuilder() {
        Builder builder = new Builder(headDim, pairing, freqBase);
        builder.ropeDim = ropeDim;
        builder.turns = turns;
        builder.span = span;
        builder.run = run;
        builder.freqScale = freqScale;
        builder.freqFactors = freqFactors;
        builder.yarn = yarn;
        builder.attentionFactor = attentionFactor;
        return builder;
    }

    /// {@return the elements in a head; a row holds whole heads}
    public int headDim() {
        return headDim;
    }

    /// {@return which two elements make a pair}
    public Pairing pairing() {
        return pairing;
    }

    /// {@return the base of the frequencies, such as 10000}
    public float freqBase() {
        return freqBase;
    }

    /// {@return how many elements of each head are rotated; the rest pass unchanged}
    public int ropeDim() {
        return ropeDim;
    }

    /// {@return what each pair is rotated by, `ropeDim / 2` of them; empty where all are by the position}
    public List<Turn> turns() {
        return turns;
    }

    /// {@return elements that are paired among themselves: `ropeDim`, or a part of it of which there are several}
    public int span() {
        return span;
    }

    /// {@return positions of a run, all tokens of which are rotated as its first: `position - position mod run`; 1
    ///     without runs}
    public int run() {
        return run;
    }

    /// {@return the factor on positions; 1 unless linear scaling is used}
    public float freqScale() {
        return freqScale;
    }

    /// {@return divisors of the frequencies, one a pair (`rope_freqs.weight`, or one of
    ///     `rope_factors_long.weight` and `rope_factors_short.weight`), or empty}
    public Optional<Weight> freqFactors() {
        return freqFactors;
    }

    /// {@return the scaling of long contexts, or empty}
    public Optional<Yarn> yarn() {
        return yarn;
    }

    /// {@return the factor on sines and cosines}
    public float attentionFactor() {
        return attentionFactor;
    }

    /// {@return the angle of a pair at position 1, not divided by its factor yet}
    ///
    /// @param pair 0 to `ropeDim / 2 - 1`
    public double frequency(int pair) {
        int order = turns.isEmpty() ? pair : turns.get(pair).order();
        double frequency = freqScale * Math.pow(freqBase, -2.0 * order / ropeDim);
        if (yarn.isEmpty()) {
            return frequency;
        }
        double from = Math.max(0, Math.floor(pairTurning(yarn.get().betaFast())));
        double to = Math.min(ropeDim - 1, Math.ceil(pairTurning(yarn.get().betaSlow())));
        double interpolated = Math.clamp((pair - from) / Math.max(0.001, to - from), 0, 1);
        return frequency * (1 - interpolated + interpolated / yarn.get().factor());
    }

    /// The pair, as a real number, that turns so many times in the original context.
    private double pairTurning(double turns) {
        return ropeDim
                * Math.log(yarn.get().originalContextLength() / (2 * Math.PI * turns))
                / (2 * Math.log(freqBase));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RopeParams that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "RopeParams" + values();
    }

    private List<Object> values() {
        return List.of(
                headDim, pairing, freqBase, ropeDim, turns, span, run, freqScale, freqFactors, yarn, attentionFactor);
    }

    /// Builds one. Not safe for several threads.
    public static final class Builder {
        private final int headDim;
        private final Pairing pairing;
        private final float freqBase;
        private int ropeDim;
        private List<Turn> turns = List.of();
        private int span;
        private int run = 1;
        private float freqScale = 1;
        private Optional<Weight> freqFactors = Optional.empty();
        private Optional<Yarn> yarn = Optional.empty();
        private float attentionFactor = 1;

        private Builder(int headDim, Pairing pairing, float freqBase) {
            this.headDim = headDim;
            this.pairing = Objects.requireNonNull(pairing, "pairing");
            this.freqBase = freqBase;
            this.ropeDim = headDim;
        }

        /// Sets how many elements of each head are rotated; all by default.
        ///
        /// @param elements an even number, at most `headDim`
        /// @return this
        public Builder ropeDim(int elements) {
            this.ropeDim = elements;
            return this;
        }

        /// Sets what each pair is rotated by; the position by default.
        ///
        /// @param turns one for each pair, or none
        /// @return this
        public Builder turns(List<Turn> turns) {
            this.turns = List.copyOf(turns);
            return this;
        }

        /// Sets how many elements are paired among themselves; all that are rotated by default.
        ///
        /// @param elements an even number, of which `ropeDim` is a multiple
        /// @return this
        public Builder span(int elements) {
            this.span = elements;
            return this;
        }

        /// Sets how many positions are rotated as the first of them; 1 by default.
        ///
        /// @param positions at least 1; with turns, 1
        /// @return this
        public Builder run(int positions) {
            this.run = positions;
            return this;
        }

        /// Sets the factor on positions; 1 by default.
        ///
        /// @param factor such as 0.25 for a context four times as long; below 0 to rotate back
        /// @return this
        public Builder freqScale(float factor) {
            this.freqScale = factor;
            return this;
        }

        /// Sets divisors of the frequencies; none by default.
        ///
        /// @param factors `[ropeDim / 2]`, or empty
        /// @return this
        public Builder freqFactors(Optional<Weight> factors) {
            this.freqFactors = Objects.requireNonNull(factors, "freqFactors");
            return this;
        }

        /// Sets the scaling of long contexts; none by default.
        ///
        /// @param scaling how, or empty
        /// @return this
        public Builder yarn(Optional<Yarn> scaling) {
            this.yarn = Objects.requireNonNull(scaling, "yarn");
            return this;
        }

        /// Sets the factor on sines and cosines; 1 by default.
        ///
        /// @param factor `rope.scaling.attn_factor`; with YaRN usually `1 + 0.1 ln(factor)`
        /// @return this
        public Builder attentionFactor(float factor) {
            this.attentionFactor = factor;
            return this;
        }

        /// {@return the parameters}
        ///
        /// @throws IllegalArgumentException if they do not fit together
        public RopeParams build() {
            if (headDim < 1 || ropeDim < 2 || ropeDim % 2 != 0 || ropeDim > headDim) {
                throw new IllegalArgumentException("rope dimension " + ropeDim + " does not fit heads of " + headDim);
            }
            if (freqFactors.isPresent()
                    && (!freqFactors.get().isVector() || freqFactors.get().cols() != ropeDim / 2)) {
                throw new IllegalArgumentException(
                        "rope factors " + freqFactors.get() + " are not one for each of " + ropeDim / 2 + " pairs");
            }
            if (!turns.isEmpty() && turns.size() != ropeDim / 2 || !turns.isEmpty() && yarn.isPresent()) {
                throw new IllegalArgumentException(turns.size() + " turns, " + yarn + "; expected one for each of "
                        + ropeDim / 2 + " pairs, and no YaRN");
            }
            if (span != 0 && (span < 2 || span % 2 != 0 || ropeDim % span != 0)) {
                throw new IllegalArgumentException(
                        "pairs within " + span + " elements do not fit a rope dimension of " + ropeDim);
            }
            if (run < 1 || run > 1 && !turns.isEmpty()) {
                throw new IllegalArgumentException("rope of runs of " + run + " with " + turns.size()
                        + " turns; expected runs of 1 or more, or turns");
            }
            return new RopeParams(this);
        }
    }
}
