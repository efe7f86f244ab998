package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/// The budget against devices whose steps take a known time.
class PrefillBudgetTests {
    private static final int ROOM = 512;

    private final PrefillBudget budget = new PrefillBudget(50, 1);

    /// Runs steps with one sequence that waits and a prompt that fills what is allowed.
    ///
    /// @param millis of a step, by the tokens of the prompt
    /// @return the longest one after the first
    private double longest(int steps, IntToDoubleFunction millis) {
        double longest = 0;
        for (int i = 0; i < steps; i++) {
            int tokens = budget.tokens(ROOM);
            double time = millis.applyAsDouble(tokens);
            longest = i == 0 ? 0 : Math.max(longest, time);
            budget.ran(1, tokens, (long) (time * TimeUnit.MILLISECONDS.toNanos(1)));
        }
        return longest;
    }

    @Test
    void stepsComeCloseToTheBudgetAndStayWithinIt() {
        budget.ran(1, 0, TimeUnit.MILLISECONDS.toNanos(20));
        IntToDoubleFunction device = tokens -> 20 + 2.0 * tokens;
        double longest = longest(50, device);
        assertTrue(longest <= 60, "a step took " + longest + " ms");
        double last = device.applyAsDouble(budget.tokens(ROOM));
        assertTrue(last > 45 && last <= 52, "the last one takes " + last + " ms");
    }

    @Test
    void promptsWhoseFirstTokensTakeNoTimeDoNotMakeStepsLong() {
        budget.ran(1, 0, TimeUnit.MILLISECONDS.toNanos(20));
        // Up to eight tokens run while the weights are read in any case.
        double longest = longest(100, tokens -> Math.max(20, 2 + 2.25 * tokens));
        assertTrue(longest <= 60, "a step took " + longest + " ms");
    }

    @Test
    void stepsThatGetSlowerAsThePromptGrowsStayNearTheBudget() {
        budget.ran(1, 0, TimeUnit.MILLISECONDS.toNanos(20));
        longest(10, tokens -> 20 + tokens);
        double[] each = {1};
        double longest = longest(200, tokens -> {
            each[0] *= 1.01;
            return 20 + each[0] * tokens;
        });
        assertTrue(longest <= 60, "a step took " + longest + " ms");
    }

    @Test
    void aDeviceWhoseStepsAreLongGivesPromptsHalfOfItsTime() {
        budget.ran(1, 0, TimeUnit.MILLISECONDS.toNanos(200));
        IntToDoubleFunction device = tokens -> 200 + 10.0 * tokens;
        longest(50, device);
        double last = device.applyAsDouble(budget.tokens(ROOM));
        assertTrue(last > 360 && last < 440, "the last one takes " + last + " ms");
    }

    @Test
    void onePromptTokenRunsHoweverLongItTakes() {
        longest(20, tokens -> 1000.0 * tokens);
        assertEquals(1, budget.tokens(ROOM));
    }

    @Test
    void aFastDeviceTakesAllThereIsRoomFor() {
        longest(20, tokens -> 0.5 + 0.01 * tokens);
        assertEquals(ROOM, budget.tokens(ROOM));
    }

    @Test
    void whatAPromptTookWithoutOthersIsTheFirstGuess() {
        budget.ran(0, 512, TimeUnit.MILLISECONDS.toNanos(1024));
        assertEquals(25, budget.tokens(ROOM));
    }

    @Test
    void theLastPieceOfAPromptChangesNothingUnlessItTakesTooLong() {
        longest(50, tokens -> 30 + tokens);
        int allowed = budget.tokens(ROOM);
        budget.ran(1, 2, TimeUnit.MILLISECONDS.toNanos(32));
        assertEquals(allowed, budget.tokens(ROOM), 1);
        budget.ran(1, 2, TimeUnit.MILLISECONDS.toNanos(100));
        assertTrue(budget.tokens(ROOM) < allowed);
    }

    @Test
    void withoutABudgetThereIsNoLimit() {
        PrefillBudget none = new PrefillBudget(0, 1);
        none.ran(1, 100, TimeUnit.SECONDS.toNanos(10));
        assertEquals(ROOM, none.tokens(ROOM));
    }

    /// Prompts alone: nobody waits, and the one who comes next waits for the end of a step.
    @Test
    void aStepRunsTheLeastTokensHoweverLongTheyTake() {
        PrefillBudget alone = new PrefillBudget(200, 32);
        for (int i = 0; i < 20; i++) {
            int tokens = alone.tokens(ROOM);
            assertTrue(tokens >= 32, () -> tokens + " tokens");
            alone.ran(1, tokens, TimeUnit.MILLISECONDS.toNanos(100L * tokens));
        }
        assertEquals(32, alone.tokens(ROOM));
        assertEquals(16, alone.tokens(16), "where there is room for no more");
    }
}
