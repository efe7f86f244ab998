package dev.tenon.platform.core.generation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.platform.core.steps.StepCosts;
import dev.tenon.platform.core.steps.TokenSequence;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// When tokens are proposed, and which, by counts alone: no step was measured, so that a step of any width is said to
/// take a unit.
class DraftsTests {
    private final TokenSequence sequence = new TokenSequence();

    /// Proposes zeros; each takes as many units as it is told.
    private record Zeros(double nanosPerToken) implements TokenProposer {
        @Override
        public int[] propose(TokenHistory tokens, int most) {
            return new int[most];
        }

        @Override
        public int most() {
            return 8;
        }
    }

    private static Drafts drafts(double nanosPerToken) {
        return new Drafts(new Zeros(nanosPerToken), new StepCosts(false));
    }

    private int proposed(Drafts drafts, int room) {
        return drafts.next(sequence, room).length;
    }

    @Test
    void whereProposalsCostNothingAsManyAreMadeAsThereIsRoomFor() {
        Drafts drafts = drafts(0);
        assertEquals(8, proposed(drafts, 100));
        assertEquals(3, proposed(drafts, 3));
        assertEquals(0, proposed(drafts, 0));
        assertEquals(0, proposed(new Drafts(null, new StepCosts(false)), 100));
    }

    @Test
    void whatDoesNotPayIsTriedAfterLongerAndLongerPauses() {
        Drafts drafts = drafts(100);
        List<Integer> tries = new ArrayList<>();
        for (int token = 1; token <= 8 + 16 + 32 + 64; token++) {
            int count = proposed(drafts, 100);
            if (count > 0) {
                assertEquals(1, count, "each takes as long as many steps");
                drafts.checked(count, 0);
                tries.add(token);
            }
        }
        assertEquals(List.of(8, 24, 56, 120), tries);
        assertEquals(4, drafts.drafted());
        assertEquals(0, drafts.accepted());
    }

    @Test
    void asManyAreTriedAsCostLittle() {
        StepCosts costs = new StepCosts(true); // wrong ones are dear
        Drafts drafts = new Drafts(new Zeros(0.01), costs);
        for (int i = 0; i < 200; i++) {
            drafts.checked(4, 0);
        }
        for (int token = 1; token < 8; token++) {
            assertEquals(0, proposed(drafts, 100));
        }
        assertEquals(4, proposed(drafts, 100));
    }

    @Test
    void proposalsThatAreMostlyWrongEndAndThoseThatAreRightComeBack() {
        Drafts drafts = drafts(0.3);
        assertTrue(proposed(drafts, 100) > 0);
        for (int i = 0; i < 40; i++) {
            drafts.checked(4, 0);
        }
        assertEquals(0, proposed(drafts, 100));
        for (int i = 0; i < 10; i++) {
            drafts.checked(4, 4);
        }
        assertTrue(proposed(drafts, 100) > 0);
        assertEquals(40, drafts.accepted());
    }

    @Test
    void aGenerationBeginsWithWhatOthersCameTo() {
        StepCosts costs = new StepCosts(false);
        Drafts wrong = new Drafts(new Zeros(0.3), costs);
        assertTrue(proposed(wrong, 100) > 0);
        for (int i = 0; i < 100; i++) {
            wrong.checked(4, 0);
        }
        Drafts next = new Drafts(new Zeros(0.3), costs);
        assertEquals(0, proposed(next, 100));
        for (int i = 0; i < 100; i++) {
            next.checked(4, 4);
        }
        assertTrue(proposed(new Drafts(new Zeros(0.3), costs), 100) > 0);
    }

    @Test
    void earlierTokensProposeWhatFollowedTheLongestMatch() {
        for (int token : new int[] {9, 1, 2, 3, 50, 51, 7, 1, 2, 3, 60, 61, 9, 1, 2, 3}) {
            sequence.append(token);
        }
        PromptLookup lookup = new PromptLookup();
        // Four tokens are the same before 50, three before 60, which came later.
        assertArrayEquals(new int[] {50, 51, 7}, lookup.propose(sequence, 3));
        sequence.append(80);
        assertEquals(0, lookup.propose(sequence, 3).length);
        for (int token : new int[] {4, 5, 6, 4, 5, 6}) {
            sequence.append(token);
        }
        // What is proposed goes on where the sequence ends.
        assertArrayEquals(new int[] {4, 5, 6, 4, 5}, lookup.propose(sequence, 5));
    }
}
