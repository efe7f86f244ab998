package dev.tenon.api.device;

import dev.tenon.api.text.TokenSampling;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A flat batch of tokens of one or more sequences: prefill chunks and decode rows mixed.
///
/// Tokens of one sequence stand together, in the order of their positions. The object is filled
/// again for each step, so that a decode loop allocates nothing; arrays may be longer
/// than what is in use. Not safe for several threads.
public final class StepInput {
    /// In place of a slot: the sequence has none.
    public static final int NO_SLOT = -1;

    private static final float[] NO_ADAPTERS = {};

    /// Axes along which a token of a text is where its position is.
    private static final int TEXT_AXES = 3;

    private int[] tokens = new int[16];
    private int[] positions = new int[16];
    private int[] sequences = new int[16];
    private boolean[] wantsLogits = new boolean[16];
    private @Nullable TokenSampling[] samplings = new TokenSampling[16];
    private long[] @Nullable [] masks = new long[16][];
    private int[] @Nullable [] coordinates = new int[16][];
    private int[] spanStarts = new int[16];
    private int[] spanEnds = new int[16];
    private float[] @Nullable [] rows = new float[16][];
    private int tokenCount;
    private int logitRows;
    private int samplingCount;
    private int[][] pageTables = new int[4][0];
    private int[][] windowTables = new int[4][0];
    private int[] stateSlots = new int[4];
    private float[][] adapterScales = new float[4][];
    private int sequenceCount;

    /// Creates an empty batch.
    public StepInput() {}

    /// Empties the batch.
    public void clear() {
        tokenCount = 0;
        logitRows = 0;
        samplingCount = 0;
        sequenceCount = 0;
    }

    /// Begins the next sequence, which has no state slot.
    ///
    /// @param pageTable pages of the sequence: position `p` is in page
    ///     `pageTable[p / tokensPerPage]`; borrowed, not copied
    /// @return index of the sequence in this batch
    public int addSequence(int[] pageTable) {
        return addSequence(pageTable, NO_SLOT);
    }

    /// Begins the next sequence, which uses no adapter.
    ///
    /// @param pageTable as above
    /// @param stateSlot its slot of [Plan#states()]; [#NO_SLOT] where the plan has none
    /// @return index of the sequence in this batch
    public int addSequence(int[] pageTable, int stateSlot) {
        return addSequence(pageTable, stateSlot, NO_ADAPTERS);
    }

    /// Begins the next sequence.
    ///
    /// @param pageTable as above
    /// @param stateSlot as above
    /// @param scales factor on what each adapter of the graph adds ([dev.tenon.api.graph.LowRankAdd]);
    ///     those after the last one are 0; borrowed, not copied
    /// @return index of the sequence in this batch
    public int addSequence(int[] pageTable, int stateSlot, float[] scales) {
        return addSequence(pageTable, pageTable, stateSlot, scales);
    }

    /// Begins the next sequence.
    ///
    /// @param pageTable as above
    /// @param windowTable as above, of [Plan#windowPages()]; borrowed, not copied, and of no interest
    ///     where the plan has none
    /// @param stateSlot as above
    /// @param scales as above
    /// @return index of the sequence in this batch
    public int addSequence(int[] pageTable, int[] windowTable, int stateSlot, float[] scales) {
        if (sequenceCount == pageTables.length) {
            pageTables = Arrays.copyOf(pageTables, 2 * sequenceCount);
            windowTables = Arrays.copyOf(windowTables, 2 * sequenceCount);
            stateSlots = Arrays.copyOf(stateSlots, 2 * sequenceCount);
            adapterScales = Arrays.copyOf(adapterScales, 2 * sequenceCount);
        }
        pageTables[sequenceCount] = pageTable;
        windowTables[sequenceCount] = windowTable;
        stateSlots[sequenceCount] = stateSlot;
        adapterScales[sequenceCount] = scales;
        return sequenceCount++;
    }

    /// Adds a token to the sequence that was begun last.
    ///
    /// @param token token id
    /// @param position its position in the sequence, 0-based
    /// @param logits whether the logits after this token are wanted
    public void addToken(int token, int position, boolean logits) {
        add(token, position, logits, null, null, null);
    }

    /// Adds a token to the sequence that was begun last, with a row of its own for graphs that
    /// [read it][dev.tenon.api.graph.GivenRows].
    ///
    /// @param token token id
    /// @param position its position in the sequence, 0-based
    /// @param logits whether the logits after this token are wanted
    /// @param row the row; null for zeros; borrowed until the step has run, not copied
    public void addToken(int token, int position, boolean logits, float @Nullable [] row) {
        add(token, position, logits, null, null, row);
    }

    /// Adds a token to the sequence that was begun last, and asks for the next one. A plan that can
    /// sample as described returns [the token][StepResult#token]; any other returns logits.
    ///
    /// @param token token id
    /// @param position its position in the sequence, 0-based
    /// @param sampling how the next token is sampled; not null
    public void addToken(int token, int position, TokenSampling sampling) {
        addToken(token, position, sampling, null);
    }

    /// Adds a token to the sequence that was begun last, and asks for the next one, which a mask limits. For
    /// plans that [take masks][Plan#takesMasks].
    ///
    /// @param token token id
    /// @param position its position in the sequence, 0-based
    /// @param sampling how the next token is sampled among those of the mask; not null
    /// @param mask bit `id % 64` of word `id / 64` is set if the token may come next; null if all may;
    ///     borrowed until the step has run, not copied, and may be written until it runs
    public void addToken(int token, int position, TokenSampling sampling, long @Nullable [] mask) {
        add(token, position, true, Objects.requireNonNull(sampling, "sampling"), mask, null);
    }

    private void add(
            int token,
            int position,
            boolean logits,
            @Nullable TokenSampling sampling,
            long @Nullable [] mask,
            float @Nullable [] row) {
        if (tokenCount == tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * tokenCount);
            positions = Arrays.copyOf(positions, 2 * tokenCount);
            sequences = Arrays.copyOf(sequences, 2 * tokenCount);
            wantsLogits = Arrays.copyOf(wantsLogits, 2 * tokenCount);
            samplings = Arrays.copyOf(samplings, 2 * tokenCount);
            masks = Arrays.copyOf(masks, 2 * tokenCount);
            coordinates = Arrays.copyOf(coordinates, 2 * tokenCount);
            spanStarts = Arrays.copyOf(spanStarts, 2 * tokenCount);
            spanEnds = Arrays.copyOf(spanEnds, 2 * tokenCount);
            rows = Arrays.copyOf(rows, 2 * tokenCount);
        }
        tokens[tokenCount] = token;
        positions[tokenCount] = position;
        sequences[tokenCount] = sequenceCount - 1;
        wantsLogits[tokenCount] = logits;
        samplings[tokenCount] = sampling;
        masks[tokenCount] = mask;
        coordinates[tokenCount] = null;
        spanStarts[tokenCount] = position;
        spanEnds[tokenCount] = position;
        rows[tokenCount] = row;
        logitRows += logits ? 1 : 0;
        samplingCount += sampling == null ? 0 : 1;
        tokenCount++;
    }

    /// Says where the token that was added last stands, for graphs that rotate
    /// [along axes][dev.tenon.api.graph.RopeParams#turns]. Without this a token stands at its position along the
    /// first three axes, and at 0 along others.
    ///
    /// @param along its coordinate on each axis, 0 on those after the last one; borrowed until the step has run
    public void place(int[] along) {
        coordinates[tokenCount - 1] = along;
    }

    /// Gives the token that was added last a span: neighbours of its sequence that see each other where attention
    /// [minds spans][dev.tenon.api.graph.AttentionParams#spans]. All of them are in the step, with the same span.
    ///
    /// @param first position of the first one
    /// @param last position of the last one
    public void span(int first, int last) {
        spanStarts[tokenCount - 1] = first;
        spanEnds[tokenCount - 1] = last;
    }

    /// {@return number of tokens `T`}
    public int tokenCount() {
        return tokenCount;
    }

    /// {@return number of rows `L` that want logits}
    public int logitRows() {
        return logitRows;
    }

    /// {@return number of rows, of those that want logits, that ask for a sampled token}
    public int samplingCount() {
        return samplingCount;
    }

    /// {@return number of sequences}
    public int sequenceCount() {
        return sequenceCount;
    }

    /// {@return the id of a token}
    ///
    /// @param t index in the batch
    public int token(int t) {
        return tokens[t];
    }

    /// {@return the position of a token in its sequence}
    ///
    /// @param t index in the batch
    public int position(int t) {
        return positions[t];
    }

    /// {@return the sequence of a token}
    ///
    /// @param t index in the batch
    public int sequence(int t) {
        return sequences[t];
    }

    /// {@return whether a token's logits are wanted}
    ///
    /// @param t index in the batch
    public boolean wantsLogits(int t) {
        return wantsLogits[t];
    }

    /// {@return how the token after a token is sampled; null where no sampled token is asked for}
    ///
    /// @param t index in the batch
    public @Nullable TokenSampling sampling(int t) {
        return samplings[t];
    }

    /// {@return which tokens may be sampled after a token, a bit for each; null if all may; not copied}
    ///
    /// @param t index in the batch
    public long @Nullable [] mask(int t) {
        return masks[t];
    }

    /// {@return where a token stands on an axis}
    ///
    /// @param t index in the batch
    /// @param axis which one, 0-based
    public int coordinate(int t, int axis) {
        int[] along = coordinates[t];
        if (along == null) {
            return axis < TEXT_AXES ? positions[t] : 0;
        }
        return axis < along.length ? along[axis] : 0;
    }

    /// {@return the position of the first token of a token's span, which is its own where it has none}
    ///
    /// @param t index in the batch
    public int spanStart(int t) {
        return spanStarts[t];
    }

    /// {@return the position of the last token of a token's span, which is its own where it has none}
    ///
    /// @param t index in the batch
    public int spanEnd(int t) {
        return spanEnds[t];
    }

    /// {@return the row that came with a token; null for zeros; not copied}
    ///
    /// @param t index in the batch
    public float @Nullable [] row(int t) {
        return rows[t];
    }

    /// {@return the page table of a sequence; not copied}
    ///
    /// @param sequence index in the batch
    public int[] pageTable(int sequence) {
        return pageTables[sequence];
    }

    /// {@return the table of a sequence's pages of layers with a window, where the plan has [Plan#windowPages()]; not
    /// copied}
    ///
    /// @param sequence index in the batch
    public int[] windowTable(int sequence) {
        return windowTables[sequence];
    }

    /// {@return the state slot of a sequence; [#NO_SLOT] if it has none}
    ///
    /// @param sequence index in the batch
    public int stateSlot(int sequence) {
        return stateSlots[sequence];
    }

    /// {@return the scales of a sequence's adapters; not copied}
    ///
    /// @param sequence index in the batch
    public float[] adapterScales(int sequence) {
        return adapterScales[sequence];
    }

    /// {@return the factor on what an adapter adds for a sequence; 0 if the sequence does not use it}
    ///
    /// @param sequence index in the batch
    /// @param adapter which adapter of the graph, 0-based
    public float adapterScale(int sequence, int adapter) {
        float[] scales = adapterScales[sequence];
        return adapter < scales.length ? scales[adapter] : 0;
    }
}
