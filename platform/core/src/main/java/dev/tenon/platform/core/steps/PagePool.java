package dev.tenon.platform.core.steps;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;

/// Hands out the pages of a plan's KV cache and counts their users. Guarded by its scheduler's
/// lock.
final class PagePool {
    private final int[] users;
    private final int[] free;
    private int freeCount;

    PagePool(int pages) {
        users = new int[pages];
        free = new int[pages];
        for (int i = 0; i < pages; i++) {
            free[i] = pages - 1 - i;
        }
        freeCount = pages;
    }

    /// Takes a free page for one user.
    int take() {
        if (freeCount == 0) {
            throw new OutOfResourcesException(
                    ErrorCode.KV_PAGES,
                    "The KV cache is full: all " + users.length + " pages are in use. Close sessions, or load the model"
                            + " with a larger context or more sequences.",
                    1,
                    users.length,
                    users.length);
        }
        int page = free[--freeCount];
        users[page] = 1;
        return page;
    }

    /// Adds a user to a page.
    void retain(int page) {
        if (users[page] == 0) {
            throw new IllegalStateException("page " + page + " is free");
        }
        users[page]++;
    }

    /// Takes a user from a page; without users it is free again.
    void release(int page) {
        if (users[page] == 0) {
            throw new IllegalStateException("page " + page + " is free");
        }
        if (--users[page] == 0) {
            free[freeCount++] = page;
        }
    }

    /// Whether more than one user has the page, so that it must be copied before it is written.
    boolean shared(int page) {
        return users[page] > 1;
    }

    int freePages() {
        return freeCount;
    }
}
