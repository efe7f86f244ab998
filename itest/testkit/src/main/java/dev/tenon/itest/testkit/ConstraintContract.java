package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenConstraint.LateException;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What the constraints of every [ConstraintProvider] have to keep to.
///
/// Which replies a constraint allows is its own; known answers belong to its own tests. Random replies are walked
/// along: each token is one of the mask before it.
public abstract class ConstraintContract extends NamedRuleContract<TokenConstraint> {
    private static final int WALKS = 5;
    private static final int LENGTH = 30;
    /// How many tokens are tried at a place.
    private static final int TRIED = 300;

    /// For subclasses.
    protected ConstraintContract() {}

    /// {@return what is under test}
    protected abstract ConstraintProvider provider();

    @Override
    final String id() {
        return provider().id();
    }

    @Override
    final TokenConstraint create(String argument, Tokenizer tokenizer) {
        return provider().create(argument, tokenizer);
    }

    @Override
    final void use(TokenConstraint made, Tokenizer tokenizer) {
        made.isComplete();
        if (!made.isEnded()) {
            made.mask(new long[words()]);
        }
    }

    private int words() {
        return (tokenizer().vocabularySize() + Long.SIZE - 1) / Long.SIZE;
    }

    private BitSet mask(TokenConstraint constraint) {
        long[] words = new long[words()];
        constraint.mask(words);
        return BitSet.valueOf(words);
    }

    /// What can be seen of a constraint: of one that is ended, no mask.
    private record Seen(boolean complete, boolean ended, BitSet mask) {}

    private Seen seen(TokenConstraint constraint) {
        boolean ended = constraint.isEnded();
        return new Seen(constraint.isComplete(), ended, ended ? new BitSet() : mask(constraint));
    }

    /// {@return a token that may come next and does not end the text; -1 if there is none}
    private int next(Seen seen, Random random) {
        Tokenizer tokenizer = tokenizer();
        int[] tokens = seen.mask.stream()
                .filter(id -> id < tokenizer.vocabularySize() && !tokenizer.isEndOfGeneration(id))
                .toArray();
        return tokens.length == 0 ? -1 : tokens[random.nextInt(tokens.length)];
    }

    /// Walks along random replies.
    ///
    /// @param at is called before each token; it leaves the constraint as it is
    private void walk(Consumer<TokenConstraint> at) {
        for (int seed = 0; seed < WALKS; seed++) {
            walk(create(), seed, at);
        }
    }

    private List<Seen> walk(TokenConstraint constraint, int seed, Consumer<TokenConstraint> at) {
        Random random = new Random(seed);
        List<Seen> places = new ArrayList<>();
        for (int i = 0; i < LENGTH; i++) {
            at.accept(constraint);
            Seen seen = seen(constraint);
            places.add(seen);
            int next = seen.ended ? -1 : next(seen, random);
            if (next < 0) {
                break;
            }
            constraint.accept(next);
        }
        return places;
    }

    private List<List<Seen>> walks(Supplier<TokenConstraint> constraints) {
        return IntStream.range(0, WALKS)
                .mapToObj(seed -> walk(constraints.get(), seed, constraint -> {}))
                .toList();
    }

    @Test
    void theSameArgumentGivesTheSameMasks() {
        assertEquals(walks(this::create), walks(this::create));
    }

    @Test
    void constraintsKnowNothingOfEachOther() {
        List<Seen> alone = walk(create(), 1, constraint -> {});
        Random random = new Random(2);
        TokenConstraint[] other = {create()};
        List<Seen> beside = walk(create(), 1, constraint -> {
            Seen seen = seen(other[0]);
            int next = seen.ended ? -1 : next(seen, random);
            if (next < 0) {
                other[0] = create();
            } else {
                other[0].accept(next);
            }
        });
        assertEquals(alone, beside);
    }

    @Test
    void severalThreadsMayUseTheProvider() {
        List<List<Seen>> alone = walks(this::create);
        onThreads(() -> assertEquals(alone, walks(this::create)));
    }

    /// Calls come one after the other, though from several threads.
    @Test
    void eachCallMayComeFromAThreadOfItsOwn() {
        assertEquals(walks(this::create), walks(() -> new Called(create(), ConstraintContract::onANewThread)));
    }

    @Test
    void aMaskIsOverwrittenWhole() {
        int size = tokenizer().vocabularySize();
        walk(constraint -> {
            if (constraint.isEnded()) {
                return;
            }
            BitSet expected = mask(constraint);
            assertTrue(expected.length() <= size, () -> "token " + (expected.length() - 1) + " of " + size);
            long[] words = new long[words() + 3];
            Arrays.fill(words, -1);
            constraint.mask(words);
            assertEquals(expected, BitSet.valueOf(words), "the mask in words that had all bits set");
        });
    }

    @Test
    void exactlyTheTokensOfTheMaskAreAccepted() {
        int size = tokenizer().vocabularySize();
        walk(constraint -> {
            Seen seen = seen(constraint);
            if (seen.ended) {
                return;
            }
            TokenConstraint refusing = constraint.copy();
            int step = Math.ceilDiv(size, TRIED);
            for (int id = 0; id < size; id += step) {
                int token = id;
                if (seen.mask.get(token)) {
                    TokenConstraint copy = constraint.copy();
                    assertDoesNotThrow(() -> copy.accept(token), () -> "token " + token + " is in the mask");
                } else {
                    assertRefused(refusing, token);
                }
            }
            assertRefused(refusing, -1);
            assertRefused(refusing, size);
            assertEquals(seen, seen(refusing), "after tokens that were refused");
        });
    }

    private static void assertRefused(TokenConstraint constraint, int token) {
        assertThrows(
                IllegalArgumentException.class,
                () -> constraint.accept(token),
                () -> "token " + token + " is not in the mask");
    }

    @Test
    void someTokenMayComeUntilItIsEnded() {
        walk(constraint -> {
            Seen seen = seen(constraint);
            assertTrue(seen.ended || !seen.mask.isEmpty(), "nothing may come next, though it is not ended");
        });
    }

    @Test
    void aTextEndsOnlyWhereItIsComplete() {
        Tokenizer tokenizer = tokenizer();
        walk(constraint -> {
            Seen seen = seen(constraint);
            assertTrue(seen.complete || !seen.ended, "it is ended, though the text may not end here");
            assertTrue(
                    seen.complete || seen.mask.stream().noneMatch(tokenizer::isEndOfGeneration),
                    "a token that ends the text may come next, though the text may not end here");
        });
    }

    @Test
    void forcedTokensMayComeNext() {
        walk(constraint -> {
            if (constraint.isEnded()) {
                return;
            }
            TokenConstraint copy = constraint.copy();
            for (int token : constraint.forced()) {
                assertFalse(copy.isEnded(), () -> "forced token " + token + " comes after the end");
                assertTrue(mask(copy).get(token), () -> "forced token " + token + " may not come next");
                copy.accept(token);
            }
        });
    }

    @Test
    void aCopyGoesOnOnItsOwn() {
        Random random = new Random(3);
        walk(constraint -> {
            Seen before = seen(constraint);
            TokenConstraint copy = constraint.copy();
            TokenConstraint other = constraint.copy();
            assertEquals(before, seen(copy), "a copy in the state of the original");
            walk(copy, random.nextInt(), each -> {});
            assertEquals(before, seen(constraint), "the original, after its copy went on");
            assertEquals(before, seen(other), "a copy, after another one went on");
        });
        // The original goes on, its copies stay.
        List<TokenConstraint> copies = new ArrayList<>();
        List<Seen> places = walk(create(), 4, constraint -> copies.add(constraint.copy()));
        for (int i = 0; i < places.size(); i++) {
            assertEquals(places.get(i), seen(copies.get(i)), "a copy, after the original went on");
        }
    }

    /// A call that would take too long changes nothing: made again without haste, it does what it would have done.
    @Test
    void aQuickOneSaysTheSame() {
        assertEquals(walks(this::create), walks(() -> new Called(create(), ConstraintContract::hastily)));
    }

    /// Asks in haste, and again without.
    private static void hastily(TokenConstraint constraint, Runnable call) {
        if (constraint.quick(true)) {
            try {
                call.run();
                return;
            } catch (LateException e) {
                // it has changed nothing
            } finally {
                constraint.quick(false);
            }
        }
        call.run();
    }

    private static void onANewThread(TokenConstraint constraint, Runnable call) {
        FutureTask<Void> task = new FutureTask<>(call, null);
        Thread.ofPlatform().start(task);
        try {
            task.get();
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError("a call on another thread failed: " + e.getMessage(), e);
        }
    }

    /// Makes each call in some way.
    private record Called(TokenConstraint constraint, BiConsumer<TokenConstraint, Runnable> way)
            implements TokenConstraint {
        private boolean asked(BooleanSupplier call) {
            boolean[] is = new boolean[1];
            way.accept(constraint, () -> is[0] = call.getAsBoolean());
            return is[0];
        }

        @Override
        public void mask(long[] words) {
            way.accept(constraint, () -> constraint.mask(words));
        }

        @Override
        public void accept(int token) {
            way.accept(constraint, () -> constraint.accept(token));
        }

        @Override
        public boolean isComplete() {
            return asked(constraint::isComplete);
        }

        @Override
        public boolean isEnded() {
            return asked(constraint::isEnded);
        }

        @Override
        public TokenConstraint copy() {
            return new Called(constraint.copy(), way);
        }
    }
}
