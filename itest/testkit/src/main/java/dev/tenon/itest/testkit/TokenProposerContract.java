package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// What the proposers of every [TokenProposerProvider] have to keep to.
///
/// How many proposals are right is the proposer's own; known answers belong to its own tests.
public abstract class TokenProposerContract extends NamedRuleContract<TokenProposer> {
    private static final int CALLS = 200;
    private static final Set<String> OWN = Set.of("off", "ngram", "draft", "head");

    /// For subclasses.
    protected TokenProposerContract() {}

    /// {@return what is under test}
    protected abstract TokenProposerProvider provider();

    @Override
    final String id() {
        return provider().id();
    }

    @Override
    final TokenProposer create(String argument, Tokenizer tokenizer) {
        return provider().create(argument, tokenizer);
    }

    @Override
    final void use(TokenProposer made, Tokenizer tokenizer) {
        try (made) {
            proposals(made, 1, 20);
        }
    }

    /// Asks as a session does whose tokens grow, come again, and are cut back.
    private void proposals(TokenProposer proposer, long seed, int calls) {
        Random random = new Random(seed);
        int size = tokenizer().vocabularySize();
        int[] tokens = {};
        for (int call = 0; call < calls; call++) {
            int kept = random.nextInt(8) == 0 ? random.nextInt(tokens.length + 1) : tokens.length;
            int more = random.nextInt(5);
            int from = random.nextInt(kept + 1);
            int[] next = Arrays.copyOf(tokens, kept + more);
            for (int i = 0; i < more; i++) {
                boolean again = from + i < kept && random.nextInt(10) > 0;
                next[kept + i] = again ? tokens[from + i] : random.nextInt(size);
            }
            tokens = next;
            int most = 1 + random.nextInt(Math.max(1, proposer.most()));
            try (LentHistory history = new LentHistory(tokens)) {
                assertTokens(proposer.propose(history, most), most, size);
            }
        }
    }

    private static void assertTokens(int[] proposed, int most, int size) {
        assertNotNull(proposed, "null in place of no tokens");
        assertTrue(proposed.length <= most, () -> proposed.length + " tokens where " + most + " were asked for");
        for (int id : proposed) {
            assertTrue(id >= 0 && id < size, () -> "token " + id + " of a vocabulary of " + size);
        }
    }

    @Test
    void theIdIsNotOneOfTheEngine() {
        assertFalse(OWN.contains(id()), this::id);
    }

    @Test
    void someTokensAreWorthAskingFor() {
        try (TokenProposer proposer = create()) {
            int most = proposer.most();
            assertTrue(most >= 1, () -> "most() is " + most);
            proposals(proposer, 2, 20);
            assertEquals(most, proposer.most(), "most() is always the same");
            assertTrue(proposer.nanosPerToken() >= 0, () -> "nanosPerToken() is " + proposer.nanosPerToken());
        }
    }

    @Test
    void proposalsAreTokensOfTheVocabulary() {
        try (TokenProposer proposer = create()) {
            proposals(proposer, 3, CALLS);
        }
    }

    @Test
    void severalThreadsMayUseTheProvider() {
        onThreads(() -> {
            try (TokenProposer proposer = create()) {
                proposals(proposer, 4, CALLS);
            }
        });
    }

    /// Sessions are closed in any order.
    @Test
    void aClosedProposerTakesNothingFromOthers() {
        try (TokenProposer proposer = create()) {
            TokenProposer other = create();
            proposals(other, 5, 10);
            other.close();
            proposals(proposer, 6, 10);
        }
    }
}
