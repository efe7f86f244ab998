package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.linear.ScalarLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Products of heads with a matrix of each. Threads take whole heads, whose matrices fit caches: they go through
/// the tokens one by one.
///
/// @param op the op
/// @param x `[rows, heads * cols]`
/// @param linear all rows of all heads as one matrix
/// @param format decodes rows where no kernel packs activations
/// @param out `[rows, heads * rows]`
public record CpuHeadLinear(
        PartOp.HeadLinear op, Activations x, BoundLinear linear, QuantFormat format, Activations out)
        implements CpuKernel {
    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        Scratch scratch = c.scratch(thread);
        for (int head = c.claim(1); head < op.heads(); head = c.claim(1)) {
            if (linear.packed() != null) {
                packed(c.rows(out), head, thread, scratch);
            } else {
                decoded(c.rows(out), head, scratch.floats());
            }
        }
    }

    private int firstRow(int head) {
        return head * op.weight().tensorRows() + op.weight().firstRow();
    }

    private void packed(int tokens, int head, int thread, Scratch scratch) {
        Weight weight = op.weight();
        LinearKernel kernel = linear.packed().kernel;
        for (int t = 0; t < tokens; t++) {
            linear.packed().packOwn(x, t * x.width + head * weight.cols(), thread);
            kernel.run(scratch.call()
                    .of(linear.data(), linear.rowBytes(), weight.cols())
                    .rows(firstRow(head), weight.rows())
                    .times(linear.packed().memory(1, thread), 1)
                    .to(out.floats, t * out.width + head * weight.rows(), out.width));
        }
    }

    private void decoded(int tokens, int head, float[] row) {
        Weight weight = op.weight();
        for (int r = 0; r < weight.rows(); r++) {
            format.dequantize(linear.data(), (firstRow(head) + r) * linear.rowBytes(), row, 0, weight.cols());
            for (int t = 0; t < tokens; t++) {
                int at = t * x.width + head * weight.cols();
                out.data[t * out.width + head * weight.rows() + r] = ScalarLinear.dot(row, x.data, at, weight.cols());
            }
        }
    }
}
