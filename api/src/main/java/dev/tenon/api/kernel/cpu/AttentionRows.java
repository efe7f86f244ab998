package dev.tenon.api.kernel.cpu;

import java.lang.foreign.MemorySegment;

/// Query rows of an [AttentionKernel] and their states: views of arrays that a caller makes once and fills for each
/// call, so that calls make no objects. Not safe for several threads at once.
public final class AttentionRows {
    private final MemorySegment q;
    private final MemorySegment max;
    private final MemorySegment sum;
    private final MemorySegment acc;
    private final MemorySegment runs;
    private final int[] runArray;
    private int runCount;

    /// Creates views of arrays; none is copied.
    ///
    /// @param q `[rows, keyLength]`, scaled queries
    /// @param max maxima of the rows, negative infinity before the first page
    /// @param sum sums of weights
    /// @param acc `[rows, valueLength]`, weighted sums of values
    /// @param runs for each run of rows that see the same positions: its first row, how many, the first
    ///     position in the page, and the one after the last; at least one row and one position; both positions
    ///     ascend from one run to the next
    public AttentionRows(float[] q, float[] max, float[] sum, float[] acc, int[] runs) {
        this.q = MemorySegment.ofArray(q);
        this.max = MemorySegment.ofArray(max);
        this.sum = MemorySegment.ofArray(sum);
        this.acc = MemorySegment.ofArray(acc);
        this.runs = MemorySegment.ofArray(runs);
        this.runArray = runs;
        this.runCount = runs.length / AttentionKernel.RUN;
    }

    /// {@return float32 `[rows, keyLength]`; kernels only read it}
    public MemorySegment q() {
        return q;
    }

    /// {@return float32, one for each row}
    public MemorySegment max() {
        return max;
    }

    /// {@return float32, one for each row}
    public MemorySegment sum() {
        return sum;
    }

    /// {@return float32 `[rows, valueLength]`}
    public MemorySegment acc() {
        return acc;
    }

    /// {@return int32, [AttentionKernel#RUN] for each run; kernels only read it}
    public MemorySegment runs() {
        return runs;
    }

    /// {@return how many runs a call is about, from the first one on; before the first [#runCount(int)] all}
    public int runCount() {
        return runCount;
    }

    /// Says how many runs the next calls are about.
    ///
    /// @param count at least 1
    public void runCount(int count) {
        runCount = count;
    }

    /// {@return how many numbers there is room for in [#runs]}
    public int runLength() {
        return runArray.length;
    }

    /// {@return a number of [#runs]}
    ///
    /// @param index which one
    public int run(int index) {
        return runArray[index];
    }
}
