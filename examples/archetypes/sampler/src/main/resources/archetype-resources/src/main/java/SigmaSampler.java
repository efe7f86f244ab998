package ${package};

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import java.util.SplittableRandom;

/// Samples among the tokens whose logits are at most some standard deviations below the best, however the temperature
/// is. Of the parameters it takes bias, temperature and seed. Serves one sequence; not safe for several threads.
final class SigmaSampler implements Sampler {
    private final SamplingParams params;
    private final double deviations;
    private final SplittableRandom random;

    SigmaSampler(SamplingParams params, double deviations) {
        this.params = params;
        this.deviations = deviations;
        this.random = params.seed() == -1 ? new SplittableRandom() : new SplittableRandom(params.seed());
    }

    @Override
    public int sample(float[] logits) {
        params.logitBias().forEach((token, bias) -> logits[token] += bias);
        int best = best(logits);
        if (params.temperature() == 0) {
            return best;
        }
        double least = logits[best] - deviations * deviation(logits);
        double[] weights = new double[logits.length];
        double sum = 0;
        for (int token = 0; token < logits.length; token++) {
            if (logits[token] >= least) {
                weights[token] = Math.exp(((double) logits[token] - logits[best]) / params.temperature());
                sum += weights[token];
            }
        }
        double left = random.nextDouble() * sum;
        for (int token = 0; token < logits.length; token++) {
            left -= weights[token];
            if (left < 0 && weights[token] > 0) {
                return token;
            }
        }
        return best; // rounding: the sum was not reached
    }

    private static int best(float[] logits) {
        int best = -1;
        for (int token = 0; token < logits.length; token++) {
            if (logits[token] > (best < 0 ? Float.NEGATIVE_INFINITY : logits[best])) {
                best = token;
            }
        }
        if (best < 0 || logits[best] == Float.POSITIVE_INFINITY) {
            throw new IllegalArgumentException("no logit of " + logits.length + " is a finite number");
        }
        return best;
    }

    /// The standard deviation of the logits that are not masked.
    private static double deviation(float[] logits) {
        int count = 0;
        double sum = 0;
        for (float logit : logits) {
            if (Float.isFinite(logit)) {
                count++;
                sum += logit;
            }
        }
        double squares = 0;
        for (float logit : logits) {
            if (Float.isFinite(logit)) {
                squares += (logit - sum / count) * (logit - sum / count);
            }
        }
        return Math.sqrt(squares / count);
    }

    @Override
    public void accept(int token) {
        // Earlier tokens are of no account: a sampler with penalties would note them here.
    }
}
