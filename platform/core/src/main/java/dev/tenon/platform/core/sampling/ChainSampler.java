package dev.tenon.platform.core.sampling;

import dev.tenon.api.text.DynamicTemperature;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.SamplingStage;
import dev.tenon.api.text.TokenSampling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/// The platform's sampler: logit bias, the steps of the parameters in their order, draw.
///
/// Steps that would change nothing are left out. Random numbers come from [SplittableRandom] (SplitMix64)
/// started with the seed, so the same seed, parameters and logits give the same tokens on every machine;
/// each token that is not greedy uses one number, so that a device can go on where the host stopped, and one
/// more for XTC, which no device has. Greedy sampling without penalties or bias is one scan of the logits.
final class ChainSampler implements Sampler {
    private final int vocabularySize;
    private final SamplingParams params;
    private final boolean plain;
    private final boolean plainGreedy;
    /// The parameters with the seed that is used.
    private final SamplingParams seeded;
    private final SplittableRandom random;
    private long drawn;
    private final RecentTokens recent;
    /// What counts for repetitions.
    private final RecentTokens repeated;

    private final List<SamplingStep> steps;
    /// The last step; null if the best token is taken.
    private final Draw draw;

    private Candidates candidates;
    private int last;

    /// Makes the sampler of one sequence.
    ///
    /// @param params how to sample
    /// @param vocabularySize number of tokens; above 0
    ChainSampler(SamplingParams params, int vocabularySize) {
        if (vocabularySize <= 0) {
            throw new IllegalArgumentException("vocabularySize is " + vocabularySize + "; expected above 0");
        }
        this.vocabularySize = vocabularySize;
        this.params = params;
        seeded = params.seed() == -1
                ? params.toBuilder().seed(new SplittableRandom().nextLong()).build()
                : params;
        random = new SplittableRandom(seeded.seed());
        List<SamplingStage> active = params.activeStages();
        recent = new RecentTokens(active.contains(SamplingStage.PENALTIES) ? params.repeatLastN() : 0);
        repeated = new RecentTokens(
                active.contains(SamplingStage.DRY) ? params.dry().lastN() : 0);
        plain = params.logitsOnly();
        plainGreedy = plain && params.isGreedy();
        List<SamplingStep> chain = new ArrayList<>();
        if (!params.logitBias().isEmpty()) {
            chain.add(new LogitBias(params.logitBias(), vocabularySize));
        }
        active.forEach(stage -> chain.add(step(stage)));
        draw = params.isGreedy() ? null : new Draw(random);
        if (draw != null) {
            boolean steered = params.mirostat().version() > 0;
            chain.add(steered ? new MirostatDraw(params.mirostat(), draw) : draw);
        }
        steps = List.copyOf(chain);
    }

    private SamplingStep step(SamplingStage stage) {
        DynamicTemperature dynamic = params.dynamicTemperature();
        return switch (stage) {
            case PENALTIES ->
                new Penalties(recent, params.repeatPenalty(), params.frequencyPenalty(), params.presencePenalty());
            case DRY -> new DryPenalty(repeated, params.dry());
            case TOP_N_SIGMA -> new TopNSigma(params.topNSigma());
            case TOP_K -> new TopK(params.topK());
            case TYP_P -> new TypicalP(params.typicalP());
            case TOP_P -> new TopP(params.topP());
            case MIN_P -> new MinP(params.minP());
            case XTC -> new XtcCut(params.xtc().probability(), params.xtc().threshold(), random);
            case TEMPERATURE ->
                dynamic.range() > 0
                        ? new EntropyTemperature(
                                Math.max(0, params.temperature() - dynamic.range()),
                                params.temperature() + dynamic.range(),
                                dynamic.exponent())
                        : new Temperature(params.temperature());
        };
    }

    @Override
    public int sample(float[] logits) {
        Candidates.checkLength(logits.length, vocabularySize);
        if (plainGreedy) {
            last = Candidates.best(logits);
            return last;
        }
        if (candidates == null) {
            candidates = new Candidates(vocabularySize);
        }
        candidates.load(logits);
        for (SamplingStep step : steps) {
            step.apply(candidates);
        }
        drawn += draws();
        last = draw == null ? candidates.ids[candidates.argMax()] : draw.token();
        return last;
    }

    @Override
    public boolean probabilities(float[] probabilities) {
        Candidates.checkLength(probabilities.length, vocabularySize);
        Arrays.fill(probabilities, 0);
        if (draw == null) {
            probabilities[last] = 1;
            return true;
        }
        double sum = candidates.softmax();
        for (int i = 0; i < candidates.count; i++) {
            probabilities[candidates.ids[i]] = (float) (candidates.weights[i] / sum);
        }
        return true;
    }

    /// Random numbers that a token uses up.
    private int draws() {
        return draw == null ? 0 : 1;
    }

    @Override
    public Optional<TokenSampling> sampling() {
        return plain
                ? Optional.of(plainGreedy ? TokenSampling.GREEDY : new TokenSampling(seeded, drawn))
                : Optional.empty();
    }

    @Override
    public void sampled(int token) {
        if (draws() > 0) {
            random.nextLong();
            drawn++;
        }
        accept(token);
    }

    @Override
    public void accept(int token) {
        if (token < 0 || token >= vocabularySize) {
            throw new IllegalArgumentException(
                    "Token " + token + " is outside the vocabulary; expected 0 to " + (vocabularySize - 1));
        }
        recent.add(token);
        repeated.add(token);
    }
}
