package dev.tenon.platform.core.steps;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;

/// Hands out the pages of a plan's KV cache. Guarded by the loop's lock.
final class PagePool {
    private final boolean[] taken;
    private final int[] free;
    private int freeCount;

    PagePool(int pages) {
        taken = new boolean[pages];
        free = new int[pages];
        for (int i = 0; i < pages; i++) {
            free[i] = pages - 1 - i;
        }
        freeCount = pages;
    }

    /// {@return a free page}
    int take() {
        if (freeCount == 0) {
            throw new OutOfResourcesException(
                    ErrorCode.KV_PAGES,
                    "The KV cache is full: all " + taken.length
                            + " pages are in use. Close sessions, or load the model for"
                            + " as many as you use (maxSequences).",
                    1,
                    taken.length,
                    taken.length);
        }
        int page = free[--freeCount];
        taken[page] = true;
        return page;
    }

    /// Makes a page free again.
    void release(int page) {
        if (!taken[page]) {
            throw new IllegalStateException("page " + page + " is free");
        }
        taken[page] = false;
        free[freeCount++] = page;
    }

    int freePages() {
        return freeCount;
    }
}
