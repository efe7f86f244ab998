package dev.tenon.api.device;

/// Checks a step's input before anything runs, so that kernels need not: what is wrong with a batch is the
/// same for every backend.
///
/// @param options limits of the plan
/// @param tokensPerPage positions that a page of the KV cache holds
/// @param pageCount pages of the cache
/// @param vocabularySize number of token ids
/// @param stateSlots slots of the plan's [StateSlots]; 0 if it has none, and sequences need none
/// @param windowPages pages of the plan's [WindowPages]; 0 if it has none, and sequences need none
public record StepCheck(
        PlanOptions options, int tokensPerPage, int pageCount, int vocabularySize, int stateSlots, int windowPages) {
    /// A check for a plan without window pages.
    ///
    /// @param options limits of the plan
    /// @param tokensPerPage positions that a page of the KV cache holds
    /// @param pageCount pages of the cache
    /// @param vocabularySize number of token ids
    /// @param stateSlots slots of the plan's [StateSlots]; 0 if it has none, and sequences need none
    public StepCheck(PlanOptions options, int tokensPerPage, int pageCount, int vocabularySize, int stateSlots) {
        this(options, tokensPerPage, pageCount, vocabularySize, stateSlots, 0);
    }

    /// A check for a plan without states.
    ///
    /// @param options limits of the plan
    /// @param tokensPerPage positions that a page of the KV cache holds
    /// @param pageCount pages of the cache
    /// @param vocabularySize number of token ids
    public StepCheck(PlanOptions options, int tokensPerPage, int pageCount, int vocabularySize) {
        this(options, tokensPerPage, pageCount, vocabularySize, 0, 0);
    }

    /// Checks the input of a step.
    ///
    /// @param input the batch
    /// @throws IllegalArgumentException if anything is out of its range: the number of tokens or
    ///     sequences, a token, a position, a mask, a page, a state slot
    public void check(StepInput input) {
        check(input, 1);
    }

    /// Checks the input of several steps, each of one position further than the one before.
    ///
    /// @param input the first one's
    /// @param steps how many, at least 1
    /// @throws IllegalArgumentException as for one step, for any of them
    public void check(StepInput input, int steps) {
        int tokens = input.tokenCount();
        if (tokens > options.maxBatchTokens()) {
            throw refusal("a step of " + tokens + " tokens; the plan takes at most " + options.maxBatchTokens());
        }
        if (input.sequenceCount() > options.maxSequences()) {
            throw refusal("a step of " + input.sequenceCount() + " sequences; the plan takes at most "
                    + options.maxSequences());
        }
        for (int t = 0; t < tokens; t++) {
            checkToken(input, t);
            if (t == tokens - 1 || input.sequence(t + 1) != input.sequence(t)) {
                checkPages(input, t, steps);
                checkSlot(input, input.sequence(t));
            }
        }
    }

    private void checkToken(StepInput input, int t) {
        int token = input.token(t);
        if (token < 0 || token >= vocabularySize) {
            throw refusal(
                    "token " + token + " at index " + t + "; the vocabulary has ids 0 to " + (vocabularySize - 1));
        }
        int sequence = input.sequence(t);
        if (sequence < 0) {
            throw refusal("token at index " + t + " belongs to no sequence; begin one first");
        }
        int position = input.position(t);
        if (position < 0) {
            throw refusal("position " + position + " at index " + t + "; expected 0 or more");
        }
        long[] mask = input.mask(t);
        if (mask != null && mask.length * (long) Long.SIZE < vocabularySize) {
            throw refusal("mask of " + mask.length + " words at index " + t + "; expected at least "
                    + Math.ceilDiv(vocabularySize, Long.SIZE));
        }
        boolean first = t == 0 || input.sequence(t - 1) != sequence;
        if (!first && position <= input.position(t - 1)) {
            throw refusal("position " + position + " at index " + t + " follows position " + input.position(t - 1)
                    + " of the same sequence; expected ascending positions");
        }
        if (!first && stateSlots > 0 && position != input.position(t - 1) + 1) {
            throw refusal("position " + position + " at index " + t + " follows position " + input.position(t - 1)
                    + " of the same sequence; a model with states takes all positions, one after the other");
        }
    }

    private void checkSlot(StepInput input, int sequence) {
        if (stateSlots == 0) {
            return;
        }
        int slot = input.stateSlot(sequence);
        if (slot < 0 || slot >= stateSlots) {
            throw refusal("sequence " + sequence + " has state slot " + slot + "; the plan has slots 0 to "
                    + (stateSlots - 1));
        }
        for (int other = 0; other < sequence; other++) {
            if (input.stateSlot(other) == slot) {
                throw refusal("sequences " + other + " and " + sequence + " both have state slot " + slot
                        + "; expected one each");
            }
        }
    }

    /// Checks the pages up to the last token of a sequence.
    private void checkPages(StepInput input, int last, int steps) {
        int[] table = input.pageTable(input.sequence(last));
        long needed = ((long) input.position(last) + steps - 1) / tokensPerPage + 1;
        if (table.length < needed || needed > pageCount) {
            throw refusal("position " + input.position(last) + " at index " + last + " needs " + needed
                    + " pages; the page table has " + table.length + ", the cache " + pageCount);
        }
        checkTable("page table", table, pageCount, (int) needed, input.sequence(last));
        if (windowPages > 0) {
            checkTable(
                    "window table",
                    input.windowTable(input.sequence(last)),
                    windowPages,
                    (int) needed,
                    input.sequence(last));
        }
    }

    private static void checkTable(String name, int[] table, int pages, int needed, int sequence) {
        if (table.length < needed) {
            throw refusal(name + " of sequence " + sequence + " has " + table.length + " pages; expected " + needed);
        }
        for (int i = 0; i < needed; i++) {
            if (table[i] < 0 || table[i] >= pages) {
                throw refusal(name + " of sequence " + sequence + " names page " + table[i]
                        + "; the cache has pages 0 to " + (pages - 1));
            }
        }
    }

    private static IllegalArgumentException refusal(String text) {
        return new IllegalArgumentException(text);
    }
}
