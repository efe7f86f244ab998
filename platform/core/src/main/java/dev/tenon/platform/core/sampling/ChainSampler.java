package dev.tenon.platform.core.sampling;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/// The platform's sampler: logit bias, penalties, top-k, typical-p, top-p, min-p, temperature, draw.
///
/// Steps that would change nothing are left out. Random numbers come from [SplittableRandom] (SplitMix64)
/// started with the seed, so the same seed, parameters and logits give the same tokens on every machine;
/// each token that is not greedy uses one number, so that a device can go on where the host stopped.
/// Greedy sampling without penalties or bias is one scan of the logits.
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
    private final List<SamplingStep> steps;
    private Candidates candidates;

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
        boolean penalised = params.repeatLastN() != 0
                && (params.repeatPenalty() != 1 || params.frequencyPenalty() != 0 || params.presencePenalty() != 0);
        boolean greedy = params.temperature() == 0 && params.typicalP() >= 1;
        recent = new RecentTokens(penalised ? params.repeatLastN() : 0);
        List<SamplingStep> chain = new ArrayList<>();
        if (!params.logitBias().isEmpty()) {
            chain.add(new LogitBias(params.logitBias(), vocabularySize));
        }
        if (penalised) {
            chain.add(
                    new Penalties(recent, params.repeatPenalty(), params.frequencyPenalty(), params.presencePenalty()));
        }
        plain = params.logitsOnly();
        plainGreedy = plain && greedy;
        if (!greedy) {
            addFilters(chain, params);
        }
        if (params.temperature() != 1) {
            chain.add(new Temperature(params.temperature()));
        }
        if (params.temperature() > 0) {
            chain.add(new Draw(random));
        }
        steps = List.copyOf(chain);
    }

    private static void addFilters(List<SamplingStep> chain, SamplingParams params) {
        if (params.topK() > 0) {
            chain.add(new TopK(params.topK()));
        }
        if (params.typicalP() < 1) {
            chain.add(new TypicalP(params.typicalP()));
        }
        if (params.topP() < 1) {
            chain.add(new TopP(params.topP()));
        }
        if (params.minP() > 0) {
            chain.add(new MinP(params.minP()));
        }
    }

    @Override
    public int sample(float[] logits) {
        Candidates.checkLength(logits.length, vocabularySize);
        if (plainGreedy) {
            return Candidates.best(logits);
        }
        if (candidates == null) {
            candidates = new Candidates(vocabularySize);
        }
        candidates.load(logits);
        for (SamplingStep step : steps) {
            step.apply(candidates);
        }
        drawn += draws();
        return candidates.ids[candidates.argMax()];
    }

    /// Random numbers that a token uses up.
    private int draws() {
        return params.temperature() > 0 ? 1 : 0;
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
    }
}
