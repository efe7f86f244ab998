package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.PackedRows;
import java.util.LinkedHashSet;
import java.util.Set;

/// Packs the activation rows before one or more matrices: once for each kernel among them.
///
/// @param targets what to pack into, each once; empty if no kernel packs
public record Packing(PackedRows[] targets) {
    /// {@return the packing before matrices that read the same rows}
    ///
    /// @param linears the matrices
    public static Packing before(BoundLinear... linears) {
        Set<PackedRows> targets = new LinkedHashSet<>();
        for (BoundLinear linear : linears) {
            if (linear.packed() != null) {
                targets.add(linear.packed());
            }
        }
        return new Packing(targets.toArray(PackedRows[]::new));
    }

    /// {@return whether there is something to pack}
    boolean any() {
        return targets.length > 0;
    }

    /// Packs one row.
    ///
    /// @param x activations
    /// @param row which row
    void row(Activations x, int row) {
        for (PackedRows target : targets) {
            target.pack(x, row);
        }
    }

    /// Packs the row of a step that has one only, for a single thread.
    ///
    /// @param x activations
    /// @param thread index of the thread
    public void own(Activations x, int thread) {
        for (PackedRows target : targets) {
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
            for (int t = i; t < Math.min(i + grain, rows); t++) {
                row(x, t);
            }
        }
    }
}
