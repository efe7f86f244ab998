package org.example.rules;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.util.SplittableRandom;
import org.osgi.service.component.annotations.Component;

/// `mirostat=BITS`: tokens surprise by this many bits on average, 5 if nothing is said (Mirostat 2.0, Basu et al. 2021).
@Component(service = SamplerProvider.class)
@ServiceProvider(value = SamplerProvider.class, resolution = Resolution.OPTIONAL)
public final class Mirostat implements SamplerProvider {
    @Override
    public String id() {
        return "mirostat";
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        return new Steered(params, 5);
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize, String argument, Tokenizer tokenizer) {
        if (argument.isEmpty()) {
            return create(params, vocabularySize);
        }
        if (!argument.matches("\\d{1,2}(\\.\\d{1,9})?")) {
            throw new IllegalArgumentException("'" + argument + "' is no number of bits from 0 to 99, such as 5");
        }
        return new Steered(params, Double.parseDouble(argument));
    }

    /// Takes bias, temperature and seed of the parameters. A token of probability p surprises by -log2 p bits.
    private static final class Steered implements Sampler {
        private static final double RATE = 0.1;

        private final SamplingParams params;
        private final SplittableRandom random;
        private final double wanted;
        /// The most bits by which a token may surprise.
        private double most;

        Steered(SamplingParams params, double wanted) {
            this.params = params;
            this.random = params.seed() == -1 ? new SplittableRandom() : new SplittableRandom(params.seed());
            this.wanted = wanted;
            this.most = 2 * wanted;
        }

        @Override
        public int sample(float[] logits) {
            params.logitBias().forEach((id, bias) -> logits[id] += bias);
            int best = best(logits);
            if (params.temperature() == 0) {
                return best;
            }
            double[] weights = new double[logits.length];
            double sum = 0;
            for (int id = 0; id < logits.length; id++) {
                weights[id] = weight(logits, id, best);
                sum += weights[id];
            }
            double left = 0;
            for (int id = 0; id < logits.length; id++) {
                weights[id] = id == best || bits(weights[id], sum) <= most ? weights[id] : 0;
                left += weights[id];
            }
            int token = draw(weights, left, best);
            most -= RATE * (bits(weights[token], sum) - wanted);
            return token;
        }

        private double weight(float[] logits, int id, int best) {
            double weight = Math.exp(((double) logits[id] - logits[best]) / params.temperature());
            return weight >= 0 ? weight : 0; // not of what is no number
        }

        private static double bits(double weight, double sum) {
            return Math.log(sum / weight) / Math.log(2);
        }

        private int draw(double[] weights, double sum, int best) {
            double left = random.nextDouble() * sum;
            for (int id = 0; id < weights.length; id++) {
                left -= weights[id];
                if (left < 0 && weights[id] > 0) {
                    return id;
                }
            }
            return best; // rounding: the sum was not reached
        }

        private static int best(float[] logits) {
            int best = -1;
            for (int id = 0; id < logits.length; id++) {
                if (logits[id] > (best < 0 ? Float.NEGATIVE_INFINITY : logits[best])) {
                    best = id;
                }
            }
            if (best < 0 || logits[best] == Float.POSITIVE_INFINITY) {
                throw new IllegalArgumentException("no logit is a finite number");
            }
            return best;
        }

        @Override
        public void accept(int token) {
            // The bits of what is sampled count, not what the prompt has.
        }
    }
}
