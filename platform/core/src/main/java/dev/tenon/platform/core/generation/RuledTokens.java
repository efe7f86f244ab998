package dev.tenon.platform.core.generation;

import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenRules;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.TokenMasks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/// The rules of a request as a constraint, beside the one that it has.
final class RuledTokens implements TokenConstraint {
    private final TokenRules rules;
    /// The request's constraint; null if it has none.
    private final TokenConstraint inner;

    private final int vocabularySize;
    /// Tokens that do not come before the least number; as words of a mask.
    private final long[] ends;
    /// The only tokens that may come; null for all.
    private final long[] allowed;
    /// The last tokens, as many as a bad word has.
    private final List<Integer> tail;

    private final int tailLength;
    private int count;
    private boolean stopped;

    private RuledTokens(TokenRules rules, TokenConstraint inner, Tokenizer tokenizer, int vocabularySize) {
        this.rules = rules;
        this.inner = inner;
        this.vocabularySize = vocabularySize;
        BitSet ending = new BitSet();
        rules.stopTokens().forEach(ending::set);
        for (int id = 0; rules.minNewTokens() > 0 && id < vocabularySize; id++) {
            ending.set(id, ending.get(id) || tokenizer.isEndOfGeneration(id));
        }
        ends = ending.toLongArray();
        BitSet only = new BitSet();
        rules.allowedTokens().forEach(only::set);
        allowed = only.isEmpty() ? null : Arrays.copyOf(only.toLongArray(), (vocabularySize + 63) / Long.SIZE);
        tailLength = rules.badWords().stream().mapToInt(List::size).max().orElse(1) - 1;
        tail = new ArrayList<>();
    }

    private RuledTokens(RuledTokens other) {
        rules = other.rules;
        inner = other.inner == null ? null : other.inner.copy();
        vocabularySize = other.vocabularySize;
        ends = other.ends;
        allowed = other.allowed;
        tail = new ArrayList<>(other.tail);
        tailLength = other.tailLength;
        count = other.count;
        stopped = other.stopped;
    }

    /// {@return what says which tokens a generation may have; null if it may have all}
    ///
    /// @param request the request
    /// @param tokenizer the model's
    /// @param vocabularySize its tokens
    /// @throws IllegalArgumentException if a rule names a token that the vocabulary does not have
    static TokenConstraint of(GenerationRequest request, Tokenizer tokenizer, int vocabularySize) {
        TokenConstraint inner = request.constraint().orElse(null);
        TokenRules rules = request.rules();
        if (rules.equals(TokenRules.NONE)) {
            return inner;
        }
        check("stopTokens", rules.stopTokens(), vocabularySize);
        check("allowedTokens", rules.allowedTokens(), vocabularySize);
        rules.badWords().forEach(word -> check("badWords", word, vocabularySize));
        return new RuledTokens(rules, inner, tokenizer, vocabularySize);
    }

    private static void check(String what, Iterable<Integer> tokens, int vocabularySize) {
        for (int id : tokens) {
            if (id < 0 || id >= vocabularySize) {
                throw new IllegalArgumentException(
                        what + " has token " + id + "; the vocabulary has tokens 0 to " + (vocabularySize - 1));
            }
        }
    }

    @Override
    public void mask(long[] words) {
        if (inner == null) {
            TokenMasks.allowAll(words, vocabularySize);
        } else {
            inner.mask(words);
        }
        for (int i = 0; i < ends.length && count < rules.minNewTokens(); i++) {
            words[i] &= ~ends[i];
        }
        for (int i = 0; allowed != null && i < allowed.length; i++) {
            words[i] &= allowed[i];
        }
        for (List<Integer> word : rules.badWords()) {
            int before = word.size() - 1;
            if (before <= tail.size()
                    && tail.subList(tail.size() - before, tail.size()).equals(word.subList(0, before))) {
                words[word.getLast() / Long.SIZE] &= ~(1L << word.getLast());
            }
        }
        if (Arrays.stream(words).allMatch(word -> word == 0)) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "After " + count + " tokens of the reply none may come: what the reply has to be, its least number"
                            + " of tokens, and allowed or bad ones exclude each other. Leave one out.");
        }
    }

    @Override
    public void accept(int token) {
        if (inner != null) {
            inner.accept(token);
        }
        count++;
        stopped |= rules.stopTokens().contains(token);
        tail.add(token);
        if (tail.size() > tailLength) {
            tail.removeFirst();
        }
    }

    @Override
    public boolean isComplete() {
        return count >= rules.minNewTokens() && (inner == null || inner.isComplete());
    }

    @Override
    public boolean isEnded() {
        return stopped || inner != null && inner.isEnded();
    }

    @Override
    public int unmasked() {
        boolean masks = count < rules.minNewTokens()
                || allowed != null
                || !rules.badWords().isEmpty();
        return masks ? 0 : inner == null ? Integer.MAX_VALUE : inner.unmasked();
    }

    @Override
    public boolean quick(boolean wanted) {
        return inner == null || inner.quick(wanted);
    }

    @Override
    public TokenConstraint copy() {
        return new RuledTokens(this);
    }
}
