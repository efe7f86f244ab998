package dev.tenon.platform.core.steps;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/// The full pages of computed tokens that sequences share: a tree in which each node is a page, found by the pages
/// before it, its tokens and whose they are. Tokens are compared one by one; hashes only find candidates.
///
/// A page that no sequence uses stays until its memory is needed. Those that were used least recently go first, and
/// of a sequence's pages the last one: whoever uses a page uses those before it, so that no page outlives the one
/// before it. Guarded by the loop's lock.
final class PrefixCache {
    private final int tokensPerPage;
    private final Consumer<Page> gone;
    private final long seed = ThreadLocalRandom.current().nextLong();
    private final Map<Page, Page> pages = new HashMap<>();
    /// Begin and end of the ring of pages that nobody uses, from the least recently used one.
    private final Page ring = new Page(null, "", null, new int[0], 0);
    private int unused;
    private long reusedTokens;

    /// A full page.
    static final class Page {
        /// In place of a window page: there is none.
        static final int NO_WINDOW = -1;

        private final Page before;
        private final String group;
        private final float[] adapters;
        private final int[] tokens;
        private final int hash;
        private final int depth;
        private int number;
        private int users;
        private int children;
        /// Its window page, and how many sequences have it; changed by [WindowPool].
        int window = NO_WINDOW;

        int windowUsers;
        private Page older = this;
        private Page newer = this;

        private Page(Page before, String group, float[] adapters, int[] tokens, int hash) {
            this.before = before;
            this.group = group;
            this.adapters = adapters;
            this.tokens = tokens;
            this.hash = hash;
            this.depth = before == null ? 1 : before.depth + 1;
        }

        /// {@return the page before it; null for the first one}
        Page before() {
            return before;
        }

        /// {@return how many pages end with it}
        int depth() {
            return depth;
        }

        /// {@return a sequence of its tokens after those before it, which has no pages}
        TokenSequence sequence() {
            Page[] all = new Page[depth];
            for (Page page = this; page != null; page = page.before) {
                all[page.depth - 1] = page;
            }
            TokenSequence sequence = new TokenSequence(adapters);
            sequence.group(group);
            for (Page page : all) {
                for (int token : page.tokens) {
                    sequence.append(token);
                }
            }
            return sequence;
        }

        /// {@return its number among those of the KV cache}
        int number() {
            return number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Page page
                    && hash == page.hash
                    && before == page.before
                    && Arrays.equals(tokens, page.tokens)
                    && (before != null || group.equals(page.group) && Arrays.equals(adapters, page.adapters));
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /// @param tokensPerPage tokens of a page
    /// @param gone is told of each page that is removed
    PrefixCache(int tokensPerPage, Consumer<Page> gone) {
        this.tokensPerPage = tokensPerPage;
        this.gone = gone;
    }

    /// {@return how many pages nobody uses}
    int unused() {
        return unused;
    }

    /// {@return how many tokens did not run because they were found here}
    long reusedTokens() {
        return reusedTokens;
    }

    /// Gives a sequence, of which whole pages are computed, the pages of tokens that follow, as far as they are here
    /// and it can go on after them.
    ///
    /// @param limit most tokens that may count as computed
    /// @param pool takes the pages that the sequence has in their place
    /// @param states tell after which pages it can go on
    void reuse(TokenSequence sequence, int limit, PagePool pool, SequenceStates states) {
        int computed = sequence.computed();
        if (sequence.sharedPages() * tokensPerPage != computed) {
            return;
        }
        List<Page> found = new ArrayList<>();
        Page page = sequence.lastShared();
        while (computed + (found.size() + 1) * tokensPerPage <= limit
                && (page = pages.get(after(page, sequence))) != null) {
            found.add(page);
        }
        int useful = states.goesOnAfter(found);
        while (useful > 0
                && (!pool.windows().goesOnAfter(found.get(useful - 1))
                        || sequence.rows().cutAt(computed + useful * tokensPerPage))) {
            useful--;
        }
        if (!found.isEmpty()) {
            sequence.branch(computed + found.size() * tokensPerPage);
        }
        for (Page each : found.subList(0, useful)) {
            use(each);
            sequence.share(each, pool);
        }
        if (useful > 0) {
            sequence.advance(useful * tokensPerPage);
            reusedTokens += useful * tokensPerPage;
            states.goOn(sequence);
            pool.windows().goOn(sequence);
        }
    }

    /// Gives a sequence that has no pages its first ones.
    ///
    /// @param count how many
    /// @return whether they are here; if not, it has none
    boolean take(TokenSequence sequence, int count, PagePool pool) {
        List<Page> found = new ArrayList<>();
        Page page = null;
        while (found.size() < count && (page = pages.get(after(page, sequence))) != null) {
            found.add(page);
        }
        if (found.size() == count) {
            for (Page each : found) {
                use(each);
                sequence.share(each, pool);
            }
        }
        return found.size() == count;
    }

    /// {@return the pages that nobody uses, the most recently used one first: so each comes after those before it}
    List<Page> recent() {
        List<Page> recent = new ArrayList<>(unused);
        for (Page page = ring.older; page != ring; page = page.older) {
            recent.add(page);
        }
        return recent;
    }

    /// Shares the pages of a sequence that are full and computed. A page that is here already takes the place of the
    /// sequence's own.
    ///
    /// @param pool takes back the pages that are replaced
    void enter(TokenSequence sequence, PagePool pool) {
        while ((sequence.sharedPages() + 1) * tokensPerPage <= sequence.computed()) {
            Page page = after(sequence.lastShared(), sequence);
            Page found = pages.get(page);
            if (found != null) {
                use(found);
                sequence.share(found, pool);
            } else {
                page.number = sequence.pageTable()[sequence.sharedPages()];
                page.users = 1;
                pages.put(page, page);
                if (page.before != null) {
                    page.before.children++;
                }
                sequence.shared(page, pool);
            }
        }
    }

    /// {@return what the page of a sequence's tokens would be that follows another one}
    ///
    /// @param before null for the first page
    private Page after(Page before, TokenSequence sequence) {
        int from = before == null ? 0 : before.depth * tokensPerPage;
        int[] tokens = new int[tokensPerPage];
        long hash = seed ^ (before == null ? sequence.group().hashCode() : System.identityHashCode(before));
        for (int i = 0; i < tokensPerPage; i++) {
            tokens[i] = sequence.token(from + i);
            hash = (hash ^ tokens[i]) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 32;
        }
        return new Page(before, sequence.group(), sequence.adapters(), tokens, (int) hash);
    }

    private void use(Page page) {
        if (page.users++ == 0) {
            page.older.newer = page.newer;
            page.newer.older = page.older;
            unused--;
        }
    }

    /// Notes that a sequence does not use a page any more; those after it first.
    void leave(Page page) {
        if (--page.users == 0) {
            page.older = ring.older;
            page.newer = ring;
            page.older.newer = page;
            ring.older = page;
            unused++;
        }
    }

    /// Takes a page back for the only sequence that uses it, which is going to write into it.
    ///
    /// @return whether nobody else needs it
    boolean takeBack(Page page) {
        boolean own = page.users == 1 && page.children == 0;
        if (own) {
            remove(page);
        }
        return own;
    }

    /// {@return the number of the page that was used least recently, which is here no longer; there is one that
    /// nobody uses}
    int evict() {
        Page page = ring.newer;
        use(page);
        if (page.children > 0) {
            throw new IllegalStateException("page " + page.number + " is evicted before those after it");
        }
        remove(page);
        return page.number;
    }

    private void remove(Page page) {
        pages.remove(page);
        gone.accept(page);
        if (page.before != null) {
            page.before.children--;
        }
    }
}
