package dev.tenon.api.text;

import java.util.List;
import java.util.Map;
import java.util.Set;

/// How the next token is sampled from the logits: logit bias, the [steps][SamplingStage] in the order of
/// [#stages()], which is llama.cpp's by default, draw. Immutable; made by [#builder()].
public final class SamplingParams {
    private static final List<SamplingStage> ALL_STAGES = List.of(SamplingStage.values());
    /// What devices do, in their order.
    private static final List<SamplingStage> ON_DEVICES =
            List.of(SamplingStage.TOP_K, SamplingStage.TOP_P, SamplingStage.MIN_P, SamplingStage.TEMPERATURE);

    private final float temperature;
    private final int topK;
    private final float topP;
    private final float minP;
    private final float typicalP;
    private final float repeatPenalty;
    private final float presencePenalty;
    private final float frequencyPenalty;
    private final int repeatLastN;
    private final Map<Integer, Float> logitBias;
    private final float topNSigma;
    private final DynamicTemperature dynamicTemperature;
    private final Dry dry;
    private final Xtc xtc;
    private final Mirostat mirostat;
    private final List<SamplingStage> stages;
    private final long seed;
    private final List<SamplingStage> activeStages;
    private final boolean logitsOnly;

    private SamplingParams(Builder builder) {
        this.temperature = builder.temperature;
        this.topK = builder.topK;
        this.topP = builder.topP;
        this.minP = builder.minP;
        this.typicalP = builder.typicalP;
        this.repeatPenalty = builder.repeatPenalty;
        this.presencePenalty = builder.presencePenalty;
        this.frequencyPenalty = builder.frequencyPenalty;
        this.repeatLastN = builder.repeatLastN;
        this.logitBias = builder.logitBias;
        this.topNSigma = builder.topNSigma;
        this.dynamicTemperature = builder.dynamicTemperature;
        this.dry = builder.dry;
        this.xtc = builder.xtc;
        this.mirostat = builder.mirostat;
        this.stages = builder.stages;
        this.seed = builder.seed;
        this.activeStages = stages.stream().filter(this::isActive).toList();
        List<SamplingStage> ofDevices =
                ON_DEVICES.stream().filter(activeStages::contains).toList();
        this.logitsOnly =
                logitBias.isEmpty() && !steered() && dynamicTemperature.range() == 0 && activeStages.equals(ofDevices);
    }

    /// {@return a builder that starts with [#defaults()]}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return a builder that starts with [#greedy()]}
    public static Builder greedyBuilder() {
        return builder().temperature(0).topK(0).topP(1).minP(0).seed(0);
    }

    /// {@return greedy sampling: temperature 0, nothing else}
    public static SamplingParams greedy() {
        return greedyBuilder().build();
    }

    /// {@return llama.cpp's defaults: temperature 0.8, top-k 40, top-p 0.95, min-p 0.05}
    public static SamplingParams defaults() {
        return builder().build();
    }

    /// {@return a builder that starts with these parameters}
    public Builder toBuilder() {
        return builder()
                .temperature(temperature)
                .topK(topK)
                .topP(topP)
                .minP(minP)
                .typicalP(typicalP)
                .repeatPenalty(repeatPenalty)
                .presencePenalty(presencePenalty)
                .frequencyPenalty(frequencyPenalty)
                .repeatLastN(repeatLastN)
                .logitBias(logitBias)
                .topNSigma(topNSigma)
                .dynamicTemperature(dynamicTemperature)
                .dry(dry)
                .xtc(xtc)
                .mirostat(mirostat)
                .stages(stages)
                .seed(seed);
    }

    /// {@return the temperature: 0 takes the best token (greedy); 1 leaves the model's
    ///     distribution}
    public float temperature() {
        return temperature;
    }

    /// {@return how many best tokens are kept; 0 keeps all}
    public int topK() {
        return topK;
    }

    /// {@return the probability that the smallest set of kept tokens reaches; 1 keeps all}
    public float topP() {
        return topP;
    }

    /// {@return the share of the best token's probability below which tokens are dropped; 0 keeps
    ///     all}
    public float minP() {
        return minP;
    }

    /// {@return the mass of locally typical sampling; 1 keeps all}
    public float typicalP() {
        return typicalP;
    }

    /// {@return what divides (multiplies, if negative) the logits of recent tokens; 1 changes
    ///     nothing}
    public float repeatPenalty() {
        return repeatPenalty;
    }

    /// {@return what is subtracted from the logits of recent tokens; 0 changes nothing}
    public float presencePenalty() {
        return presencePenalty;
    }

    /// {@return what is subtracted once for each recent occurrence; 0 changes nothing}
    public float frequencyPenalty() {
        return frequencyPenalty;
    }

    /// {@return how many recent tokens the penalties look at; 0 none, -1 all}
    public int repeatLastN() {
        return repeatLastN;
    }

    /// {@return what is added to the logits of token ids; unmodifiable}
    public Map<Integer, Float> logitBias() {
        return logitBias;
    }

    /// {@return the start of the random sequence; the same seed gives the same text; -1 takes a
    ///     random one}
    public long seed() {
        return seed;
    }

    /// {@return how many standard deviations below the best logit tokens are kept; 0 keeps all}
    public float topNSigma() {
        return topNSigma;
    }

    /// {@return how the temperature depends on the probabilities}
    public DynamicTemperature dynamicTemperature() {
        return dynamicTemperature;
    }

    /// {@return the penalty for repetitions}
    public Dry dry() {
        return dry;
    }

    /// {@return what drops the most probable tokens}
    public Xtc xtc() {
        return xtc;
    }

    /// {@return what takes the place of the steps that drop tokens}
    public Mirostat mirostat() {
        return mirostat;
    }

    /// {@return the steps and their order; one that is not among them is off; unmodifiable}
    public List<SamplingStage> stages() {
        return stages;
    }

    /// {@return those of the steps that may change which token is sampled, in their order; unmodifiable}
    public List<SamplingStage> activeStages() {
        return activeStages;
    }

    /// {@return whether the best token is taken: the temperature is 0, and 0 for all probabilities}
    public boolean isGreedy() {
        return temperature == 0 && dynamicTemperature.range() == 0;
    }

    /// {@return whether a token depends on the logits of its position and the random sequence alone, in a way that
    ///     devices have, too: no bias, and of the steps only top-k, top-p, min-p and temperature change
    ///     anything, in this order}
    public boolean logitsOnly() {
        return logitsOnly;
    }

    /// {@return whether mirostat takes the place of steps}
    private boolean steered() {
        return mirostat.version() > 0 && !isGreedy();
    }

    private boolean isActive(SamplingStage stage) {
        boolean chooses = !steered();
        // The best token stays the best whatever is dropped after it, unless a step drops better ones.
        boolean drops = chooses && !(isGreedy() && typicalP == 1 && !dropsBest());
        return switch (stage) {
            case PENALTIES -> repeatLastN != 0 && (repeatPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0);
            case DRY -> dry.multiplier() > 0 && dry.lastN() != 0;
            case TOP_N_SIGMA -> drops && topNSigma > 0;
            case TOP_K -> drops && topK > 0;
            case TYP_P -> chooses && typicalP < 1;
            case TOP_P -> drops && topP < 1;
            case MIN_P -> drops && minP > 0;
            case XTC -> chooses && dropsBest();
            case TEMPERATURE -> temperature != 1 || dynamicTemperature.range() > 0;
        };
    }

    private boolean dropsBest() {
        return xtc.probability() > 0 && xtc.threshold() <= 0.5f;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SamplingParams that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "SamplingParams" + values();
    }

    private List<Object> values() {
        return List.of(
                temperature,
                topK,
                topP,
                minP,
                typicalP,
                repeatPenalty,
                presencePenalty,
                frequencyPenalty,
                repeatLastN,
                logitBias,
                topNSigma,
                dynamicTemperature,
                dry,
                xtc,
                mirostat,
                stages,
                seed);
    }

    /// Builds parameters. Not safe for several threads.
    public static final class Builder {
        private float temperature = 0.8f;
        private int topK = 40;
        private float topP = 0.95f;
        private float minP = 0.05f;
        private float typicalP = 1;
        private float repeatPenalty = 1;
        private float presencePenalty;
        private float frequencyPenalty;
        private int repeatLastN = 64;
        private Map<Integer, Float> logitBias = Map.of();
        private float topNSigma;
        private DynamicTemperature dynamicTemperature = DynamicTemperature.OFF;
        private Dry dry = Dry.OFF;
        private Xtc xtc = Xtc.OFF;
        private Mirostat mirostat = Mirostat.OFF;
        private List<SamplingStage> stages = ALL_STAGES;
        private long seed = -1;

        private Builder() {}

        /// Sets the temperature; 0.8 by default.
        ///
        /// @param degree 0 takes the best token (greedy), 1 leaves the model's distribution
        /// @return this
        public Builder temperature(float degree) {
            this.temperature = degree;
            return this;
        }

        /// Sets how many best tokens are kept; 40 by default.
        ///
        /// @param tokens how many; 0 keeps all
        /// @return this
        public Builder topK(int tokens) {
            this.topK = tokens;
            return this;
        }

        /// Sets the probability that the smallest set of kept tokens reaches; 0.95 by default.
        ///
        /// @param probability above 0; 1 keeps all
        /// @return this
        public Builder topP(float probability) {
            this.topP = probability;
            return this;
        }

        /// Sets the share of the best token's probability below which tokens are dropped; 0.05 by
        /// default.
        ///
        /// @param share 0 to 1; 0 keeps all
        /// @return this
        public Builder minP(float share) {
            this.minP = share;
            return this;
        }

        /// Sets the mass of locally typical sampling; 1, which keeps all, by default.
        ///
        /// @param mass above 0, at most 1
        /// @return this
        public Builder typicalP(float mass) {
            this.typicalP = mass;
            return this;
        }

        /// Sets what divides (multiplies, if negative) the logits of recent tokens; 1, which changes
        /// nothing, by default.
        ///
        /// @param penalty above 0
        /// @return this
        public Builder repeatPenalty(float penalty) {
            this.repeatPenalty = penalty;
            return this;
        }

        /// Sets what is subtracted from the logits of recent tokens; 0 by default.
        ///
        /// @param penalty finite
        /// @return this
        public Builder presencePenalty(float penalty) {
            this.presencePenalty = penalty;
            return this;
        }

        /// Sets what is subtracted once for each recent occurrence; 0 by default.
        ///
        /// @param penalty finite
        /// @return this
        public Builder frequencyPenalty(float penalty) {
            this.frequencyPenalty = penalty;
            return this;
        }

        /// Sets how many recent tokens the penalties look at; 64 by default.
        ///
        /// @param tokens how many; 0 none, -1 all
        /// @return this
        public Builder repeatLastN(int tokens) {
            this.repeatLastN = tokens;
            return this;
        }

        /// Sets what is added to the logits of token ids; nothing by default.
        ///
        /// @param bias by token id; copied. Negative infinity masks a token
        /// @return this
        public Builder logitBias(Map<Integer, Float> bias) {
            this.logitBias = Map.copyOf(bias);
            return this;
        }

        /// Sets how many standard deviations below the best logit tokens are kept; 0, which keeps all, by default.
        ///
        /// @param deviations 0 or more
        /// @return this
        public Builder topNSigma(float deviations) {
            this.topNSigma = deviations;
            return this;
        }

        /// Sets how the temperature depends on the probabilities; not at all by default.
        ///
        /// @param how how
        /// @return this
        public Builder dynamicTemperature(DynamicTemperature how) {
            this.dynamicTemperature = how;
            return this;
        }

        /// Sets the penalty for repetitions; none by default.
        ///
        /// @param penalty the penalty
        /// @return this
        public Builder dry(Dry penalty) {
            this.dry = penalty;
            return this;
        }

        /// Sets what drops the most probable tokens; nothing by default.
        ///
        /// @param cut how
        /// @return this
        public Builder xtc(Xtc cut) {
            this.xtc = cut;
            return this;
        }

        /// Sets what takes the place of the steps that drop tokens; nothing by default.
        ///
        /// @param target how
        /// @return this
        public Builder mirostat(Mirostat target) {
            this.mirostat = target;
            return this;
        }

        /// Sets the steps and their order; by default all, in that of [SamplingStage]. Building switches off the
        /// others: their numbers become those that change nothing.
        ///
        /// @param order each at most once; copied
        /// @return this
        public Builder stages(List<SamplingStage> order) {
            this.stages = List.copyOf(order);
            return this;
        }

        /// Sets the start of the random sequence; a random one by default.
        ///
        /// @param start the same seed gives the same text; -1 takes a random one
        /// @return this
        public Builder seed(long start) {
            this.seed = start;
            return this;
        }

        /// {@return the parameters}
        ///
        /// @throws IllegalArgumentException if a number is out of its range
        public SamplingParams build() {
            require(temperature >= 0, "temperature", temperature, "0 or more");
            require(topK >= 0, "topK", topK, "0 or more");
            require(topP > 0 && topP <= 1, "topP", topP, "above 0, at most 1");
            require(minP >= 0 && minP <= 1, "minP", minP, "0 to 1");
            require(typicalP > 0 && typicalP <= 1, "typicalP", typicalP, "above 0, at most 1");
            require(repeatPenalty > 0, "repeatPenalty", repeatPenalty, "above 0");
            require(Float.isFinite(presencePenalty), "presencePenalty", presencePenalty, "a finite number");
            require(Float.isFinite(frequencyPenalty), "frequencyPenalty", frequencyPenalty, "a finite number");
            logitBias.forEach((token, bias) ->
                    require(token >= 0 && !Float.isNaN(bias), "logitBias", bias, "a number, of a token id"));
            require(repeatLastN >= -1, "repeatLastN", repeatLastN, "-1 or more");
            require(topNSigma >= 0, "topNSigma", topNSigma, "0 or more");
            require(Set.copyOf(stages).size() == stages.size(), "stages", stages.size(), "each at most once");
            ALL_STAGES.stream().filter(stage -> !stages.contains(stage)).forEach(this::switchOff);
            return new SamplingParams(this);
        }

        private void switchOff(SamplingStage stage) {
            switch (stage) {
                case PENALTIES -> repeatLastN = 0;
                case DRY -> dry = Dry.OFF;
                case TOP_N_SIGMA -> topNSigma = 0;
                case TOP_K -> topK = 0;
                case TYP_P -> typicalP = 1;
                case TOP_P -> topP = 1;
                case MIN_P -> minP = 0;
                case XTC -> xtc = Xtc.OFF;
                case TEMPERATURE -> {
                    temperature = 1;
                    dynamicTemperature = DynamicTemperature.OFF;
                }
            }
        }
    }

    static void require(boolean ok, String name, float value, String expected) {
        if (!ok) {
            throw new IllegalArgumentException(name + " is " + value + "; expected " + expected);
        }
    }
}
