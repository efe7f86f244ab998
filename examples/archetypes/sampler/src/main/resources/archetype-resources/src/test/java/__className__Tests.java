package ${package};

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.testkit.SamplerContract;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ${className}Tests extends SamplerContract {
    @Override
    protected SamplerProvider provider() {
        return new ${className}();
    }

    private Set<Integer> sampled(String argument) {
        Sampler sampler = provider()
                .create(
                        SamplingParams.builder().temperature(100).seed(1).build(),
                        6,
                        argument,
                        tokenizer());
        Set<Integer> sampled = new TreeSet<>();
        for (int i = 0; i < 1000; i++) {
            sampled.add(sampler.sample(new float[] {0, 10, 0, 0, 0, 5}));
        }
        return sampled;
    }

    /// The six logits have the deviation 3.8, so that the one of 5 is too far below the best, but not by two deviations.
    @Test
    void tokensFarBelowTheBestAreNotSampled() {
        assertEquals(Set.of(1), sampled(""));
        assertEquals(Set.of(1, 5), sampled("2"));
    }
}
