package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// How many proposals pay, by what steps are said to take.
class StepCostsTests {
    private final StepCosts costs = new StepCosts(false);

    @Test
    void widthsThatNobodyHasTriedAreTried() {
        assertEquals(8, costs.worthwhile(0.5, 0, 8));
        costs.ran(1, 0, 1, 100);
        assertEquals(8, costs.worthwhile(0.5, 0, 8));
    }

    @Test
    void stepsThatCostAsManyTimesAsMuchAsTheyHaveTokensArePaidByNothing() {
        for (int tokens = 1; tokens <= 17; tokens++) {
            costs.ran(1, 0, tokens, 100L * tokens);
        }
        assertEquals(0, costs.worthwhile(0.99, 0, 16));
    }

    @Test
    void theBetterProposalsAreTheMoreOfThemPay() {
        costs.ran(1, 0, 1, 100);
        costs.ran(1, 0, 17, 260);
        int few = costs.worthwhile(0.3, 0, 16);
        int some = costs.worthwhile(0.7, 0, 16);
        assertTrue(0 < few && few < some && some < 16, few + ", " + some);
        assertEquals(16, costs.worthwhile(1, 0, 16));
        assertEquals(0, costs.worthwhile(0.05, 0, 16), "1.05 tokens in 110");
    }

    @Test
    void aDraftThatTakesAsLongAsAStepDoesNotPay() {
        costs.ran(1, 0, 1, 100);
        costs.ran(1, 0, 9, 100);
        assertEquals(8, costs.worthwhile(0.9, 0, 8));
        assertEquals(0, costs.worthwhile(0.9, 100, 8));
    }

    @Test
    void whatPaysForOneSequenceDoesNotForManyThatFillAStep() {
        for (int tokens = 1; tokens <= 64; tokens++) {
            costs.ran(1, 0, tokens, Math.max(16, tokens));
        }
        assertEquals(8, costs.worthwhile(0.5, 0, 8));
        costs.ran(16, 1, 16, 16);
        assertEquals(0, costs.worthwhile(0.5, 0, 8));
    }

    @Test
    void aSequenceThatGetsProposalsAloneMayGetMoreThanIfAllDo() {
        for (int tokens = 1; tokens <= 64; tokens++) {
            costs.ran(1, 0, tokens, Math.max(16, tokens));
        }
        costs.ran(8, 1, 9, 16);
        assertEquals(8, costs.worthwhile(0.5, 0, 8));
        costs.ran(8, 8, 16, 16);
        assertEquals(1, costs.worthwhile(0.5, 0, 8));
    }

    @Test
    void aStepThatTookLongOnceIsForgottenAfterSeveral() {
        costs.ran(1, 0, 1, 100);
        costs.ran(1, 0, 5, 10_000);
        assertEquals(0, costs.worthwhile(0.9, 0, 4));
        for (int i = 0; i < 20; i++) {
            costs.ran(1, 0, 5, 110);
        }
        assertEquals(4, costs.worthwhile(0.9, 0, 4));
    }

    @Test
    void aWidthThatWasSlowOnceIsTriedAgainAfterManySteps() {
        costs.ran(1, 0, 1, 100);
        costs.ran(1, 0, 5, 10_000);
        int steps = 0;
        while (costs.worthwhile(0.9, 0, 4) < 4) {
            costs.ran(1, 0, 1, 100);
            assertTrue(++steps < 1000);
        }
        assertTrue(steps > 100, "after " + steps);
    }
}
