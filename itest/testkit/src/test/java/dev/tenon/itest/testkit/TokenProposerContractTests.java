package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken provider fails the test of the contract that is there for it.
class TokenProposerContractTests {
    private enum Fault {
        NONE(""),
        HAS_A_STRANGE_ID("theIdIsLowerCaseLettersDigitsAndDashes"),
        IS_CALLED_AS_THE_ENGINES("theIdIsNotOneOfTheEngine"),
        TRUSTS_ITS_ARGUMENT("argumentsAreTakenOrRefusedWithTheReason"),
        WANTS_NONE("someTokensAreWorthAskingFor"),
        WANTS_MORE_AND_MORE("someTokensAreWorthAskingFor"),
        GAINS_TIME("someTokensAreWorthAskingFor"),
        PROPOSES_TOO_MANY("proposalsAreTokensOfTheVocabulary"),
        PROPOSES_NULL("proposalsAreTokensOfTheVocabulary"),
        COUNTS_ON("proposalsAreTokensOfTheVocabulary"),
        NEEDS_A_HISTORY("proposalsAreTokensOfTheVocabulary"),
        KEEPS_A_HISTORY("proposalsAreTokensOfTheVocabulary"),
        ONLY_GROWS("proposalsAreTokensOfTheVocabulary"),
        SERVES_ONE_THREAD("severalThreadsMayUseTheProvider"),
        CLOSES_FOR_ALL("aClosedProposerTakesNothingFromOthers");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends TokenProposerContract {
        private final TokenProposerProvider provider = new Broken();

        @Override
        protected TokenProposerProvider provider() {
            return provider;
        }

        @Override
        protected String argument() {
            return "2";
        }
    }

    /// Proposes the last token again.
    private static final class Broken implements TokenProposerProvider {
        private final Thread thread = Thread.currentThread();
        private boolean closed;

        @Override
        public String id() {
            return switch (current) {
                case HAS_A_STRANGE_ID -> "Again!";
                case IS_CALLED_AS_THE_ENGINES -> "ngram";
                default -> "again";
            };
        }

        @Override
        public TokenProposer create(String argument, Tokenizer tokenizer) {
            if (current == Fault.SERVES_ONE_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
            if (current != Fault.TRUSTS_ITS_ARGUMENT && !argument.matches("[1-9]")) {
                throw new IllegalArgumentException("'" + argument + "' is no digit from 1 to 9");
            }
            return new Again(argument.charAt(0) - '0', tokenizer.vocabularySize());
        }

        private final class Again implements TokenProposer {
            private final int vocabularySize;
            private int most;
            private int length;
            private TokenHistory first;

            Again(int most, int vocabularySize) {
                this.most = current == Fault.WANTS_NONE ? 0 : most;
                this.vocabularySize = vocabularySize;
            }

            @Override
            public int[] propose(TokenHistory tokens, int count) {
                if (closed) {
                    throw new IllegalStateException("closed");
                }
                first = first == null ? tokens : first;
                if (current == Fault.KEEPS_A_HISTORY) {
                    first.length();
                }
                if (current == Fault.ONLY_GROWS && tokens.length() < length) {
                    throw new IllegalStateException("fewer tokens");
                }
                length = tokens.length();
                most += current == Fault.WANTS_MORE_AND_MORE ? 1 : 0;
                if (length == 0 && current != Fault.NEEDS_A_HISTORY) {
                    return new int[0];
                }
                int[] proposed = new int[current == Fault.PROPOSES_TOO_MANY ? count + 1 : count];
                Arrays.fill(proposed, tokens.token(length - 1) + (current == Fault.COUNTS_ON ? vocabularySize : 0));
                return current == Fault.PROPOSES_NULL ? null : proposed;
            }

            @Override
            public int most() {
                return most;
            }

            @Override
            public double nanosPerToken() {
                return current == Fault.GAINS_TIME ? -1 : 0;
            }

            @Override
            public void close() {
                closed = current == Fault.CLOSES_FOR_ALL;
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
    void aSoundProposerPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 25));
    }
}
