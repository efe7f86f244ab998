package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken provider fails the test of the contract that is there for it.
class LogitsProcessorContractTests {
    private enum Fault {
        NONE(""),
        HAS_A_STRANGE_ID("theIdIsLowerCaseLettersDigitsAndDashes"),
        TRUSTS_ITS_ARGUMENT("argumentsAreTakenOrRefusedWithTheReason"),
        PASSES_ON_WHAT_READING_SAYS("argumentsAreTakenOrRefusedWithTheReason"),
        REFUSES_WITHOUT_A_WORD("argumentsAreTakenOrRefusedWithTheReason"),
        NEEDS_A_HISTORY("atLeastOneTokenStays"),
        MASKS_ALL("atLeastOneTokenStays"),
        DRAWS("theSameArgumentGivesTheSameLogits"),
        COUNTS_FOR_ALL("processorsKnowNothingOfEachOther"),
        SERVES_ONE_THREAD("severalThreadsMayUseTheProvider"),
        LIFTS_A_MASK("whatIsMaskedStaysMasked"),
        DIVIDES_BY_ZERO("logitsAreNumbers"),
        KEEPS_A_HISTORY("logitsAreNumbers"),
        COUNTS_FROM_THE_END("nothingBeyondTheVocabularyIsSampled");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends LogitsProcessorContract {
        private final LogitsProcessorProvider provider = new Broken();

        @Override
        protected LogitsProcessorProvider provider() {
            return provider;
        }

        @Override
        protected String argument() {
            return "2";
        }
    }

    /// Makes the tokens of the history less likely.
    private static final class Broken implements LogitsProcessorProvider {
        private final Thread thread = Thread.currentThread();
        private int count;

        @Override
        public String id() {
            return current == Fault.HAS_A_STRANGE_ID ? "No Repeat" : "less";
        }

        @Override
        public LogitsProcessor create(String argument, Tokenizer tokenizer) {
            if (current == Fault.SERVES_ONE_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
            if (current == Fault.PASSES_ON_WHAT_READING_SAYS) {
                Integer.parseInt(argument);
            }
            if (current != Fault.TRUSTS_ITS_ARGUMENT && !argument.matches("[1-9]")) {
                throw new IllegalArgumentException(
                        current == Fault.REFUSES_WITHOUT_A_WORD ? null : "'" + argument + "' is no digit from 1 to 9");
            }
            return new Less(argument.charAt(0) - '0', tokenizer);
        }

        private final class Less implements LogitsProcessor {
            private final float amount;
            private final Tokenizer tokenizer;
            private LogitsProcessor.TokenHistory first;

            Less(float amount, Tokenizer tokenizer) {
                this.amount = amount;
                this.tokenizer = tokenizer;
            }

            @Override
            public void process(TokenHistory history, float[] logits) {
                float less = amount;
                switch (current) {
                    case NEEDS_A_HISTORY -> history.token(history.length() - 1);
                    case MASKS_ALL -> Arrays.fill(logits, Float.NEGATIVE_INFINITY);
                    case DRAWS -> logits[3] = new Random().nextFloat();
                    case COUNTS_FOR_ALL -> less += count++;
                    case LIFTS_A_MASK -> logits[5] = 1;
                    case DIVIDES_BY_ZERO -> logits[6] /= 0 * amount;
                    case KEEPS_A_HISTORY -> {
                        first = first == null ? history : first;
                        first.length();
                    }
                    case COUNTS_FROM_THE_END -> logits[logits.length - 1] = 2;
                    default -> {}
                }
                for (int i = 0; i < history.length(); i++) {
                    logits[history.token(i)] -= less;
                }
                assertTrue(tokenizer.vocabularySize() <= logits.length);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFaultIsFound(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 0);
        assertTrue(failures.containsKey(fault.found), () -> fault + ": " + failures);
    }

    @Test
    void aSoundProcessorPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 25));
    }
}
