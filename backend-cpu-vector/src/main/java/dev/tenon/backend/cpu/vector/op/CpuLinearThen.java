package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.math.RowNorm;
import dev.tenon.backend.cpu.vector.memory.Activations;
import java.util.List;

/// A projection and what follows on its rows, in place: on the columns that a thread has just computed as far
/// as that goes, and from the first norm on row by row.
///
/// @param x `[rows, cols]`
/// @param linear the weights
/// @param onColumns what works on single elements
/// @param onRows what needs whole rows, and what follows that
/// @param out `[rows, linear.rows]`
/// @param packing packs `x`
public record CpuLinearThen(
        Activations x, BoundLinear linear, List<Part> onColumns, List<Part> onRows, Activations out, Packing packing)
        implements CpuKernel {
    /// Changes some columns of a row of the result.
    public interface Part {
        /// @param out `[rows, width]`
        /// @param row which row
        /// @param from first column
        /// @param to column after the last
        void apply(Activations out, int row, int from, int to);

        /// {@return a function of single elements}
        ///
        /// @param function computes it from the row and another value's
        /// @param other `[rows, width]`, or null if the function reads only the row
        static Part of(CpuElementwise.Function function, Activations other) {
            return (out, row, from, to) -> function.apply(
                    out.data,
                    other == null ? out.data : other.data,
                    out.data,
                    row * out.width + from,
                    row * out.width + to);
        }

        /// {@return a norm of whole rows, or of groups of them}
        ///
        /// @param norm the norm
        static Part of(RowNorm norm) {
            return (out, row, from, to) -> norm.groups(out, row * out.width, out, out.width / norm.group());
        }
    }

    @Override
    public int phases(StepContext c) {
        return projection(c) + (onRows.isEmpty() ? 1 : 2);
    }

    /// The phase of the projection.
    private int projection(StepContext c) {
        return packing.before(c, out, false) ? 1 : 0;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int projection = projection(c);
        if (phase < projection) {
            CpuNorm.rows(c, x, null, x, packing, thread);
        } else if (phase == projection) {
            if (c.single(out)) {
                CpuNorm.own(c, x, null, packing, thread);
            }
            project(c, thread);
        } else {
            int rows = c.rows(out);
            int grain = c.grain(rows);
            for (int i = c.claim(grain); i < rows; i = c.claim(grain)) {
                for (int t = i; t < Math.min(i + grain, rows); t++) {
                    apply(onRows, t, 0, out.width);
                }
            }
        }
    }

    private void project(StepContext c, int thread) {
        int rows = linear.rows();
        int tokens = c.rows(out);
        int panel = linear.panelRows();
        for (int from = c.claimRows(rows, tokens, panel); from < rows; from = c.claimRows(rows, tokens, panel)) {
            int to = c.claimedTo(from, rows, tokens, panel);
            linear.run(x.data, tokens, from, to, out, c, thread);
            for (int t = 0; t < tokens && !onColumns.isEmpty(); t++) {
                apply(onColumns, t, from, to);
            }
        }
    }

    private void apply(List<Part> parts, int row, int from, int to) {
        for (int i = 0; i < parts.size(); i++) {
            parts.get(i).apply(out, row, from, to);
        }
    }
}
