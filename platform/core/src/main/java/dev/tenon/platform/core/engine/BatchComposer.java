package dev.tenon.platform.core.engine;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.StepInput;
import java.util.List;

/// Decides which of the waiting items the next step runs, and how much of each.
///
/// @param maxTokens most tokens of a step
/// @param maxSequences most sequences of a step
record BatchComposer(int maxTokens, int maxSequences) {
    private static final int MAX_LOGIT_ROWS = 64;

    /// Fills the batch: decode rows first, then prefill chunks with the room that is left. An item
    /// whose pages cannot be had gets the error and takes no part.
    ///
    /// @param waiting in the order of their coming
    /// @param batch receives the chosen ones
    /// @param input receives their tokens
    /// @param pages the plan's cache
    /// @param pool its free pages
    void compose(List<StepItem> waiting, List<StepItem> batch, StepInput input, KvPages pages, PagePool pool) {
        input.clear();
        int room = maxTokens;
        int logitRoom = Math.max(MAX_LOGIT_ROWS, maxSequences);
        for (int pass = 0; pass < 2; pass++) {
            for (StepItem item : waiting) {
                boolean decode = item.pending() == 1;
                if (decode != (pass == 0) || room == 0 || input.sequenceCount() == maxSequences) {
                    continue;
                }
                int count = Math.min(item.pending(), room);
                int first = item.sequence.computed();
                int rows = Math.max(0, first + count - Math.max(first, item.logitsFrom));
                if (rows > logitRoom) {
                    count -= rows - logitRoom;
                    rows = logitRoom;
                }
                if (count <= 0 && item.pending() > 0) {
                    continue;
                }
                batch.add(item);
                try {
                    ensurePages(item.sequence, first + count, pages, pool);
                } catch (RuntimeException e) {
                    item.error = e;
                    continue;
                }
                item.ran = count;
                item.rows = rows;
                item.firstRow = first + count - rows;
                input.addSequence(item.sequence.pageTable());
                for (int p = first; p < first + count; p++) {
                    if (item.choosesBehind(p)) {
                        input.addToken(item.sequence.token(p), p, item.choice);
                    } else {
                        input.addToken(item.sequence.token(p), p, p >= item.logitsFrom);
                    }
                }
                room -= count;
                logitRoom -= rows;
            }
        }
        if (batch.stream().allMatch(item -> item.unread)) {
            input.leaveLogits();
        }
    }

    private static void ensurePages(TokenSequence sequence, int length, KvPages pages, PagePool pool) {
        int needed = (length + pages.tokensPerPage() - 1) / pages.tokensPerPage();
        int writing = sequence.computed() / pages.tokensPerPage();
        if (writing < sequence.pageCount() && pool.shared(sequence.pageTable()[writing])) {
            int old = sequence.pageTable()[writing];
            int own = pool.take();
            pages.copy(old, own);
            pool.release(old);
            sequence.pageTable()[writing] = own;
        }
        while (sequence.pageCount() < needed) {
            sequence.addPage(pool.take());
        }
    }
}
