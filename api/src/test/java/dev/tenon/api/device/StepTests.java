package dev.tenon.api.device;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.TokenSampling;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StepTests {
    /// Steps of 6 tokens and 2 sequences, pages of 4 positions, 3 pages, ids 0 to 9.
    private final StepCheck check = new StepCheck(
            PlanOptions.builder(12).maxBatchTokens(6).maxSequences(2).build(), 4, 3, 10);

    private static StepInput input(Consumer<StepInput> fill) {
        StepInput input = new StepInput();
        fill.accept(input);
        return input;
    }

    @Test
    void aBatchIsReadAsItWasFilledAndGrows() {
        StepInput input = new StepInput();
        for (int round = 0; round < 2; round++) {
            input.clear();
            for (int s = 0; s < 9; s++) {
                int[] pages = {s};
                assertEquals(s, input.addSequence(pages));
                assertSame(pages, input.pageTable(s));
                input.addToken(s, 0, false);
                input.addToken(s + 1, 1, s % 2 == 0);
                input.addToken(s + 2, 2, TokenSampling.GREEDY);
            }
            assertEquals(27, input.tokenCount());
            assertEquals(9, input.sequenceCount());
            assertEquals(9 + 5, input.logitRows());
            assertEquals(9, input.samplingCount());
            int t = 3 * 7 + 2;
            assertEquals(9, input.token(t));
            assertEquals(2, input.position(t));
            assertEquals(7, input.sequence(t));
            assertTrue(input.wantsLogits(t));
            assertSame(TokenSampling.GREEDY, input.sampling(t));
            assertNull(input.sampling(t - 1));
            assertFalse(input.wantsLogits(t - 1));
        }
    }

    static Stream<Arguments> wrong() {
        int[] pages = {2, 0};
        return Stream.of(
                Arguments.of("tokens; the plan takes at most 6", input(in -> {
                    in.addSequence(pages);
                    for (int p = 0; p < 7; p++) {
                        in.addToken(1, p, false);
                    }
                })),
                Arguments.of("sequences; the plan takes at most 2", input(in -> {
                    for (int s = 0; s < 3; s++) {
                        in.addSequence(pages);
                        in.addToken(1, 0, false);
                    }
                })),
                Arguments.of("belongs to no sequence", input(in -> in.addToken(1, 0, true))),
                Arguments.of("token 10 at index 0", one(10, 0, pages)),
                Arguments.of("token -1 at index 0", one(-1, 0, pages)),
                Arguments.of("position -1 at index 0", one(1, -1, pages)),
                Arguments.of("needs 3 pages", one(1, 8, pages)),
                Arguments.of("names page 3", one(1, 0, new int[] {3})),
                Arguments.of("names page -1", one(1, 4, new int[] {0, -1})),
                Arguments.of("expected ascending positions", input(in -> {
                    in.addSequence(pages);
                    in.addToken(1, 1, false);
                    in.addToken(1, 1, true);
                })));
    }

    @Test
    void sequencesOfAPlanWithStatesHaveASlotEachAndLeaveNoPositionOut() {
        StepCheck states = new StepCheck(PlanOptions.builder(12).maxSequences(2).build(), 4, 3, 10, 2);
        assertDoesNotThrow(() -> states.check(slots(0, 0, 1)));
        refused(states, "state slot 2", slots(2, 0, 1));
        refused(states, "state slot -1", slots(StepInput.NO_SLOT, 0, 1));
        refused(states, "both have state slot 1", slots(1, 0, 1));
        refused(states, "takes all positions", slots(0, 0, 2));
        assertDoesNotThrow(() -> check.check(slots(5, 0, 2)));
    }

    private static StepInput slots(int slot, int... positions) {
        return input(in -> {
            in.addSequence(new int[] {2, 0}, slot);
            for (int position : positions) {
                in.addToken(1, position, false);
            }
            in.addSequence(new int[] {1}, 1);
            in.addToken(1, 0, true);
        });
    }

    private static void refused(StepCheck states, String problem, StepInput input) {
        var e = assertThrows(IllegalArgumentException.class, () -> states.check(input));
        assertTrue(e.getMessage().contains(problem), e.getMessage());
    }

    private static StepInput one(int token, int position, int[] pages) {
        return input(in -> {
            in.addSequence(pages);
            in.addToken(token, position, true);
        });
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void whatIsOutOfRangeIsRefusedWithItsPlace(String problem, StepInput input) {
        var e = assertThrows(IllegalArgumentException.class, () -> check.check(input));
        assertTrue(e.getMessage().contains(problem), e.getMessage());
    }

    @Test
    void severalStepsNeedThePagesOfTheLast() {
        StepInput input = one(1, 5, new int[] {2, 0});
        assertDoesNotThrow(() -> check.check(input, 3));
        assertThrows(IllegalArgumentException.class, () -> check.check(input, 4));
    }

    @Test
    void aPlanWithoutNamedOutputsRefusesThem() {
        StepResult result = new StepResult() {
            @Override
            public int rows() {
                return 1;
            }

            @Override
            public void logits(int row, float[] target) {
                target[0] = 1;
            }
        };
        assertEquals(-1, result.token(0));
        assertThrows(IllegalArgumentException.class, () -> result.rows("hidden"));
        assertThrows(IllegalArgumentException.class, () -> result.output("hidden", 0, new float[1]));
    }
}
