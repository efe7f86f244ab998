package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepInput;
import java.util.List;

/// Decides which of the waiting tasks the next step runs, and how much of each.
///
/// @param maxBatchTokens most tokens of a step
/// @param maxSequences most sequences of a step
/// @param whole whether a step takes a sequence whole or not at all, as encoders need; none is longer than a step
record BatchComposer(int maxBatchTokens, int maxSequences, boolean whole) {
    private static final int MAX_LOGIT_ROWS = 64;

    /// Fills the batch: decode rows first, then prefill chunks with the room that is left. A task
    /// whose pages cannot be had fails, and none of its tokens run.
    ///
    /// @param waiting in the order of their arrival
    /// @param batch receives the tasks that take part
    /// @param input receives their tokens
    /// @param placed where they run
    void compose(List<SequenceTask> waiting, List<SequenceTask> batch, StepInput input, PlacedSequences placed) {
        int tokensPerPage = placed.tokensPerPage();
        PagePool pool = placed.pool();
        int room = maxBatchTokens;
        int logitRoom = whole ? maxBatchTokens : Math.max(MAX_LOGIT_ROWS, maxSequences);
        for (int pass = 0; pass < 2; pass++) {
            for (SequenceTask task : waiting) {
                boolean decode = task.pending() == 1;
                if (decode != (pass == 0) || room == 0 || input.sequenceCount() == maxSequences) {
                    continue;
                }
                if (whole && task.pending() > room) {
                    continue;
                }
                TokenSequence sequence = task.sequence();
                int count = Math.min(task.pending(), room);
                int first = sequence.computed();
                int rows = Math.max(0, first + count - Math.max(first, task.logitsFrom()));
                if (rows > logitRoom) {
                    count -= rows - logitRoom;
                    rows = logitRoom;
                }
                if (count <= 0 && task.pending() > 0) {
                    continue;
                }
                batch.add(task);
                try {
                    ensurePages(sequence, first + count, tokensPerPage, pool);
                    placed.states().prepare(sequence, count);
                } catch (RuntimeException e) {
                    sequence.truncate(sequence.length(), tokensPerPage, pool); // others can use what it got
                    task.assign(0, 0);
                    task.fail(e);
                    continue;
                }
                task.assign(count, rows);
                add(task, first, count, input);
                room -= count;
                logitRoom -= rows;
            }
        }
    }

    private static void add(SequenceTask task, int first, int count, StepInput input) {
        TokenSequence sequence = task.sequence();
        input.addSequence(sequence.pageTable(), sequence.slot(), sequence.adapters());
        for (int p = first; p < first + count; p++) {
            if (task.choice() != null && p == sequence.length() - 1) {
                input.addToken(sequence.token(p), p, task.choice());
            } else {
                input.addToken(sequence.token(p), p, p >= task.logitsFrom());
            }
        }
    }

    /// Takes pages for the first tokens of a sequence.
    static void ensurePages(TokenSequence sequence, int length, int tokensPerPage, PagePool pool) {
        while (sequence.pageCount() * tokensPerPage < length) {
            sequence.addPage(pool.take());
        }
    }
}
