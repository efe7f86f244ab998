package dev.tenon.platform.core.steps;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import java.util.BitSet;
import java.util.Set;

/// Gets the sequences of a placement the pages that they run with: free ones, and when there are none those of
/// others, whose tokens run again later. In this order: of sessions without a call, the one that was used least
/// recently first; of tasks that wait for their consumers; of tasks of a lower [rank][SequenceTask#outranks], the
/// lowest first. So the task of the highest rank always goes on, and each of the others does when those above it
/// have ended or leave room. Guarded by the loop's lock; used while nothing runs.
final class PageSupply {
    private final PagePool pool;
    private final SequenceStates states;
    private final Set<TokenSequence> sequences;
    private final int tokensPerPage;
    private final boolean shares;
    private final boolean heads;
    private long preemptions;

    /// @param pool the free pages
    /// @param states the states of the sequences
    /// @param sequences all that may have pages; not copied
    /// @param tokensPerPage tokens of a page
    /// @param shares whether sequences share pages
    /// @param heads whether pages have rows of a head, too, which has to have run
    PageSupply(
            PagePool pool,
            SequenceStates states,
            Set<TokenSequence> sequences,
            int tokensPerPage,
            boolean shares,
            boolean heads) {
        this.pool = pool;
        this.states = states;
        this.sequences = sequences;
        this.tokensPerPage = tokensPerPage;
        this.shares = shares;
        this.heads = heads;
    }

    /// {@return how often pages were taken from a task}
    long preemptions() {
        return preemptions;
    }

    /// Leaves others what a task's session was restored with, and has it go on after tokens that were computed for
    /// others; at least one is left to run, and all whose logits are wanted.
    void reuse(SequenceTask task) {
        TokenSequence sequence = task.sequence();
        if (sharesPages(task)) {
            share(task);
            int before = sequence.computed();
            pool.cache().reuse(sequence, Math.min(sequence.length() - 1, task.logitsFrom()), pool, states);
            if (sequence.computed() > before) {
                task.reused();
            }
        }
    }

    /// Leaves what a task has computed to others.
    void share(SequenceTask task) {
        TokenSequence sequence = task.sequence();
        boolean whole = !heads || sequence.headRows().done() >= sequence.computed() / tokensPerPage * tokensPerPage;
        if (whole && sharesPages(task)) {
            pool.cache().enter(sequence, pool);
            states.keep(sequence);
        }
    }

    /// {@return whether a task leaves what it computes to others}
    boolean sharesPages(SequenceTask task) {
        return shares && task.sharesPages() && task.sequence().group() != null;
    }

    /// Takes pages for the first tokens of a task's sequence.
    ///
    /// @param spare so many pages more must be there, for those that already run
    /// @return whether it has them; if not, it has to wait
    /// @throws OutOfResourcesException (`LIMIT-002`) if there are not as many pages
    boolean supply(SequenceTask task, int length, int spare) {
        TokenSequence sequence = task.sequence();
        int needed = pages(length) - sequence.pageCount();
        if (needed <= 0) {
            return true;
        }
        if (needed + spare > pool.freePages() && !makeRoom(task, pages(length), needed + spare)) {
            return false;
        }
        add(sequence, needed);
        return true;
    }

    /// Takes free pages for the first tokens of a sequence; there are enough.
    void supplyFree(TokenSequence sequence, int length) {
        add(sequence, pages(length) - sequence.pageCount());
    }

    /// Takes free pages for tokens that may follow those of a sequence.
    ///
    /// @param tokens how many may follow
    /// @param spare pages that have to be left
    /// @return how many of them have pages now
    int supplyAfter(TokenSequence sequence, int tokens, int spare) {
        int needed = pages(sequence.length() + tokens) - sequence.pageCount();
        add(sequence, Math.max(0, Math.min(needed, pool.freePages() - spare)));
        return Math.min(tokens, sequence.pageCount() * tokensPerPage - sequence.length());
    }

    private void add(TokenSequence sequence, int count) {
        for (int i = 0; i < count; i++) {
            sequence.addPage(pool.take());
        }
    }

    private int pages(int length) {
        return (length + tokensPerPage - 1) / tokensPerPage;
    }

    private boolean makeRoom(SequenceTask task, int all, int needed) {
        if (all > pool.pages()) {
            throw new OutOfResourcesException(
                    ErrorCode.KV_PAGES,
                    "The sequence needs " + all + " pages of the KV cache, which has " + pool.pages()
                            + ". Load the model for a longer context (-c) or for more sequences (maxSequences).",
                    all,
                    0,
                    pool.pages());
        }
        if (needed > pool.pages() - pagesKept(task)) {
            return false;
        }
        while (needed > pool.freePages()) {
            TokenSequence victim = victim(task);
            if (victim.user() != null) {
                preemptions++;
            }
            forget(victim);
        }
        return true;
    }

    /// Has a sequence run all its tokens again; its pages are free.
    void forget(TokenSequence sequence) {
        states.rewind(sequence, 0);
        sequence.releaseCache(pool);
    }

    /// {@return how many pages the task and those have that it may take none from}
    private int pagesKept(SequenceTask task) {
        BitSet kept = new BitSet(pool.pages());
        for (TokenSequence sequence : sequences) {
            for (int i = 0; !mayTake(task, sequence) && i < sequence.pageCount(); i++) {
                kept.set(sequence.pageTable()[i]);
            }
        }
        return kept.cardinality();
    }

    private static boolean mayTake(SequenceTask task, TokenSequence from) {
        SequenceTask user = from.user();
        return user == null || user != task && (user.waitsOutside() || task.outranks(user));
    }

    /// {@return the first of those that a task may take pages from}
    private TokenSequence victim(SequenceTask task) {
        TokenSequence first = null;
        for (TokenSequence sequence : sequences) {
            if (sequence.pageCount() > 0 && mayTake(task, sequence) && (first == null || goesBefore(sequence, first))) {
                first = sequence;
            }
        }
        return first;
    }

    private static boolean goesBefore(TokenSequence a, TokenSequence b) {
        SequenceTask first = a.user();
        SequenceTask second = b.user();
        if (first == null || second == null) {
            return first == null && (second != null || a.idleSince() < b.idleSince());
        }
        if (first.waitsOutside() != second.waitsOutside()) {
            return first.waitsOutside();
        }
        return second.outranks(first);
    }
}
