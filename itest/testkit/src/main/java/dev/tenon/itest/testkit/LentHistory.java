package dev.tenon.itest.testkit;

import dev.tenon.api.text.LogitsProcessor;

/// Tokens that are lent until they are closed.
final class LentHistory implements LogitsProcessor.TokenHistory, AutoCloseable {
    private final int[] tokens;
    private volatile boolean ended;

    LentHistory(int... tokens) {
        this.tokens = tokens;
    }

    private void lent() {
        if (ended) {
            throw new IllegalStateException("a history was used after the call that it was lent for");
        }
    }

    @Override
    public int length() {
        lent();
        return tokens.length;
    }

    @Override
    public int token(int index) {
        lent();
        if (index < 0 || index >= tokens.length) {
            throw new IndexOutOfBoundsException("token " + index + " of a history of " + tokens.length);
        }
        return tokens[index];
    }

    @Override
    public void close() {
        ended = true;
    }
}
