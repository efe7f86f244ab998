package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedActivations;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Packs the activation rows before one or more matrices: once for each kernel among them. Rows that use an adapter
/// are also multiplied with its first matrix.
///
/// @param targets what to pack into, each once; empty if no kernel packs
/// @param changes what adapters change of the matrices
public record Packing(PackedActivations[] targets, LowRankChange[] changes) {
    /// {@return the packing before matrices that read the same rows}
    ///
    /// @param linears the matrices
    public static Packing before(BoundLinear... linears) {
        Set<PackedActivations> targets = new LinkedHashSet<>();
        List<LowRankChange> changes = new ArrayList<>();
        for (BoundLinear linear : linears) {
            if (linear.packed() != null) {
                targets.add(linear.packed());
            }
            changes.addAll(List.of(linear.changes()));
        }
        return new Packing(targets.toArray(PackedActivations[]::new), changes.toArray(LowRankChange[]::new));
    }

    /// {@return whether a phase before the matrices prepares their rows for all threads}
    ///
    /// @param c the step
    /// @param out what the matrices compute
    /// @param normed whether rows are normed before they are packed
    boolean before(StepContext c, Activations out, boolean normed) {
        return changed(c) || !c.single(out) && (normed || targets.length > 0);
    }

    /// {@return whether a row of the step uses an adapter}
    boolean changed(StepContext c) {
        for (LowRankChange change : changes) {
            if (change.used(c)) {
                return true;
            }
        }
        return false;
    }

    /// Multiplies some rows of a step that has several with the adapters' first matrices.
    ///
    /// @param c the step
    /// @param x activations
    /// @param from first row
    /// @param to row after the last
    void down(StepContext c, Activations x, int from, int to) {
        for (LowRankChange change : changes) {
            if (change.used(c)) {
                change.down(c, x, from, to);
            }
        }
    }

    /// Multiplies the row of a step that has one only with the adapters' first matrices, shared among the threads.
    ///
    /// @param c the step
    /// @param x the row
    void downSingle(StepContext c, float[] x) {
        int first = 0;
        int piece = c.claim(1);
        for (LowRankChange change : changes) {
            int pieces = change.used(c) ? change.pieces() : 0;
            for (; piece < first + pieces; piece = c.claim(1)) {
                change.piece(x, piece - first);
            }
            first += pieces;
        }
    }

    /// Ends what [#downSingle] began, for a thread of its own.
    ///
    /// @param c the step
    /// @param thread index of the thread
    void sum(StepContext c, int thread) {
        for (LowRankChange change : changes) {
            if (change.used(c)) {
                change.sum(c, thread);
            }
        }
    }

    /// Packs one row.
    ///
    /// @param x activations
    /// @param row which row
    void row(Activations x, int row) {
        for (PackedActivations target : targets) {
            target.pack(x, row);
        }
    }

    /// Packs the row of a step that has one only, for a single thread.
    ///
    /// @param x activations
    /// @param thread index of the thread
    public void own(Activations x, int thread) {
        for (PackedActivations target : targets) {
            target.packOwn(x, 0, thread);
        }
    }

    /// Packs all rows of a step, shared among the threads.
    ///
    /// @param c the step
    /// @param x activations
    public void rows(StepContext c, Activations x) {
        int rows = c.rows(x);
        int grain = c.grain(rows);
        for (int i = c.claim(grain); i < rows; i = c.claim(grain)) {
            int to = Math.min(i + grain, rows);
            for (int t = i; t < to; t++) {
                row(x, t);
            }
            down(c, x, i, to);
        }
    }
}
