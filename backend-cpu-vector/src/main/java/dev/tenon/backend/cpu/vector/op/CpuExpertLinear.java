package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.memory.Activations;

import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.linear.ScalarLinear;
import java.lang.foreign.MemorySegment;

/// Products with the matrices of the chosen experts. Threads take panels of an expert's rows; a row is decoded
/// once for all tokens that use the expert.
///
/// @param op the op
/// @param x `[rows, cols]`, or `[rows, used * cols]`
/// @param chosen `[rows, used]`
/// @param format decodes rows
/// @param data the matrices, from the first row of the first one on; borrowed
/// @param bias `[experts, rows]`, or empty
/// @param out `[rows, used * rows]`
public record CpuExpertLinear(
        ExpertOp.ExpertLinear op,
        Activations x,
        Activations chosen,
        QuantFormat format,
        MemorySegment data,
        float[] bias,
        Activations out)
        implements CpuKernel {
    private static final int PANEL = 32;

    @Override
    public int phases() {
        return 1;
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int rows = op.weight().rows();
        int panels = Math.ceilDiv(rows, PANEL);
        int items = Math.multiplyExact(op.weight().slices(), panels);
        int pairs = c.rows(out) * op.used();
        for (int i = c.claim(1); i < items; i = c.claim(1)) {
            int from = i % panels * PANEL;
            int first = next(i / panels, 0, pairs);
            for (int r = from; first < pairs && r < Math.min(from + PANEL, rows); r++) {
                row(i / panels, r, first, pairs, c.scratch(thread).floats());
            }
        }
    }

    /// The next pair of a token and one of its experts that has a certain expert.
    private int next(int expert, int from, int pairs) {
        int pair = from;
        while (pair < pairs && chosen.data[pair] != expert) {
            pair++;
        }
        return pair;
    }

    private void row(int expert, int row, int first, int pairs, float[] decoded) {
        Weight weight = op.weight();
        int cols = weight.cols();
        long rowBytes = format.bytesFor(cols);
        format.dequantize(data, ((long) expert * weight.tensorRows() + row) * rowBytes, decoded, 0, cols);
        float start = bias.length > 0 ? bias[expert * weight.rows() + row] : 0;
        for (int pair = first; pair < pairs; pair = next(expert, pair + 1, pairs)) {
            int at = (op.ownInputs() ? pair : pair / op.used()) * cols;
            out.data[pair * weight.rows() + row] = start + ScalarLinear.dot(decoded, x.data, at, cols);
        }
    }
}
