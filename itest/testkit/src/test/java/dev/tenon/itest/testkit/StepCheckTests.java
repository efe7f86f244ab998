package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.text.TokenSampling;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// What every backend refuses in a step.
class StepCheckTests {
    private static final PlanOptions OPTIONS =
            PlanOptions.builder(256).maxBatchTokens(4).maxSequences(2).build();
    private static final StepCheck CHECK = new StepCheck(OPTIONS, 64, 4, 100);

    private static StepInput input(Consumer<StepInput> fill) {
        StepInput input = new StepInput();
        fill.accept(input);
        return input;
    }

    private static void assertRefused(String part, int steps, Consumer<StepInput> fill) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> CHECK.check(input(fill), steps), part);
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsInRangePasses() {
        assertDoesNotThrow(() -> CHECK.check(input(i -> {
            i.addSequence(new int[] {3});
            i.addToken(0, 0, false);
            i.addToken(99, 63, true);
            i.addSequence(new int[] {0, 1, 2, 3});
            i.addToken(5, 255, true);
        })));
        assertDoesNotThrow(() -> CHECK.check(new StepInput()), "an empty step");
    }

    @Test
    void whatIsOutOfRangeIsNamed() {
        assertRefused("5 tokens", 1, i -> {
            i.addSequence(new int[] {0});
            for (int t = 0; t < 5; t++) {
                i.addToken(1, t, false);
            }
        });
        assertRefused("3 sequences", 1, i -> {
            for (int s = 0; s < 3; s++) {
                i.addSequence(new int[] {s});
                i.addToken(1, 0, true);
            }
        });
        assertRefused("belongs to no sequence", 1, i -> i.addToken(1, 0, true));
        assertRefused("token 100", 1, i -> {
            i.addSequence(new int[] {0});
            i.addToken(100, 0, true);
        });
        assertRefused("position -1", 1, i -> {
            i.addSequence(new int[] {0});
            i.addToken(1, -1, true);
        });
        assertRefused("ascending", 1, i -> {
            i.addSequence(new int[] {0});
            i.addToken(1, 7, false);
            i.addToken(1, 7, true);
        });
        assertRefused("needs 2 pages", 1, i -> {
            i.addSequence(new int[] {0});
            i.addToken(1, 64, true);
        });
        assertRefused("mask of 1 words", 1, i -> {
            i.addSequence(new int[] {0});
            i.addToken(1, 0, TokenSampling.GREEDY, new long[1]);
        });
        assertRefused("names page 4", 1, i -> {
            i.addSequence(new int[] {4});
            i.addToken(1, 0, true);
        });
    }

    @Test
    void pagesOfAllStepsAreNeeded() {
        Consumer<StepInput> last = i -> {
            i.addSequence(new int[] {0});
            i.addToken(1, 62, true);
        };
        assertDoesNotThrow(() -> CHECK.check(input(last), 2));
        assertRefused("needs 2 pages", 3, last);
    }
}
