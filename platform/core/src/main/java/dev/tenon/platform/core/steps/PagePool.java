package dev.tenon.platform.core.steps;

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

    /// {@return a free page; there is one}
    int take() {
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

    /// {@return all pages, free or not}
    int pages() {
        return taken.length;
    }
}
