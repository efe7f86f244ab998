package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken provider fails the test of the contract that is there for it.
class ConstraintContractTests {
    private enum Fault {
        NONE(""),
        TRUSTS_ITS_ARGUMENT("argumentsAreTakenOrRefusedWithTheReason"),
        DRAWS("theSameArgumentGivesTheSameMasks"),
        SHARES_ITS_PLACE("constraintsKnowNothingOfEachOther"),
        SERVES_ONE_THREAD("severalThreadsMayUseTheProvider"),
        KEEPS_TO_A_THREAD("eachCallMayComeFromAThreadOfItsOwn"),
        ADDS_TO_THE_MASK("aMaskIsOverwrittenWhole"),
        HAS_A_TOKEN_TOO_MANY("aMaskIsOverwrittenWhole"),
        ACCEPTS_ALL("exactlyTheTokensOfTheMaskAreAccepted"),
        ACCEPTS_LOWER_CASE("exactlyTheTokensOfTheMaskAreAccepted"),
        GOES_ON_WHERE_IT_REFUSES("exactlyTheTokensOfTheMaskAreAccepted"),
        TRUSTS_A_TOKEN("exactlyTheTokensOfTheMaskAreAccepted"),
        MASKS_ALL("someTokenMayComeUntilItIsEnded"),
        ENDS_ANYWHERE("aTextEndsOnlyWhereItIsComplete"),
        IS_ENDED_BEFORE_IT_IS_COMPLETE("aTextEndsOnlyWhereItIsComplete"),
        FORCES_WHAT_MAY_NOT_COME("forcedTokensMayComeNext"),
        COPIES_NOTHING("aCopyGoesOnOnItsOwn"),
        COPIES_THE_BEGINNING("aCopyGoesOnOnItsOwn"),
        IS_LATE_HALFWAY("aQuickOneSaysTheSame");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends ConstraintContract {
        private final ConstraintProvider provider = new Broken();

        @Override
        protected ConstraintProvider provider() {
            return provider;
        }

        @Override
        protected String argument() {
            return "3";
        }
    }

    private static final class Broken implements ConstraintProvider {
        private final Thread thread = Thread.currentThread();
        private final int[] shared = new int[1];

        @Override
        public String id() {
            return "pairs";
        }

        @Override
        public TokenConstraint create(String argument, Tokenizer tokenizer) {
            if (current == Fault.SERVES_ONE_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
            if (current != Fault.TRUSTS_ITS_ARGUMENT && !argument.matches("[1-9]")) {
                throw new IllegalArgumentException("'" + argument + "' is no digit from 1 to 9");
            }
            int[] place = current == Fault.SHARES_ITS_PLACE ? shared : new int[1];
            return new Pairs(argument.charAt(0) - '0', place, tokenizer.vocabularySize());
        }
    }

    /// Up to so many pairs `ab` in any case, after the last one `.!`; it may end after each pair.
    private static final class Pairs implements TokenConstraint {
        private static final int BYTES = 3;
        private static final int END = 2;

        private final int pairs;
        private final int[] place;
        private final int size;
        private final Thread thread = Thread.currentThread();
        private boolean hasty;

        Pairs(int pairs, int[] place, int size) {
            this.pairs = pairs;
            this.place = place;
            this.size = size;
        }

        private boolean has(int token) {
            int at = place[0];
            if (token == END) {
                return current == Fault.ENDS_ANYWHERE || isComplete() && !isEnded();
            }
            if (current == Fault.MASKS_ALL && at == 3 || at >= 2 * pairs + 2) {
                return false;
            }
            if (at >= 2 * pairs) {
                return token == BYTES + ".!".charAt(at - 2 * pairs);
            }
            char lower = at % 2 == 0 ? 'a' : 'b';
            return token == BYTES + lower || token == BYTES + Character.toUpperCase(lower);
        }

        private void own() {
            if (current == Fault.KEEPS_TO_A_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
        }

        @Override
        public void mask(long[] words) {
            own();
            if (current != Fault.ADDS_TO_THE_MASK) {
                Arrays.fill(words, 0);
            }
            for (int id = 0; id < size + (current == Fault.HAS_A_TOKEN_TOO_MANY ? 1 : 0); id++) {
                if (id == size || has(id) && (current != Fault.DRAWS || new Random().nextBoolean())) {
                    words[id / 64] |= 1L << id;
                }
            }
        }

        @Override
        public void accept(int token) {
            own();
            if (current == Fault.TRUSTS_A_TOKEN) {
                Objects.checkIndex(token, size);
            }
            boolean has = current == Fault.ACCEPTS_ALL
                    || has(token) && !(current == Fault.ACCEPTS_LOWER_CASE && token == BYTES + 'B');
            if (!has) {
                place[0] += current == Fault.GOES_ON_WHERE_IT_REFUSES ? 1 : 0;
                throw new IllegalArgumentException("token " + token);
            }
            place[0] += token == END ? 0 : 1;
            if (current == Fault.IS_LATE_HALFWAY && hasty) {
                throw new LateException();
            }
        }

        @Override
        public boolean isComplete() {
            int at = place[0];
            return at > 0 && at % 2 == 0;
        }

        @Override
        public boolean isEnded() {
            return place[0] >= 2 * pairs + (current == Fault.IS_ENDED_BEFORE_IT_IS_COMPLETE ? 1 : 2);
        }

        @Override
        public int[] forced() {
            if (place[0] != 2 * pairs) {
                return new int[0];
            }
            return new int[] {BYTES + '.', BYTES + (current == Fault.FORCES_WHAT_MAY_NOT_COME ? '?' : '!')};
        }

        @Override
        public boolean quick(boolean wanted) {
            hasty = wanted;
            return true;
        }

        @Override
        public TokenConstraint copy() {
            return switch (current) {
                case COPIES_NOTHING -> this;
                case COPIES_THE_BEGINNING -> new Pairs(pairs, new int[1], size);
                default -> new Pairs(pairs, place.clone(), size);
            };
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
    void aSoundConstraintPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 25));
    }
}
