package dev.tenon.platform.core.steps;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.core.placement.Placement;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/// The sequences of a model, and the placement whose KV cache they use. When the placement ends,
/// they keep their tokens and run them again on the next one. Owns the placement.
///
/// The public methods are safe for any thread, and wait for the running step; the others are for
/// the [StepLoop], which holds its lock.
public final class PlacedSequences {
    private final DriveLock lock;
    private final StepLimits limits;
    private final Set<TokenSequence> sequences = Collections.newSetFromMap(new IdentityHashMap<>());
    private Placement placement;
    private PagePool pool;
    private SequenceStates states;
    private PageSupply supply;
    /// Of the placement; null if it has none.
    private Head head;
    private CheckpointStops stops;
    /// Whether the model shall be placed again although it has a placement.
    private boolean stale;

    /// @param limits say whether sequences share pages of the same tokens, and how many there are
    PlacedSequences(DriveLock lock, Placement placement, StepLimits limits) {
        this.lock = lock;
        this.limits = limits;
        use(placement);
    }

    /// {@return the current placement, or null while there is none}
    public Placement placement() {
        lock.lock();
        try {
            return placement;
        } finally {
            lock.unlock();
        }
    }

    /// {@return how the sequences share the pages now}
    public SchedulingStatus scheduling() {
        lock.lock();
        try {
            int running = 0;
            int waiting = 0;
            for (TokenSequence sequence : sequences) {
                if (sequence.user() != null) {
                    running += sequence.pageCount() > 0 ? 1 : 0;
                    waiting += sequence.pageCount() > 0 ? 0 : 1;
                }
            }
            boolean placed = placement != null;
            return new SchedulingStatus(
                    running,
                    waiting,
                    placed ? pool.pages() : 0,
                    placed ? tokensPerPage() : 0,
                    placed ? pool.freePages() : 0,
                    placed ? pool.cache().unused() : 0,
                    placed ? pool.windows().pages() : 0,
                    placed ? pool.windows().freePages() : 0,
                    pool.cache().reusedTokens(),
                    supply.preemptions());
        } finally {
            lock.unlock();
        }
    }

    /// Puts another placement in the place of the current one.
    ///
    /// @param next the placement, owned from now on
    /// @param reason what the sessions are told
    public void move(Placement next, String reason) {
        lock.exclusively(() -> {
            Placement old = take();
            install(next, reason);
            if (old != null) {
                old.close();
            }
        });
    }

    /// Ends the placement if it uses a service that is being withdrawn. Returns when no step runs
    /// on it.
    ///
    /// @return whether it used the service
    public boolean withdraw(Object service) {
        boolean[] used = new boolean[1];
        lock.exclusively(() -> {
            if (placement != null && placement.uses(service)) {
                used[0] = true;
                take().close();
            }
        });
        return used[0];
    }

    /// Has a session's sequence, which has no task, use other adapters: all its tokens are run again.
    ///
    /// @param scales the scale of each adapter of the model; never changed
    public void useAdapters(TokenSequence sequence, float[] scales) {
        lock.exclusively(() -> {
            if (!Arrays.equals(scales, sequence.adapters())) {
                if (placement != null) {
                    supply.forget(sequence);
                }
                sequence.useAdapters(scales);
            }
        });
    }

    /// Writes a session's sequence, which has no task.
    ///
    /// @param as tells how
    public void save(TokenSequence sequence, SavedSequence as, OutputStream to) throws IOException {
        OutputStream buffered = new BufferedOutputStream(to);
        exclusively(() -> as.write(sequence, placement == null ? null : placement.plan(), 0, buffered));
    }

    /// Reads a session's sequence, which is empty and has no task.
    ///
    /// @param as tells how
    /// @throws TenonException (`STATE-005`) if the bytes are of none of the model and its placement
    public void restore(TokenSequence sequence, SavedSequence as, InputStream from) throws IOException {
        exclusively(() -> as.read(sequence, this, 0, new BufferedInputStream(from)));
    }

    /// Writes what others can go on from, for the next time that the model is loaded.
    ///
    /// @param prefixes tells how much and where
    public void keep(KeptPrefixes prefixes) {
        lock.exclusively(() -> prefixes.write(this));
    }

    /// Reads what was written when the model was closed.
    ///
    /// @param prefixes tells where it is
    public void takeBack(KeptPrefixes prefixes) {
        lock.exclusively(() -> prefixes.read(this));
    }

    /// What reads or writes.
    @FunctionalInterface
    private interface Transfer {
        void run() throws IOException;
    }

    private void exclusively(Transfer transfer) throws IOException {
        IOException[] failure = new IOException[1];
        lock.exclusively(() -> {
            try {
                transfer.run();
            } catch (IOException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    /// Has the next step place the model again, because something better than what it runs on has
    /// come.
    public void reconsider() {
        lock.lock();
        try {
            stale = placement != null;
        } finally {
            lock.unlock();
        }
    }

    /// Replaces the placement if it is one that has to be. Tasks wait meanwhile.
    ///
    /// @param which whether the placement has to be replaced; gets null while there is none
    /// @param next closes the placement that it is given, if it is one, and makes the next one; what it throws
    ///     is passed on
    /// @param reason what the sessions are told
    public void replace(Predicate<Placement> which, UnaryOperator<Placement> next, String reason) {
        lock.exclusively(() -> {
            if (which.test(placement)) {
                lock.drive();
                try {
                    place(next, reason);
                } finally {
                    lock.release();
                }
            }
        });
    }

    /// {@return whether the model has to be placed before its next step}
    boolean unplaced() {
        return placement == null || stale;
    }

    /// Ends the placement, if there is one, and only then makes another, since memory may not
    /// suffice for two. If that fails there is no placement, and the next step tries again. Called
    /// by whoever drives; the lock is free meanwhile.
    ///
    /// @param next makes it; with null, too, there is no placement
    void place(Supplier<Placement> next, String reason) {
        place(
                old -> {
                    if (old != null) {
                        old.close();
                    }
                    return next.get();
                },
                reason);
    }

    private void place(UnaryOperator<Placement> next, String reason) {
        Placement old = take();
        Placement fresh;
        lock.unlock();
        try {
            fresh = next.apply(old);
        } finally {
            lock.lock();
        }
        if (fresh != null) {
            install(fresh, reason);
        }
    }

    private Placement take() {
        Placement old = placement;
        if (old != null) {
            states.close();
        }
        placement = null;
        head = null;
        stale = false;
        sequences.forEach(TokenSequence::forgetCache);
        return old;
    }

    private void install(Placement next, String reason) {
        use(next);
        for (TokenSequence sequence : sequences) {
            sequence.forgetCache();
            sequence.moved(reason + " (" + next.backend().id() + ")");
        }
    }

    private void use(Placement next) {
        placement = next;
        KvPages pages = next.plan().kvPages();
        states = new SequenceStates(next.plan(), limits.maxSequences(), limits.checkpoints(), pages.tokensPerPage());
        stops = new CheckpointStops(pages.tokensPerPage(), 0);
        head = next.head()
                .map(plan -> new Head(
                        plan, pages, limits.maxBatchTokens(), next.definition().config()))
                .orElse(null);
        pool = new PagePool(
                pages,
                next.head().map(Plan::kvPages),
                new WindowPool(next.plan().windowPages()),
                states::gone);
        supply = new PageSupply(pool, states, sequences, pages.tokensPerPage(), limits.prefixCache(), head != null);
    }

    /// {@return the free pages of the placement's cache}
    PagePool pool() {
        return pool;
    }

    /// {@return what gets sequences the pages that they run with}
    PageSupply supply() {
        return supply;
    }

    /// {@return the state slots of the placement's sequences}
    SequenceStates states() {
        return states;
    }

    /// {@return the head of the placement; null if it has none}
    Head head() {
        return head;
    }

    /// {@return what proposes tokens to a sequence by the head of the model, where it has one}
    public TokenProposer headProposer(TokenSequence sequence) {
        return new HeadProposer(sequence, this::head);
    }

    /// Adds a session's sequence.
    void add(TokenSequence sequence, int limit) {
        if (sequences.size() >= limit) {
            throw new OutOfResourcesException(
                    ErrorCode.KV_PAGES,
                    "All " + limit + " sequences of the model are taken. Close a session, or load the model for"
                            + " more sequences.",
                    1,
                    sequences.size(),
                    limit);
        }
        sequences.add(sequence);
    }

    /// Removes a session's sequence and releases its pages and slots.
    void remove(TokenSequence sequence) {
        if (sequences.remove(sequence) && placement != null) {
            release(sequence);
        }
    }

    /// Releases the pages and slots of a sequence.
    void release(TokenSequence sequence) {
        states.release(sequence);
        sequence.truncate(0, tokensPerPage(), pool);
    }

    /// Releases the pages of a sequence that hold nothing that was computed.
    void trim(TokenSequence sequence) {
        sequence.truncate(sequence.length(), placement == null ? 1 : tokensPerPage(), pool);
    }

    /// Keeps the first tokens of a sequence.
    void truncate(TokenSequence sequence, int length) {
        if (placement == null) {
            sequence.forgetCache();
        } else if (length < sequence.computed()) {
            states.rewind(sequence, length);
        }
        sequence.truncate(length, placement == null ? 1 : tokensPerPage(), pool);
        // a shared page was cut and could not be copied, or what the window would see is gone
        while (placement != null && (states.settle(sequence) || pool.windows().settle(sequence))) {
            sequence.truncate(length, tokensPerPage(), pool);
        }
    }

    /// Releases pages that proposals had or that no later token sees, and removes the tokens of a sequence that leave
    /// after the step; those after them are run again, at their new positions.
    void settle(SequenceTask task) {
        TokenSequence sequence = task.sequence();
        if (task.checked() > 0) {
            trim(sequence);
        }
        if (sequence.leaving() > 0) {
            int from = sequence.leaveFrom();
            int[] rest = sequence.tokensFrom(from + sequence.leaving());
            sequence.leave(0, 0);
            truncate(sequence, from);
            for (int token : rest) {
                sequence.append(token);
            }
        }
        pool.windows().slide(sequence, at -> stops.comesAgain(task, at));
    }

    /// {@return tokens of a page of the placement's cache}
    int tokensPerPage() {
        return placement.plan().kvPages().tokensPerPage();
    }

    /// Forgets all sequences and closes the placement.
    void close() {
        sequences.forEach(TokenSequence::forgetCache);
        sequences.clear();
        if (placement != null) {
            take().close();
        }
    }
}
