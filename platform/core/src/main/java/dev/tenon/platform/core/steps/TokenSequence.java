package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import java.util.Arrays;

/// The tokens of a session and how many of them are in the KV cache, and in the state if there is one.
/// Changed by the thread that drives the loop, and under the loop's lock while no step runs.
public final class TokenSequence implements TokenHistory {
    private int[] tokens = new int[64];
    private int length;
    private int computed;
    /// How many of the tokens have run at least once.
    private int ran;

    private final SequenceRows rows = new SequenceRows();
    private final HeadRows headRows = new HeadRows();

    private int[] pages = new int[4];
    private int pageCount;
    private final PageWindow window = new PageWindow();
    /// The last of the first pages, which are shared; null if none is.
    private PrefixCache.Page lastShared;
    /// Whose tokens they are; null if they are not shared.
    private String group;

    private int slot = StepInput.NO_SLOT;
    private int savedSlot = StepInput.NO_SLOT;
    private int savedLength;
    /// How many tokens the state has seen.
    private int seen;
    /// Where the running step stops for a checkpoint; 0 if it does not.
    private int stop;
    /// Whether that is within a reply, whose next checkpoint replaces this one.
    private boolean stopsInReply;
    /// How many of its tokens others have run; a place that may be come back to.
    private int branch;
    /// A page whose checkpoint the next one of the same reply replaces; null if there is none.
    private PrefixCache.Page replaceable;
    /// Index of the first token that leaves after the step, and how many do.
    private int leaveFrom;

    private int leaving;
    private String moved;
    private float[] adapters;
    /// The task that uses the sequence, from its first step to its end; null between calls.
    private SequenceTask user;
    /// When the last one ended, in an order of such times.
    private long idleSince;

    /// Creates an empty sequence that uses no adapter.
    public TokenSequence() {
        this(new float[0]);
    }

    /// Creates an empty sequence.
    ///
    /// @param adapters the scale of each adapter of the model; those after the last one are not used;
    ///     never changed
    public TokenSequence(float... adapters) {
        this.adapters = adapters;
    }

    /// {@return the scale of each adapter of the model, which the computed tokens depend on: what is
    ///     cached for others is only theirs where these are equal; not to be changed}
    public float[] adapters() {
        return adapters;
    }

    /// Uses other adapters from the next token on; none is computed.
    void useAdapters(float[] scales) {
        adapters = scales;
        ran = 0;
    }

    /// {@return the task that uses it, or null}
    SequenceTask user() {
        return user;
    }

    /// Notes that a task uses it. Tokens of two groups are not shared.
    void use(SequenceTask task) {
        user = task;
        group = lastShared == null || task.group().equals(group) ? task.group() : null;
        branch = 0;
        replaceable = null;
    }

    /// Notes that no task uses it any more.
    ///
    /// @param now greater than at any time before
    void unused(long now) {
        user = null;
        idleSince = now;
    }

    /// {@return when its last task ended}
    long idleSince() {
        return idleSince;
    }

    @Override
    public int length() {
        return length;
    }

    /// {@return how many of the tokens need not run; less than before once others needed the memory}
    public int computed() {
        return computed;
    }

    /// {@return how many of the tokens have run, whatever became of what they left in the cache}
    int ran() {
        return ran;
    }

    /// Notes what is known of tokens that were appended: how many need not run, and how many have run at some time.
    void restored(int newComputed, int newRan) {
        computed = newComputed;
        ran = newRan;
        seen = newComputed;
        stop(newComputed, false);
    }

    /// {@return whether all tokens have run, whatever became of what they left in the cache}
    public boolean allRan() {
        return ran == length;
    }

    @Override
    public int token(int index) {
        return tokens[index];
    }

    /// Appends a token.
    ///
    /// @param token its id; below 0 one of a block that was [added][#addRows]
    public void append(int token) {
        if (length == tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * length);
        }
        tokens[length++] = token;
    }

    /// Has a block of rows stand in the sequence, of which tokens are appended next.
    ///
    /// @param block the rows
    /// @param first which of them the next token stands for; those before it are in the sequence already
    public void addRows(RowBlock block, int first) {
        rows.add(length - first, length - first + block.length(), block);
    }

    /// {@return what appends a token again, with its row if it stands for one, once it was cut off}
    ///
    /// @param index of the token
    public Runnable again(int index) {
        int token = tokens[index];
        Runnable row = rows.again(index);
        return () -> {
            row.run();
            append(token);
        };
    }

    /// {@return whether rows stand among its tokens}
    public boolean hasRows() {
        return rows.any();
    }

    /// {@return the rows that stand among its tokens}
    SequenceRows rows() {
        return rows;
    }

    public int[] pageTable() {
        return pages;
    }

    public int pageCount() {
        return pageCount;
    }

    public void addPage(int page) {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
        }
        pages[pageCount++] = page;
    }

    /// {@return what the head of the model knows of them}
    HeadRows headRows() {
        return headRows;
    }

    /// {@return its window pages}
    PageWindow window() {
        return window;
    }

    /// {@return whose tokens they are; null if they cannot be shared}
    String group() {
        return group;
    }

    /// Has its tokens be those of a group; it shares none.
    void group(String whose) {
        group = whose;
    }

    /// {@return the last page that it shares; null if it shares none}
    PrefixCache.Page lastShared() {
        return lastShared;
    }

    /// {@return how many of its pages, the first ones, are shared}
    int sharedPages() {
        return lastShared == null ? 0 : lastShared.depth();
    }

    /// Notes that the page after the shared ones is shared.
    void shared(PrefixCache.Page page, PagePool pool) {
        pool.windows().share(this, page);
        lastShared = page;
    }

    /// Uses a shared page, after those that are shared, in the place of its own if it has one.
    void share(PrefixCache.Page page, PagePool pool) {
        int index = sharedPages();
        if (index < pageCount) {
            pool.release(pages[index]);
            pages[index] = page.number();
        } else {
            addPage(page.number());
        }
        shared(page, pool);
    }

    public void advance(int count) {
        computed += count;
        ran = Math.max(ran, computed);
    }

    /// {@return the slot of its state; [StepInput#NO_SLOT] if it has none}
    public int slot() {
        return slot;
    }

    /// {@return the slot of a copy of its state; [StepInput#NO_SLOT] if there is none}
    int savedSlot() {
        return savedSlot;
    }

    /// {@return how many tokens the copy has seen; 0 if there is none}
    int savedLength() {
        return savedLength;
    }

    void useSlot(int newSlot) {
        slot = newSlot;
    }

    void save(int copy, int tokensSeen) {
        savedSlot = copy;
        savedLength = tokensSeen;
    }

    /// {@return how many tokens the state has seen, proposals of the running step too}
    int seen() {
        return seen;
    }

    void seen(int tokensSeen) {
        seen = tokensSeen;
    }

    /// {@return where the running step stops for a checkpoint; 0 if it does not}
    int stop() {
        return stop;
    }

    /// {@return whether that is within a reply, whose next checkpoint replaces this one}
    boolean stopsInReply() {
        return stopsInReply;
    }

    /// Notes where the running step stops for a checkpoint.
    ///
    /// @param position 0 if it does not
    void stop(int position, boolean inReply) {
        stop = position;
        stopsInReply = inReply;
    }

    /// {@return how many of its tokens others have run: a place that may be come back to}
    int branch() {
        return branch;
    }

    void branch(int position) {
        branch = position;
    }

    /// {@return a page whose checkpoint the next one of the same reply replaces; null if there is none}
    PrefixCache.Page replaceable() {
        return replaceable;
    }

    void replaceable(PrefixCache.Page page) {
        replaceable = page;
    }

    /// Has all tokens but the first ones run again.
    void restart(int newComputed) {
        computed = newComputed;
    }

    /// Has some tokens leave when the running step has ended; those after them move up and run again.
    ///
    /// @param from index of the first one
    /// @param count how many
    public void leave(int from, int count) {
        leaveFrom = from;
        leaving = count;
    }

    /// {@return how many tokens leave when the running step has ended}
    public int leaving() {
        return leaving;
    }

    /// {@return index of the first token that leaves}
    int leaveFrom() {
        return leaveFrom;
    }

    /// {@return the tokens from an index on}
    public int[] tokensFrom(int index) {
        return Arrays.copyOfRange(tokens, index, length);
    }

    /// Keeps the first tokens and releases the pages after them. A shared page that is cut and that others need is
    /// copied, or its tokens run again where no page is free.
    public void truncate(int newLength, int tokensPerPage, PagePool pool) {
        length = newLength;
        rows.cut(newLength);
        ran = Math.min(ran, newLength);
        computed = Math.min(computed, newLength);
        int keep = (computed + tokensPerPage - 1) / tokensPerPage;
        while (pageCount > keep) {
            dropPage(pool);
        }
        if (sharedPages() * tokensPerPage > computed) {
            if (pool.cache().takeBack(lastShared)) {
                lastShared = lastShared.before();
            } else if (pool.freePages() > 0) {
                int own = pool.takeCopy(lastShared.number());
                int ownWindow = pool.windows().takeCopy(this);
                dropPage(pool);
                addPage(own);
                if (ownWindow != PrefixCache.Page.NO_WINDOW) {
                    window.add(ownWindow);
                }
            } else {
                dropPage(pool);
                computed = pageCount * tokensPerPage;
            }
        }
        headRows.cut(computed);
    }

    /// Releases all pages; the tokens run again. A session without a call may append to them meanwhile.
    void releaseCache(PagePool pool) {
        computed = 0;
        headRows.cut(0);
        while (pageCount > 0) {
            dropPage(pool);
        }
    }

    private void dropPage(PagePool pool) {
        pageCount--;
        pool.windows().dropFrom(this, pageCount);
        if (sharedPages() > pageCount) {
            pool.cache().leave(lastShared);
            lastShared = lastShared.before();
        } else {
            pool.release(pages[pageCount]);
        }
    }

    /// Forgets the cache (the plan is gone), not the tokens: they are run again by the next step.
    public void forgetCache() {
        computed = 0;
        headRows.cut(0);
        pageCount = 0;
        lastShared = null;
        window.clear();
        slot = StepInput.NO_SLOT;
        save(StepInput.NO_SLOT, 0);
    }

    /// Notes that the sequence moved to another placement, for its next call to tell.
    public void moved(String reason) {
        moved = reason;
    }

    /// {@return why the sequence moved since this was asked last, or null}
    public String takeMoved() {
        String reason = moved;
        moved = null;
        return reason;
    }
}
