package dev.tenon.platform.core.steps;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelConfig;
import java.util.Arrays;

/// The head for further tokens of a placement. For the token at a position it reads the model's hidden state before it.
///
/// Its cache has the model's pages, by the same numbers, so that who takes over or copies a page has both. Rows run
/// when a page is full, before it is shared, and before the head proposes; where a hidden state is not known, as
/// after pages that were taken over, with zeros, which makes proposals worse and no text wrong. Rows of proposals
/// follow in what is left of the last page and in pages of the head's own; the rows of what is taken come in their
/// place.
///
/// Used by the thread that drives the loop.
public final class Head {
    private static final int[] NONE = {};

    private final Plan plan;
    private final int pages;
    private final int tokensPerPage;
    private final int maxBatchTokens;
    private final int width;
    private final float[] logits;
    private final StepInput input = new StepInput();

    /// @param plan the compiled head; borrowed
    /// @param pages those of the model, which the head has too, and its own after them
    /// @param maxBatchTokens most tokens of a step
    /// @param config of the model
    Head(Plan plan, KvPages pages, int maxBatchTokens, ModelConfig config) {
        this.plan = plan;
        this.pages = pages.pageCount();
        this.tokensPerPage = pages.tokensPerPage();
        this.maxBatchTokens = maxBatchTokens;
        this.width = config.embeddingLength();
        this.logits = new float[config.vocabularySize()];
    }

    /// Takes the hidden states of a task's tokens that ran, which do not count as computed yet.
    ///
    /// @param result has them
    /// @param row the first of them
    void ran(SequenceTask task, StepResult result, int row) {
        TokenSequence sequence = task.sequence();
        HeadRows rows = sequence.headRows();
        int first = sequence.computed();
        rows.done(Math.max(rows.done(), sequence.sharedPages() * tokensPerPage));
        for (int i = 0; i < task.tokens(); i++) {
            float[] state = new float[width];
            result.output(Graph.HIDDEN_ROWS, row + i, state);
            rows.put(first + i, state);
        }
        int end = first + task.tokens() - task.checked();
        if (end / tokensPerPage > rows.done() / tokensPerPage) {
            run(sequence, rows.done(), end, false);
        }
    }

    /// Gives the pages of a sequence that are not shared rows, of hidden states that are not known.
    void fill(TokenSequence sequence) {
        run(sequence, sequence.sharedPages() * tokensPerPage, sequence.computed(), false);
    }

    /// {@return the tokens that it finds most probable after those of a sequence, one after the other}
    ///
    /// @param sequence of which the last token is pending
    /// @param most most tokens, at most [HeadPlan#MOST_TOKENS]
    int[] propose(TokenSequence sequence, int most) {
        int last = sequence.length() - 1;
        if (sequence.computed() != last) {
            return NONE;
        }
        int[] proposed = new int[most];
        StepResult result = run(sequence, Math.min(last, sequence.headRows().done()), last + 1, true);
        for (int i = 0; ; i++) {
            result.logits(0, logits);
            proposed[i] = best(logits);
            if (i + 1 == most) {
                return proposed;
            }
            float[] state = new float[width];
            result.output(Graph.HIDDEN, 0, state);
            begin(sequence, last + i + 2);
            input.addToken(proposed[i], last + i + 1, true, state);
            result = plan.run(input);
        }
    }

    /// Runs rows of a sequence's tokens.
    ///
    /// @param guess whether what follows the last one is wanted
    private StepResult run(TokenSequence sequence, int first, int end, boolean guess) {
        HeadRows rows = sequence.headRows();
        StepResult result = null;
        for (int from = first; from < end; from += maxBatchTokens) {
            begin(sequence, end);
            for (int p = from; p < Math.min(end, from + maxBatchTokens); p++) {
                input.addToken(sequence.token(p), p, guess && p == end - 1, rows.state(p - 1));
            }
            result = plan.run(input);
        }
        rows.done(Math.min(end, sequence.pageCount() * tokensPerPage));
        rows.forgetBefore(end - 2); // the last row may run once more
        return result;
    }

    /// Begins a step of a sequence that has so many positions; where its pages end, those of the head follow.
    private void begin(TokenSequence sequence, int positions) {
        int[] table = sequence.pageTable();
        int needed = Math.ceilDiv(positions, tokensPerPage);
        if (needed > sequence.pageCount()) {
            table = Arrays.copyOf(table, needed);
            for (int i = sequence.pageCount(); i < needed; i++) {
                table[i] = pages + i - sequence.pageCount();
            }
        }
        input.clear();
        input.addSequence(table);
    }

    /// {@return the index of the largest number, the first one of several}
    public static int best(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            best = logits[i] > logits[best] ? i : best;
        }
        return best;
    }
}
