package dev.tenon.platform.core.generation;

import dev.tenon.api.device.StepResult;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GeneratedToken.Alternative;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.api.text.Sampler;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/// Samples a token from logits on the host: log-probabilities of the model first, then the request's processors,
/// then the mask of its constraint, then its sampler, whose log-probabilities come last.
final class HostSampling {
    private final GenerationRequest request;
    private final Sampler sampler;
    private final TokenHistory history;
    private final int vocabularySize;
    /// Which tokens may be sampled; null if all may.
    private final long[] mask;

    private float[] logits;
    /// Logits that log-probabilities are made of: the model's own, or logarithms of the sampler's probabilities.
    private float[] raw;

    HostSampling(GenerationRequest request, Sampler sampler, TokenHistory history, int vocabularySize, long[] mask) {
        this.request = request;
        this.sampler = sampler;
        this.history = history;
        this.vocabularySize = vocabularySize;
        this.mask = mask;
    }

    /// {@return whether the request asks for something that only the host does}
    boolean needed() {
        return request.logProbabilities() >= 0 || !request.processors().isEmpty();
    }

    /// Samples a token.
    ///
    /// @param result has the logits
    /// @param row where
    /// @return the token
    GeneratedToken sample(StepResult result, int row) {
        if (logits == null) {
            logits = new float[vocabularySize];
        }
        result.logits(row, logits);
        if (request.logProbabilities() >= 0) {
            raw = logits.clone();
        }
        for (LogitsProcessor processor : request.processors()) {
            processor.process(history, logits);
        }
        if (mask != null) {
            applyMask();
        }
        int id = sampler.sample(logits);
        if (request.logProbabilities() < 0) {
            return GeneratedToken.of(id);
        }
        if (request.sampledProbabilities()) {
            takeSampled();
        }
        return withLogProbabilities(id);
    }

    private void takeSampled() {
        if (!sampler.probabilities(raw)) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "The sampler does not tell its probabilities. Ask for those before sampling, or for another one.");
        }
        for (int i = 0; i < raw.length; i++) {
            raw[i] = (float) Math.log(raw[i]);
        }
    }

    private void applyMask() {
        for (int word = 0; word < mask.length; word++) {
            int first = word * Long.SIZE;
            int end = Math.min(first + Long.SIZE, vocabularySize);
            for (int id = first; mask[word] != -1L && id < end; id++) {
                if ((mask[word] >>> id & 1) == 0) {
                    logits[id] = Float.NEGATIVE_INFINITY;
                }
            }
        }
    }

    private GeneratedToken withLogProbabilities(int id) {
        double max = Double.NEGATIVE_INFINITY;
        for (float logit : raw) {
            max = Math.max(max, logit);
        }
        double sum = 0;
        for (float logit : raw) {
            sum += Math.exp(logit - max);
        }
        double norm = max + Math.log(sum);
        List<Alternative> top = new ArrayList<>();
        for (int candidate : best(request.logProbabilities())) {
            if (!request.sampledProbabilities() || raw[candidate] != Float.NEGATIVE_INFINITY) {
                top.add(new Alternative(candidate, (float) (raw[candidate] - norm)));
            }
        }
        return new GeneratedToken(id, (float) (raw[id] - norm), top);
    }

    /// {@return the tokens with the greatest logits, best first; of equal ones the lower id first}
    private List<Integer> best(int count) {
        Comparator<Integer> worstFirst =
                Comparator.<Integer>comparingDouble(id -> raw[id]).thenComparing(Comparator.reverseOrder());
        PriorityQueue<Integer> heap = new PriorityQueue<>(Math.max(1, count), worstFirst);
        for (int id = 0; id < raw.length && count > 0; id++) {
            if (heap.size() < count) {
                heap.add(id);
            } else if (raw[id] > raw[heap.element()]) {
                heap.remove();
                heap.add(id);
            }
        }
        List<Integer> ids = new ArrayList<>(heap);
        ids.sort(worstFirst.reversed());
        return ids;
    }
}
