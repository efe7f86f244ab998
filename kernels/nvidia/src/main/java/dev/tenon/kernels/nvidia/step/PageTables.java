package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.device.StepInput;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The page tables as the host last wrote them, `[sequences][pages]`, and after them those of window pages, if there
/// are such: tells which part the device has to see again.
public final class PageTables {
    private final int maxPages;
    private final int windowSequences;
    private long from;
    private long to;

    /// Makes tables of which nothing has been written.
    ///
    /// @param maxPages entries of a table
    /// @param windowSequences most sequences, where there are window pages; else 0
    public PageTables(int maxPages, int windowSequences) {
        this.maxPages = maxPages;
        this.windowSequences = windowSequences;
    }

    /// Writes the tables of steps.
    ///
    /// @param input the first step; checked
    /// @param steps how many; each goes one position further
    /// @param target the tables as the host sees them; holds what was written before
    public void write(StepInput input, int steps, MemorySegment target) {
        from = Long.MAX_VALUE;
        to = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            int sequence = input.sequence(t);
            if (t + 1 == input.tokenCount() || input.sequence(t + 1) != sequence) {
                int last = (input.position(t) + steps - 1) / KvBuffer.TOKENS;
                write(input.pageTable(sequence), last, sequence, target);
                if (windowSequences > 0) {
                    write(input.windowTable(sequence), last, windowSequences + sequence, target);
                }
            }
        }
    }

    private void write(int[] table, int last, int row, MemorySegment target) {
        long base = 4L * row * maxPages;
        for (int i = last; i >= 0; i--) {
            long at = base + 4L * i;
            if (target.get(ValueLayout.JAVA_INT, at) != table[i]) {
                target.set(ValueLayout.JAVA_INT, at, table[i]);
                from = Math.min(from, at);
                to = Math.max(to, at + 4);
            }
        }
    }

    /// {@return offset of the first byte that changed}
    public long from() {
        return from;
    }

    /// {@return number of bytes from there to the last one that changed; 0 if none did}
    public long bytes() {
        return Math.max(0, to - Math.min(from, to));
    }
}
