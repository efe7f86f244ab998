package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.config.Setting;
import dev.tenon.api.device.StepInput;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import dev.tenon.backend.cpu.vector.kv.AttentionSplit;
import dev.tenon.backend.cpu.vector.kv.Tiles;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.GateTile;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import java.util.List;

/// What the kernels of a plan share during a step: the input, where sequences begin and end, and the
/// threads' scratch memory. Filled for each step by [#begin(StepInput)]; allocates only when a
/// step is larger than all before it.
public final class StepContext {
    /// The setting of how many claims of matrix rows each thread makes, about.
    public static final Setting CLAIMS = Setting.choice(
            "threads.claims",
            "8",
            List.of("8", "16", "32"),
            "In how many claims a thread takes its share of a matrix: more of them wait less for a slow thread at the"
                    + " end, and begin more often with waiting for memory.");

    /// Tokens of one sequence that attention takes together, at most.
    public static final int BLOCK_TOKENS = 16;
    /// Tokens from which on threads take whole panels of rows, where there is one for each of them.
    private static final int PANEL_TOKENS = 12;

    /// Most rows of a panel.
    static final int PANEL_ROWS = 64;
    private static final int LEAST_ROWS = 16;

    /// Tokens from which on rows take so long that threads claim few of them at once: otherwise all
    /// wait for the last one. The number of rows that a thread claims then is [#MANY_TOKENS_ROWS].
    static final int MANY_TOKENS = 32;

    /// Rows of a claim then; tiles of threads have room for so many rows of all tokens.
    public static final int MANY_TOKENS_ROWS = 128;

    /// How often each thread takes a single panel near the end of a matrix then.
    private static final int LAST_CLAIMS = 4;

    /// The share of rows of few tokens that is taken in smaller claims near the end, and how much smaller.
    private static final int LATE_SHARE = 4;
    /// Most rows of such a claim.
    private static final int MOST_LATE_ROWS = 256;

    private final CpuThreads team;
    private final int claims;
    private final ThreadMemory[] memory;
    private final AttentionSplit split;
    private final AdapterRows adapters = new AdapterRows();
    private StepInput input;
    private boolean oneBlockEach;
    private int[] selectedToken = new int[1];
    private int[] blockStart = new int[2];
    private int blockCount;
    private int[] runStart = new int[2];
    private int runCount;

    /// Creates the context of a plan.
    ///
    /// @param team the threads
    /// @param claims how many claims of a matrix each thread makes, as [#CLAIMS]
    /// @param memory memory of each thread
    /// @param split where threads leave parts of a head's attention
    public StepContext(CpuThreads team, int claims, ThreadMemory[] memory, AttentionSplit split) {
        this.team = team;
        this.claims = claims;
        this.memory = memory;
        this.split = split;
    }

    /// {@return the threads}
    public CpuThreads team() {
        return team;
    }

    /// Takes over the input of a step that was checked before.
    public void begin(StepInput newInput) {
        input = newInput;
        int tokens = newInput.tokenCount();
        if (selectedToken.length < tokens) {
            selectedToken = new int[tokens];
            blockStart = new int[tokens + 1];
            runStart = new int[tokens + 1];
        }
        int selected = 0;
        blockCount = 0;
        runCount = 0;
        oneBlockEach = true;
        split.reset();
        adapters.begin(newInput);
        for (int t = 0; t < tokens; t++) {
            if (newInput.wantsLogits(t)) {
                selectedToken[selected++] = t;
            }
            if (t == 0 || newInput.sequence(t) != newInput.sequence(t - 1)) {
                blockStart[blockCount++] = t;
                runStart[runCount++] = t;
            } else if (t - blockStart[blockCount - 1] == BLOCK_TOKENS) {
                blockStart[blockCount++] = t;
                oneBlockEach = false;
            }
        }
        blockStart[blockCount] = tokens;
        runStart[runCount] = tokens;
    }

    /// Forgets the input.
    public void end() {
        input = null;
    }

    /// {@return the input}
    public StepInput input() {
        return input;
    }

    /// {@return which rows use which adapter}
    AdapterRows adapters() {
        return adapters;
    }

    /// {@return rows of a value in this step}
    ///
    /// @param value the value
    public int rows(Activations value) {
        return rows(value.selected);
    }

    /// {@return rows in this step}
    ///
    /// @param selected those that want logits, instead of all tokens
    public int rows(boolean selected) {
        return selected ? input.logitRows() : input.tokenCount();
    }

    /// {@return whether a value has one row in this step: then each thread norms and packs it for
    /// itself, instead of waiting for the one that did}
    ///
    /// @param value the value
    public boolean single(Activations value) {
        return rows(value) == 1;
    }

    /// {@return the token of a row}
    ///
    /// @param selected whether rows are those that want logits, instead of all tokens
    /// @param row index among the rows
    public int token(boolean selected, int row) {
        return selected ? selectedToken[row] : row;
    }

    /// {@return the first token of a token's sequence}
    ///
    /// @param token index in the batch
    public int sequenceStart(int token) {
        int start = token;
        while (start > 0 && input.sequence(start - 1) == input.sequence(token)) {
            start--;
        }
        return start;
    }

    /// {@return the token after the last one of a token's sequence}
    ///
    /// @param token index in the batch
    public int sequenceEnd(int token) {
        int end = token + 1;
        while (end < input.tokenCount() && input.sequence(end) == input.sequence(token)) {
            end++;
        }
        return end;
    }

    /// {@return number of attention blocks: tokens of one sequence, at most [#BLOCK_TOKENS]}
    public int blockCount() {
        return blockCount;
    }

    /// {@return whether all tokens of each sequence are in one block}
    public boolean oneBlockEach() {
        return oneBlockEach;
    }

    /// {@return where threads leave parts of a head's attention}
    public AttentionSplit split() {
        return split;
    }

    /// {@return first token of a block; that of the block after it ends it}
    ///
    /// @param block index
    public int blockStart(int block) {
        return blockStart[block];
    }

    /// {@return number of sequences that have tokens in the step}
    public int runCount() {
        return runCount;
    }

    /// {@return first token of such a sequence; that of the one after it ends it}
    ///
    /// @param run index
    public int runStart(int run) {
        return runStart[run];
    }

    /// Takes the next items of a phase's work.
    ///
    /// @param grain how many
    /// @return the first one
    public int claim(int grain) {
        return team.claim(grain);
    }

    /// {@return how many items to take at once so that each thread comes several times}
    ///
    /// @param total items
    public int grain(int total) {
        return Math.max(1, total / (4 * team.size()));
    }

    /// Takes the next rows of a phase's matrices: fewer at once near the end, so that no thread
    /// waits long for another; of many tokens panels one by one.
    ///
    /// @param rows all rows
    /// @param tokens how many each row is multiplied with
    /// @param panel rows that a kernel multiplies together
    /// @return the first one; work is over when it is not below `rows`
    public int claimRows(int rows, int tokens, int panel) {
        int grain = rowGrain(rows, tokens);
        int late = lateGrain(tokens, panel, grain);
        int early = earlyRows(rows, tokens, late, grain);
        int claim = team.claim(1);
        int claims = early / grain;
        return claim < claims ? claim * grain : (int) Math.min(early + (claim - claims) * (long) late, rows);
    }

    /// {@return the row after those that [#claimRows] has taken}
    ///
    /// @param from the first of them
    /// @param rows all rows
    /// @param tokens how many each row is multiplied with
    /// @param panel rows that a kernel multiplies together
    public int claimedTo(int from, int rows, int tokens, int panel) {
        int grain = rowGrain(rows, tokens);
        int late = lateGrain(tokens, panel, grain);
        return Math.min(from + (from < earlyRows(rows, tokens, late, grain) ? grain : late), rows);
    }

    /// {@return how many rows are taken at once near the end: of few tokens a quarter of `grain`,
    /// whole panels; claims that are small already stay, because each begins with waiting for
    /// memory}
    private static int lateGrain(int tokens, int panel, int grain) {
        if (tokens >= MANY_TOKENS) {
            return panel;
        }
        return grain < LATE_SHARE * PANEL_ROWS
                ? grain
                : Math.min(grain / LATE_SHARE / PANEL_ROWS * PANEL_ROWS, MOST_LATE_ROWS);
    }

    /// {@return how many rows are taken in claims of `grain`, a multiple of it; at least all rows if all are}
    private int earlyRows(int rows, int tokens, int late, int grain) {
        if (grain <= late) {
            return (rows + grain - 1) / grain * grain;
        }
        int last = tokens < MANY_TOKENS ? rows / LATE_SHARE : Math.min(rows / 2, LAST_CLAIMS * late * team.size());
        return (rows - last) / grain * grain;
    }

    /// {@return how many matrix rows to take at once: a multiple of 16, several times for each thread;
    /// for many tokens whole panels of a kernel, which have up to 64}
    ///
    /// @param rows all rows
    /// @param tokens how many each row is multiplied with
    private int rowGrain(int rows, int tokens) {
        int share = rows / (claims * team.size());
        if (tokens >= MANY_TOKENS) {
            share = Math.min(share, MANY_TOKENS_ROWS);
        }
        int most = tokens < PANEL_TOKENS ? LEAST_ROWS : Math.min(PANEL_ROWS, rows / team.size());
        int least = Math.max(LEAST_ROWS, most / LEAST_ROWS * LEAST_ROWS);
        return share >= PANEL_ROWS ? share / PANEL_ROWS * PANEL_ROWS : Math.max(least, share / LEAST_ROWS * LEAST_ROWS);
    }

    /// {@return scratch memory of a thread}
    ///
    /// @param thread index
    public Scratch scratch(int thread) {
        return memory[thread].scratch();
    }

    /// {@return attention memory of a thread}
    ///
    /// @param thread index
    public Tiles tiles(int thread) {
        return memory[thread].tiles();
    }

    /// {@return memory of a thread for a single normed row}
    ///
    /// @param thread index
    Activations normed(int thread) {
        return memory[thread].normed();
    }

    /// {@return what a thread works at in ops with a state}
    ///
    /// @param thread index
    public StateWork work(int thread) {
        return memory[thread].work();
    }

    /// {@return memory for gate and up projections of a thread}
    ///
    /// @param thread index
    public GateTile gateTile(int thread) {
        return memory[thread].gateTile();
    }
}
