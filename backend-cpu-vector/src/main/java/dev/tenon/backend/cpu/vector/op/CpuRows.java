package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.PositionScale;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// An op that computes one row after the other, each by one thread.
///
/// @param out result, which says how many rows there are
/// @param function computes a row
public record CpuRows(Activations out, Function function) implements CpuKernel {
    /// Computes one row.
    public interface Function {
        /// @param c the step
        /// @param row index among the rows of the result
        /// @param scratch the thread's memory
        void row(StepContext c, int row, float[] scratch);
    }

    /// {@return rows times the factor of their position}
    ///
    /// @param op says which
    /// @param x the rows
    /// @param out result
    public static CpuRows positionScale(PositionScale op, Activations x, Activations out) {
        return new CpuRows(out, (c, row, scratch) -> {
            float factor = op.factor(c.input().position(c.token(out.selected, row)));
            for (int i = row * out.width; i < (row + 1) * out.width; i++) {
                out.data[i] = x.data[i] * factor;
            }
        });
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int rows = c.rows(out);
        for (int r = c.claim(1); r < rows; r = c.claim(1)) {
            function.row(c, r, c.scratch(thread).floats());
        }
    }
}
