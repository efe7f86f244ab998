package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;

/// The activation rows that the matrices of experts read.
///
/// Of a step with one token each thread packs the rows for itself. Of more tokens, one thread groups them by
/// expert, then all pack, then all multiply, with a barrier between.
public final class ExpertInput {
    private final Activations x;
    private final boolean ownRows;
    private final Activations chosen;
    private final ExpertMemory memory;
    private final PackedGroups[] packed;
    private final boolean plain;
    private final int cols;

    /// Creates it.
    ///
    /// @param x `[T, cols]`, or `[T, used * cols]`
    /// @param chosen `[T, used]`
    /// @param memory what experts share
    /// @param matrices what reads the rows
    public ExpertInput(Activations x, Activations chosen, ExpertMemory memory, ExpertMatrix... matrices) {
        this.x = x;
        this.chosen = chosen;
        this.memory = memory;
        this.cols = matrices[0].any().cols();
        this.ownRows = x.width != cols;
        Set<PackedGroups> targets = new LinkedHashSet<>();
        boolean some = false;
        for (ExpertMatrix matrix : matrices) {
            if (matrix.packed() != null) {
                targets.add(matrix.packed());
            } else {
                some = true;
            }
        }
        this.packed = targets.toArray(PackedGroups[]::new);
        this.plain = some;
    }

    /// {@return how many experts a token uses}
    int used() {
        return chosen.width;
    }

    /// {@return tokens by expert; of a step with more than one}
    ExpertGroups groups() {
        return memory.groups();
    }

    /// {@return an expert of the step's only token}
    ///
    /// @param k which of its experts
    int expert(int k) {
        return (int) chosen.data[k];
    }

    /// {@return which of the only token's experts is which in ascending order of their numbers}
    ///
    /// @param thread index of the thread
    int[] ascending(int thread) {
        int[] order = memory.order(thread);
        for (int k = 0; k < used(); k++) {
            int at = k;
            while (at > 0 && expert(order[at - 1]) > expert(k)) {
                order[at] = order[at - 1];
                at--;
            }
            order[at] = k;
        }
        return order;
    }

    /// Packs the rows of the step's only token, for a single thread.
    ///
    /// @param thread index of the thread
    void packOwn(int thread) {
        int rows = ownRows ? used() : 1;
        for (PackedGroups target : packed) {
            for (int k = 0; k < rows; k++) {
                target.packOwn(x, k * cols, thread, k);
            }
        }
    }

    /// Multiplies some rows of one of the only token's experts.
    ///
    /// @param matrix the matrices
    /// @param k which of the token's experts
    /// @param scratch the thread's memory, whose call says which rows, and where sums go
    /// @param thread index of the thread
    void runOwn(ExpertMatrix matrix, int k, Scratch scratch, int thread) {
        int row = ownRows ? k : 0;
        MemorySegment rows = matrix.packed() == null ? null : matrix.packed().own(thread, row);
        float[] values = x.data;
        if (rows == null && row > 0) {
            values = memory.gathered(thread);
            System.arraycopy(x.data, row * cols, values, 0, cols);
        }
        scratch.call().times(rows, 1);
        matrix.experts()[expert(k)].multiply(values, scratch);
    }

    /// Groups the step's tokens, on one thread.
    ///
    /// @param c the step
    void group(StepContext c) {
        if (c.claim(1) == 0) {
            groups().group(chosen.data, c.rows(chosen) * used());
            for (PackedGroups target : packed) {
                target.layOut(groups());
            }
        }
    }

    /// Packs the rows of all groups, shared among the threads.
    ///
    /// @param c the step
    void pack(StepContext c) {
        int pairs = packed.length == 0 ? 0 : c.rows(chosen) * used();
        int grain = c.grain(pairs);
        for (int i = c.claim(grain); i < pairs; i = c.claim(grain)) {
            for (int slot = i; slot < Math.min(i + grain, pairs); slot++) {
                int pair = groups().pair(slot);
                int expert = (int) chosen.data[pair];
                for (PackedGroups target : packed) {
                    target.pack(x, at(pair), expert, slot - groups().first(expert));
                }
            }
        }
    }

    private int at(int pair) {
        return (ownRows ? pair : pair / used()) * cols;
    }

    /// Copies the rows of a group together, if a kernel reads them as they are.
    ///
    /// @param expert which
    /// @param thread index of the thread
    void gather(int expert, int thread) {
        if (plain) {
            float[] rows = memory.gathered(thread);
            for (int i = 0; i < groups().count(expert); i++) {
                System.arraycopy(x.data, at(groups().pair(groups().first(expert) + i)), rows, i * cols, cols);
            }
        }
    }

    /// Multiplies some rows of an expert for its tokens; [#gather] has run for it on this thread.
    ///
    /// @param matrix the matrices
    /// @param expert which
    /// @param from first row
    /// @param to row after the last
    /// @param tile receives the sums, `[tokens of the expert, to - from]`
    /// @param c the step
    /// @param thread index of the thread
    void run(ExpertMatrix matrix, int expert, int from, int to, HostFloats tile, StepContext c, int thread) {
        MemorySegment rows = matrix.packed() == null ? null : matrix.packed().rows(expert);
        float[] values = rows == null ? memory.gathered(thread) : null;
        int tokens = groups().count(expert);
        Scratch scratch = c.scratch(thread);
        scratch.call().rows(from, to - from).times(rows, tokens).to(tile, 0, to - from);
        matrix.experts()[expert].multiply(values, scratch);
    }
}
