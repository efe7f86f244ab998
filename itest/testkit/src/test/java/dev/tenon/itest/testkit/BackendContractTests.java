package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.FaultyBackend.Fault;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A sound backend passes the contract, and each broken one fails the test that is there for it.
///
/// Long: the contract runs once for each fault.
@Tag("long")
class BackendContractTests {
    /// Null for none.
    private static Fault current;

    /// Run by the launcher below, not by the build itself: its name keeps it out.
    static class UnderTest extends BackendContract {
        @Override
        protected Backend backend() {
            return current == null ? new ReferenceBackend() : new FaultyBackend(current);
        }

        @Override
        protected Collection<QuantFormat> formats() {
            return List.of(TestFormats.F32);
        }

        @Override
        protected int openCloseRounds() {
            return current == Fault.A_MAPPING_STAYS ? 200 : 20; // fewer are not counted
        }
    }

    @Test
    void aSoundBackendPasses() {
        current = null;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 100));
    }

    @ParameterizedTest
    @EnumSource
    void aBrokenBackendFails(Fault fault) {
        current = fault;
        String expected = switch (fault) {
            case PAGES_TAKEN_AS_CONSECUTIVE -> "prefillAndDecodeOfSeveralSequencesMixInOneStep";
            case ADAPTERS_OF_THE_FIRST_SEQUENCE -> "sequencesWithDifferentAdaptersMixInOneStep";
            case COPY_LOSES_ROWS -> "aCopiedPageLivesOnItsOwn";
            case LOGITS_OF_EVERY_ROW -> "aStepWithoutWantedRowsGivesNoneAndStillFillsTheCache";
            case TOKENS_NOT_CHECKED, LIMITS_NOT_CHECKED -> "aStepBeyondTheLimitsIsRefusedAndThePlanGoesOn";
            case CLOSE_KEEPS_MEMORY -> "openingAndClosingPlansGivesAllMemoryBack";
            case FAILED_COMPILE_KEEPS_MEMORY -> "aCompileThatFailsHalfWayGivesEverythingBack";
            case CLOSED_PLAN_RUNS -> "aClosedPlanRefusesSteps";
            case LATE_ROWS_MISS_THE_FIRST -> "logitsAreTheSameForEveryChunkSize";
            case A_THREAD_STAYS -> "openingAndClosingDevicesLeavesNoThreadsBehind";
            case A_FILE_STAYS_OPEN -> "openingAndClosingDevicesLeavesNoFileOpen";
            case A_MAPPING_STAYS -> "openingAndClosingDevicesLeavesNothingMapped";
            case PLANS_SHARE_THEIR_SCRATCH -> "plansOfOneDeviceRunAtTheSameTime";
            case MASKS_OF_THE_FIRST_ROW -> "theDeviceChoosesAmongTheTokensOfAMask";
            case TOKENS_OF_THE_FIRST_ROW, TOKENS_UNASKED_FOR -> "aStepMayMixRowsThatTheDeviceChoosesFromWithOthers";
            case SUPPORTS_SAYS_YES_TO_ALL -> "anUnknownOpIsRefusedWithItsKind";
            case BITS_CHANGE_NOW_AND_THEN -> "stepsThatAlternateGiveTheSameBitsBesideAnotherPlanAndABusyThread";
            case NOISE -> "linearMatchesTheReferenceInEveryFormat";
        };
        // Only the test that is there for it: all of them for every fault would take a minute.
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, expected);
        assertTrue(failures.containsKey(expected), () -> "failed: " + failures.keySet());
    }
}
