package dev.tenon.platform.core.steps;

import dev.tenon.api.device.WindowPages;
import dev.tenon.platform.core.placement.Placer;
import dev.tenon.platform.core.steps.PrefixCache.Page;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.function.IntPredicate;

/// The window pages of a placement's sequences. A sequence has those that its next token sees, some before for tokens
/// that are taken back, and those of the running step. There are enough for all sequences at once, so that none waits.
///
/// A shared page ([PrefixCache]) has the window page of its tokens while a sequence sees it, and then until its memory
/// is needed. What was used least recently goes first, but before that what fell out of the window of a sequence that
/// went on, of a prompt's tokens the last ones first, unless others may go on where it is seen. A sequence goes on
/// after a shared page only where all window pages are there that its next token sees. Guarded by the loop's lock;
/// does nothing for a plan without window pages.
final class WindowPool {
    private final Optional<WindowPages> windows;
    private final int tokensPerPage;
    private final int[] free;
    private int freeCount;
    /// Shared pages whose window page no sequence has; the first one goes first.
    private final LinkedHashSet<Page> unused = new LinkedHashSet<>();

    /// @param windows the plan's
    WindowPool(Optional<WindowPages> windows) {
        this.windows = windows;
        this.tokensPerPage = windows.map(all -> all.pages().tokensPerPage()).orElse(1);
        this.freeCount = windows.map(all -> all.pages().pageCount()).orElse(0);
        this.free = new int[freeCount];
        for (int i = 0; i < freeCount; i++) {
            free[i] = freeCount - 1 - i;
        }
    }

    /// {@return whether the plan has window pages}
    boolean any() {
        return windows.isPresent();
    }

    /// {@return all pages, free or not}
    int pages() {
        return free.length;
    }

    /// {@return pages that can be taken}
    int freePages() {
        return freeCount + unused.size();
    }

    /// {@return how many pages a sequence lacks to hold so many tokens}
    int lacking(TokenSequence sequence, int length) {
        return any() ? Math.max(0, pages(length) - sequence.window().end()) : 0;
    }

    /// Gives a sequence the pages with which it holds so many tokens.
    void supply(TokenSequence sequence, int length) {
        for (int lacking = lacking(sequence, length); lacking > 0; lacking--) {
            sequence.window().add(take());
        }
    }

    private int take() {
        if (freeCount > 0) {
            return free[--freeCount];
        }
        Page oldest = unused.removeFirst();
        int page = oldest.window;
        oldest.window = Page.NO_WINDOW;
        return page;
    }

    private int pages(int length) {
        return Math.ceilDiv(length, tokensPerPage);
    }

    /// {@return place of the page of the first token that one at a position sees}
    private int firstSeen(int position) {
        return windows.orElseThrow().firstSeen().applyAsInt(position) / tokensPerPage;
    }

    /// Gives a sequence without pages those that the next of so many tokens sees.
    void restore(TokenSequence sequence, int computed) {
        if (any()) {
            sequence.window().restart(firstSeen(computed));
            supply(sequence, computed);
        }
    }

    /// Notes that a page of a sequence is shared now, or that a shared one has taken its place.
    void share(TokenSequence sequence, Page page) {
        PageWindow window = sequence.window();
        int place = page.depth() - 1;
        if (!window.has(place)) {
            return;
        }
        int own = window.table()[place];
        if (page.window == Page.NO_WINDOW) {
            page.window = own;
            page.windowUsers = 1;
        } else {
            free[freeCount++] = own;
            use(page);
            window.set(place, page.window);
        }
    }

    private void use(Page page) {
        if (page.windowUsers++ == 0) {
            unused.remove(page);
        }
    }

    /// Takes a page of a sequence's window back.
    ///
    /// @param first whether it goes first when memory is needed
    private void release(TokenSequence sequence, int place, boolean first) {
        if (place >= sequence.sharedPages()) {
            free[freeCount++] = sequence.window().table()[place];
            return;
        }
        Page page = sequence.lastShared();
        while (page.depth() > place + 1) {
            page = page.before();
        }
        if (--page.windowUsers == 0) {
            if (first) {
                unused.addFirst(page);
            } else {
                unused.addLast(page);
            }
        }
    }

    /// Takes the pages from a place on back, which the sequence still has as its own or shares.
    void dropFrom(TokenSequence sequence, int place) {
        PageWindow window = sequence.window();
        for (int i = Math.max(place, window.from()); i < window.end(); i++) {
            release(sequence, i, false);
        }
        window.dropFrom(place);
    }

    /// Takes back what the next tokens of a sequence do not see, and what a step had that has failed.
    ///
    /// @param comesAgain tells of the end of a page whether others may go on there
    void slide(TokenSequence sequence, IntPredicate comesAgain) {
        if (!any()) {
            return;
        }
        dropFrom(sequence, pages(sequence.computed()));
        int first = firstSeen(Math.max(0, sequence.computed() - Placer.TAKEN_BACK));
        PageWindow window = sequence.window();
        for (int place = window.from(); place < Math.min(first, window.end()); place++) {
            release(sequence, place, !seenFromWhere(comesAgain, place, sequence.computed()));
        }
        window.dropBefore(first);
    }

    /// {@return whether a page is seen from the end of one where others may go on}
    private boolean seenFromWhere(IntPredicate comesAgain, int place, int computed) {
        int at = (place + 1) * tokensPerPage;
        while (at <= computed && firstSeen(at) <= place) {
            if (comesAgain.test(at)) {
                return true;
            }
            at += tokensPerPage;
        }
        return false;
    }

    /// {@return a copy of the window page of a sequence's last shared page; [Page#NO_WINDOW] if it has none}
    int takeCopy(TokenSequence sequence) {
        int place = sequence.sharedPages() - 1;
        if (!sequence.window().has(place)) {
            return Page.NO_WINDOW;
        }
        int copy = take();
        windows.orElseThrow().pages().copy(sequence.window().table()[place], copy);
        return copy;
    }

    /// {@return whether a sequence can go on at the end of a shared page}
    boolean goesOnAfter(Page last) {
        if (!any()) {
            return true;
        }
        int first = firstSeen(last.depth() * tokensPerPage);
        for (Page page = last; page != null && page.depth() > first; page = page.before()) {
            if (page.window == Page.NO_WINDOW) {
                return false;
            }
        }
        return true;
    }

    /// {@return bytes of the window pages that a token sees after a shared page}
    long bytesSeenAfter(Page last) {
        return windows.map(all -> (long) (last.depth() - firstSeen(last.depth() * tokensPerPage))
                        * all.pages().pageBytes())
                .orElse(0L);
    }

    /// Has a sequence go on at the end of its shared pages, after which it can.
    void goOn(TokenSequence sequence) {
        if (!any()) {
            return;
        }
        int first = firstSeen(sequence.computed());
        for (Page page = sequence.lastShared(); page != null && page.depth() > first; page = page.before()) {
            use(page);
        }
        dropFrom(sequence, 0);
        PageWindow window = sequence.window();
        window.restart(Math.min(first, sequence.sharedPages()));
        for (int i = window.end(); i < sequence.sharedPages(); i++) {
            window.add(Page.NO_WINDOW);
        }
        for (Page page = sequence.lastShared(); page != null && page.depth() > first; page = page.before()) {
            window.set(page.depth() - 1, page.window);
        }
    }

    /// Has a sequence that was shortened run tokens again if its window does not reach back to what the next one sees.
    ///
    /// @return whether it has to: it has pages then that it does not need
    boolean settle(TokenSequence sequence) {
        int computed = sequence.computed();
        PageWindow window = sequence.window();
        if (!any() || window.from() <= firstSeen(computed) && window.end() >= pages(computed)) {
            return false;
        }
        Page page = sequence.lastShared();
        while (page != null && (page.depth() * tokensPerPage > computed || !goesOnAfter(page))) {
            page = page.before();
        }
        int length = page == null ? 0 : page.depth() * tokensPerPage;
        if (length < computed) {
            sequence.restart(length);
            return true;
        }
        goOn(sequence);
        return false;
    }

    /// Takes the window page back of a page that is shared no more, unless the sequence that had it has that too.
    void gone(Page page) {
        if (page.window != Page.NO_WINDOW && page.windowUsers == 0) {
            unused.remove(page);
            free[freeCount++] = page.window;
            page.window = Page.NO_WINDOW;
        }
    }
}
