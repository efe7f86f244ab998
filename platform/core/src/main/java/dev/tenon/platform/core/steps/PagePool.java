package dev.tenon.platform.core.steps;

import dev.tenon.api.device.KvPages;
import java.util.Optional;
import java.util.function.Consumer;

/// Hands out the pages of a plan's KV cache: those that hold nothing first, then those that the [PrefixCache] keeps
/// and nobody uses. Guarded by the loop's lock.
final class PagePool {
    private final KvPages memory;
    private final Optional<KvPages> beside;
    private final boolean[] taken;
    private final int[] free;
    private final PrefixCache cache;
    private final WindowPool windows;
    private int freeCount;

    /// @param memory the pages
    /// @param beside pages of another plan that hold of the same numbers what belongs to them
    /// @param windows the window pages beside them
    /// @param gone is told of each shared page that is shared no more
    PagePool(KvPages memory, Optional<KvPages> beside, WindowPool windows, Consumer<PrefixCache.Page> gone) {
        this.memory = memory;
        this.beside = beside;
        int pages = memory.pageCount();
        taken = new boolean[pages];
        free = new int[pages];
        for (int i = 0; i < pages; i++) {
            free[i] = pages - 1 - i;
        }
        freeCount = pages;
        this.windows = windows;
        cache = new PrefixCache(memory.tokensPerPage(), gone.andThen(windows::gone));
    }

    /// {@return the pages that sequences share}
    PrefixCache cache() {
        return cache;
    }

    /// {@return the window pages of sequences}
    WindowPool windows() {
        return windows;
    }

    /// {@return a free page; there is one}
    int take() {
        if (freeCount == 0) {
            return cache.evict();
        }
        int page = free[--freeCount];
        taken[page] = true;
        return page;
    }

    /// {@return a free page, of which there is one, that holds what another one does}
    int takeCopy(int page) {
        int copy = take();
        memory.copy(page, copy);
        beside.ifPresent(other -> other.copy(page, copy));
        return copy;
    }

    /// Makes a page free again.
    void release(int page) {
        if (!taken[page]) {
            throw new IllegalStateException("page " + page + " is free");
        }
        taken[page] = false;
        free[freeCount++] = page;
    }

    /// {@return pages that can be taken}
    int freePages() {
        return freeCount + cache.unused();
    }

    /// {@return all pages, free or not}
    int pages() {
        return taken.length;
    }
}
