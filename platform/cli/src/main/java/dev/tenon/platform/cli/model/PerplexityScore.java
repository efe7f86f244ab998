package dev.tenon.platform.cli.model;

/// Sums up how well a model predicts a text, as llama-perplexity does: exp of the mean negative
/// log-probability, and its standard error.
final class PerplexityScore {
    private double nll;
    private double nllSquared;
    private long count;

    /// Adds one predicted token.
    ///
    /// @param logits `[nVocab]`, the prediction
    /// @param token the token that came
    void add(float[] logits, int token) {
        double v = -logProbability(logits, token);
        nll += v;
        nllSquared += v * v;
        count++;
    }

    /// {@return natural logarithm of a token's probability}
    ///
    /// @param logits `[nVocab]`
    /// @param token the token
    static double logProbability(float[] logits, int token) {
        float max = Float.NEGATIVE_INFINITY;
        for (float logit : logits) {
            max = Math.max(max, logit);
        }
        double sum = 0;
        for (float logit : logits) {
            sum += Math.exp(logit - max);
        }
        return (double) logits[token] - max - Math.log(sum);
    }

    /// {@return number of predicted tokens}
    long count() {
        return count;
    }

    /// {@return the perplexity; NaN before the first token}
    double perplexity() {
        return Math.exp(nll / count);
    }

    /// {@return the standard error of the perplexity; 0 for fewer than two tokens}
    double error() {
        double mean = nll / count;
        double variance = nllSquared / count - mean * mean;
        return count < 2 || !(variance > 0) ? 0 : Math.sqrt(variance / (count - 1)) * perplexity();
    }
}
