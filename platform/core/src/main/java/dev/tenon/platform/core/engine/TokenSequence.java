package dev.tenon.platform.core.engine;

import java.util.Arrays;

/// The tokens of a session and how many of them are in the KV cache. Tokens are changed by the session's
/// thread between steps,
/// everything else under the scheduler's lock.
final class TokenSequence {
    private int[] tokens = new int[64];
    private int length;
    private int computed;
    private int[] pages = new int[4];
    private int pageCount;

    int length() {
        return length;
    }

    int computed() {
        return computed;
    }

    int token(int index) {
        return tokens[index];
    }

    void append(int token) {
        if (length == tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * length);
        }
        tokens[length++] = token;
    }

    int[] pageTable() {
        return pages;
    }

    int pageCount() {
        return pageCount;
    }

    void addPage(int page) {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
        }
        pages[pageCount++] = page;
    }

    void advance(int count) {
        computed += count;
    }

    /// Keeps the first tokens and gives back the pages behind them.
    void truncate(int newLength, int tokensPerPage, PagePool pool) {
        length = newLength;
        computed = Math.min(computed, newLength);
        int keep = (computed + tokensPerPage - 1) / tokensPerPage;
        while (pageCount > keep) {
            pool.release(pages[--pageCount]);
        }
    }

    /// Forgets the cache (the plan is gone), not the tokens: they are run again by the next step.
    void forgetCache() {
        computed = 0;
        pageCount = 0;
    }
}
