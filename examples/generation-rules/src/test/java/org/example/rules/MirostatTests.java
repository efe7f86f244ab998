package org.example.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.testkit.SamplerContract;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MirostatTests extends SamplerContract {
    private static final int SIZE = 1000;

    @Override
    protected SamplerProvider provider() {
        return new Mirostat();
    }

    private Sampler sampler(String argument) {
        SamplingParams params =
                SamplingParams.builder().temperature(1).seed(1).build();
        return provider().create(params, SIZE, argument, tokenizer());
    }

    /// Of the probabilities of Zipf, as words have them; the most probable one surprises by 2.9 bits.
    @ParameterizedTest
    @ValueSource(doubles = {4, 5, 6})
    void tokensSurpriseByTheBitsThatAreAskedFor(double wanted) {
        double[] probabilities = new double[SIZE];
        double sum = 0;
        for (int id = 0; id < SIZE; id++) {
            probabilities[id] = 1.0 / (id + 1);
            sum += probabilities[id];
        }
        Sampler sampler = sampler(String.valueOf(wanted));
        double bits = 0;
        int tokens = 5000;
        for (int i = 0; i < tokens; i++) {
            float[] logits = new float[SIZE];
            for (int id = 0; id < SIZE; id++) {
                logits[id] = (float) Math.log(probabilities[id]);
            }
            int token = sampler.sample(logits);
            sampler.accept(token);
            bits -= Math.log(probabilities[token] / sum) / Math.log(2);
        }
        assertEquals(wanted, bits / tokens, 0.1);
    }

    /// One token of 1/2 and 512 of 1/1024: 1 bit, or 10.
    @Test
    void theLimitIsTwiceTheBitsAndFollowsWhatWasSampled() {
        float[] logits = new float[513];
        logits[0] = (float) Math.log(512);
        Sampler sampler = sampler("4.9");
        double limit = 2 * 4.9;
        boolean other = false;
        for (int i = 0; i < 200; i++) {
            int token = sampler.sample(logits.clone());
            other |= token != 0;
            if (limit < 10) {
                assertEquals(0, token, "10 bits are more than " + limit);
            }
            limit -= 0.1 * ((token == 0 ? 1 : 10) - 4.9);
        }
        assertTrue(other);
        int[] best = new int[200];
        Sampler none = sampler("0");
        Arrays.setAll(best, i -> none.sample(logits.clone()));
        assertEquals(0, Arrays.stream(best).max().getAsInt(), "the best one alone");
    }
}
