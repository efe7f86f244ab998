package dev.tenon.platform.core.sampling;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// The platform's sampler: logit bias, penalties, top-k, typical-p, top-p, min-p, temperature, draw.
///
/// Steps that would change nothing are left out. Random numbers come from [SplittableRandom] (SplitMix64)
/// started with
/// the seed, so the same seed, parameters and logits give the same tokens on every machine; each token
/// uses at most one
/// number. Greedy choice without penalties or bias is one scan of the logits.
final class ChainSampler implements Sampler {
    private final int vocabSize;
    private final boolean plainGreedy;
    private final RecentTokens recent;
    private final List<SamplingStep> steps;
    private Candidates candidates;

    /// Makes the sampler of one sequence.
    ///
    /// @param params how to choose
    /// @param vocabSize number of tokens; above 0
    ChainSampler(SamplingParams params, int vocabSize) {
        if (vocabSize <= 0) {
            throw new IllegalArgumentException("vocabSize is " + vocabSize + "; expected above 0");
        }
        this.vocabSize = vocabSize;
        boolean penalised = params.repeatLastN() != 0
                && (params.repeatPenalty() != 1 || params.frequencyPenalty() != 0 || params.presencePenalty() != 0);
        boolean greedy = params.temperature() == 0 && params.typicalP() >= 1;
        recent = new RecentTokens(penalised ? params.repeatLastN() : 0);
        List<SamplingStep> chain = new ArrayList<>();
        if (!params.logitBias().isEmpty()) {
            chain.add(new LogitBias(params.logitBias(), vocabSize));
        }
        if (penalised) {
            chain.add(
                    new Penalties(recent, params.repeatPenalty(), params.frequencyPenalty(), params.presencePenalty()));
        }
        plainGreedy = greedy && chain.isEmpty();
        if (!greedy) {
            addFilters(chain, params);
        }
        if (params.temperature() != 1) {
            chain.add(new Temperature(params.temperature()));
        }
        if (params.temperature() > 0) {
            chain.add(new Draw(params.seed() == -1 ? new SplittableRandom() : new SplittableRandom(params.seed())));
        }
        steps = List.copyOf(chain);
    }

    private static void addFilters(List<SamplingStep> chain, SamplingParams params) {
        if (params.topK() > 0) {
            chain.add(new TopK(params.topK()));
        }
        if (params.typicalP() < 1) {
            chain.add(new TypicalP(params.typicalP(), 1));
        }
        if (params.topP() < 1) {
            chain.add(new TopP(params.topP(), 1));
        }
        if (params.minP() > 0) {
            chain.add(new MinP(params.minP(), 1));
        }
    }

    @Override
    public int sample(float[] logits) {
        Candidates.checkLength(logits.length, vocabSize);
        if (plainGreedy) {
            return Candidates.best(logits);
        }
        if (candidates == null) {
            candidates = new Candidates(vocabSize);
        }
        candidates.load(logits);
        for (SamplingStep step : steps) {
            step.apply(candidates);
        }
        return candidates.ids[candidates.argMax()];
    }

    @Override
    public void accept(int token) {
        if (token < 0 || token >= vocabSize) {
            throw new IllegalArgumentException(
                    "Token " + token + " is outside the vocabulary; expected 0 to " + (vocabSize - 1));
        }
        recent.add(token);
    }
}
