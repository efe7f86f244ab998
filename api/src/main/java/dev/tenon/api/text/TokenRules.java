package dev.tenon.api.text;

import java.util.List;
import java.util.Set;

/// Which tokens a reply may have, and which end it. They hold beside a [TokenConstraint]; a reply for which the two
/// leave no token fails.
///
/// @param minNewTokens tokens before which neither end-of-text tokens nor `stopTokens` come; 0 for none
/// @param stopTokens tokens that end the reply, as its last ones; unmodifiable
/// @param badWords token sequences that the reply does not contain, none of them empty; unmodifiable
/// @param allowedTokens the only tokens that may come, also at the end; empty for all; unmodifiable
public record TokenRules(
        int minNewTokens, Set<Integer> stopTokens, List<List<Integer>> badWords, Set<Integer> allowedTokens) {
    /// Everything may come.
    public static final TokenRules NONE = new TokenRules(0, Set.of(), List.of(), Set.of());

    /// Copies.
    ///
    /// @throws IllegalArgumentException if the number is negative, or a sequence is empty
    public TokenRules {
        if (minNewTokens < 0) {
            throw new IllegalArgumentException("minNewTokens is " + minNewTokens + "; expected 0 or more");
        }
        stopTokens = Set.copyOf(stopTokens);
        badWords = badWords.stream().map(List::copyOf).toList();
        allowedTokens = Set.copyOf(allowedTokens);
        if (badWords.contains(List.of())) {
            throw new IllegalArgumentException("badWords has an empty sequence; expected at least one token in each");
        }
    }
}
