package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.api.text.Tokenizer;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken sampler fails the test of the contract that is there for it.
class SamplerContractTests {
    private enum Fault {
        NONE(""),
        HAS_A_STRANGE_ID("theIdIsLowerCaseLettersDigitsAndDashes"),
        PASSES_ON_WHAT_READING_SAYS("argumentsAreTakenOrRefusedWithTheReason"),
        MAKES_NOTHING("argumentsAreTakenOrRefusedWithTheReason"),
        DIFFERS_WITHOUT_AN_ARGUMENT("withoutAnArgumentItIsThatWithTheEmptyOne"),
        SERVES_ONE_THREAD("severalThreadsMayUseTheProvider"),
        COUNTS_FROM_ONE("tokensAreOfTheVocabulary"),
        IGNORES_THE_SEED("theSameSeedGivesTheSameTokens"),
        SHARES_ITS_RANDOM_NUMBERS("samplersKnowNothingOfEachOther"),
        IGNORES_MASKS("maskedTokensAreNeverSampled"),
        DRAWS_ALWAYS("temperatureZeroTakesTheBestToken"),
        IGNORES_BIAS("aBiasIsAddedToTheLogits"),
        TAKES_WHAT_IS_NO_NUMBER("whatIsNoNumberIsNeverSampled"),
        REFUSES_LARGE_LOGITS("logitsOfAnySizeAreSampled"),
        FORGETS_WHAT_A_DEVICE_DREW("tokensOfADeviceCountAsSampled");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;
    private static SplittableRandom shared;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends SamplerContract {
        private final SamplerProvider provider = new BrokenProvider();

        @Override
        protected SamplerProvider provider() {
            return provider;
        }

        @Override
        protected String argument() {
            return "best";
        }
    }

    /// The same without a name.
    static class UnnamedUnderTest extends SamplerContract {
        @Override
        protected SamplerProvider provider() {
            return (params, size) -> new Broken(params, false);
        }
    }

    /// Takes the arguments "" and "best", which mean the same.
    private static final class BrokenProvider implements SamplerProvider {
        private final Thread thread = Thread.currentThread();

        @Override
        public String id() {
            return current == Fault.HAS_A_STRANGE_ID ? "Two Best" : "broken";
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize) {
            return new Broken(params, current == Fault.DIFFERS_WITHOUT_AN_ARGUMENT);
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize, String argument, Tokenizer tokenizer) {
            if (current == Fault.SERVES_ONE_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
            if (current == Fault.PASSES_ON_WHAT_READING_SAYS && !argument.equals("best")) {
                Integer.parseInt(argument);
            }
            if (!argument.isEmpty() && !argument.equals("best")) {
                if (current == Fault.MAKES_NOTHING) {
                    return null;
                }
                throw new IllegalArgumentException(argument.length() + " characters that are not 'best'");
            }
            return new Broken(params, false);
        }
    }

    /// Draws among the two best tokens.
    private static final class Broken implements Sampler {
        private final SamplingParams params;
        private final SplittableRandom random;
        private final boolean reversed;
        private long drawn;

        Broken(SamplingParams params, boolean reversed) {
            this.params = params;
            this.reversed = reversed;
            random = current == Fault.SHARES_ITS_RANDOM_NUMBERS
                    ? shared
                    : current == Fault.IGNORES_THE_SEED ? new SplittableRandom() : new SplittableRandom(params.seed());
        }

        private boolean draws() {
            return params.temperature() > 0 || current == Fault.DRAWS_ALWAYS;
        }

        @Override
        public int sample(float[] logits) {
            if (current != Fault.IGNORES_BIAS) {
                params.logitBias().forEach((id, bias) -> logits[id] += bias);
            }
            float largest = Float.NEGATIVE_INFINITY;
            int best = -1;
            int second = -1;
            for (int id = 0; id < logits.length; id++) {
                if (current == Fault.TAKES_WHAT_IS_NO_NUMBER && Float.isNaN(logits[id])) {
                    return id;
                }
                if (current == Fault.REFUSES_LARGE_LOGITS && logits[id] > 1e6f) {
                    throw new IllegalArgumentException("too large");
                }
                if (logits[id] > largest) {
                    second = best;
                    best = id;
                    largest = logits[id];
                }
            }
            if (best < 0) {
                throw new IllegalArgumentException("no logit is a number");
            }
            boolean first = true;
            if (draws()) {
                first = random.nextBoolean() != reversed;
                drawn++;
            }
            int token = first ? best : second < 0 ? (current == Fault.IGNORES_MASKS ? 0 : best) : second;
            return current == Fault.COUNTS_FROM_ONE ? logits.length : token;
        }

        @Override
        public void accept(int token) {
            // has no penalties
        }

        @Override
        public Optional<TokenSampling> sampling() {
            return params.logitsOnly() ? Optional.of(new TokenSampling(params, drawn)) : Optional.empty();
        }

        @Override
        public void sampled(int token) {
            if (draws() && current != Fault.FORGETS_WHAT_A_DEVICE_DREW) {
                random.nextBoolean();
                drawn++;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFaultIsFound(Fault fault) {
        current = fault;
        shared = new SplittableRandom(1);
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 0);
        assertTrue(failures.containsKey(fault.found), () -> fault + ": " + failures);
    }

    @Test
    void aSoundSamplerPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 100));
        assertEquals(Map.of(), ContractRunner.failuresOf(UnnamedUnderTest.class, 100));
    }
}
