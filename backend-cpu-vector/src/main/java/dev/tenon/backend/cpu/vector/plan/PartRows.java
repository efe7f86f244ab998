package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.math.LayerNormMath;
import dev.tenon.backend.cpu.vector.math.RmsNormMath;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.BoundLinear;
import dev.tenon.backend.cpu.vector.op.CpuHeadLinear;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.plan.LoweredGraph.ThreadNeeds;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import java.util.Arrays;
import java.util.List;

/// Ops on parts of a row.
final class PartRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(PartOp.Slice.class, PartRows::slice),
            OpRow.fast(PartOp.Join.class, PartRows::join),
            OpRow.fast(PartOp.GroupedRmsNorm.class, PartRows::groupedRmsNorm),
            OpRow.fast(PartOp.GroupedLayerNorm.class, PartRows::groupedLayerNorm),
            new OpRow<>(
                    PartOp.PlainRmsNorm.class,
                    OpRow::float32,
                    PartRows::plainRmsNorm,
                    (n, to) -> RmsNormMath.plain(n.length(), n.eps(), to.elements),
                    null,
                    false),
            OpRow.fast(PartOp.GroupMean.class, PartRows::groupMean),
            OpRow.fast(PartOp.Transpose.class, PartRows::transpose),
            OpRow.fast(PartOp.Clamp.class, PartRows::clamp),
            OpRow.plain(PartOp.TransposedLinear.class, PartRows::transposedLinear),
            new OpRow<>(PartOp.HeadLinear.class, PartRows::heads, PartRows::headLinear));

    private PartRows() {}

    private static void slice(PartOp.Slice op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        int group = x.width / op.groups();
        int length = op.length();
        CpuRows.Function row = (c, t, scratch) -> {
            int from = t * x.width + op.from();
            for (int at = t * out.width; at < (t + 1) * out.width; at += length) {
                System.arraycopy(x.data, from, out.data, at, length);
                from += group;
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void groupedRmsNorm(PartOp.GroupedRmsNorm op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        float[] weight = to.binder.vector(op.weight());
        int length = op.weight().cols();
        ElementMath math = to.elements.math();
        CpuRows.Function row = (c, t, scratch) -> {
            for (int g = 0; g < out.width; g += length) {
                int at = t * out.width + g;
                float factor = (float) (1 / Math.sqrt(math.sumOfSquares(x.data, at, length) / length + op.eps()));
                for (int i = 0; i < length; i++) {
                    out.data[at + i] = x.data[at + i] * factor * weight[g + i];
                }
            }
        };
        to.add(op, op.weight().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void groupedLayerNorm(PartOp.GroupedLayerNorm op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        int length = op.weight().cols();
        LayerNormMath[] norms = new LayerNormMath[op.weight().rows()];
        for (int g = 0; g < norms.length; g++) {
            float[] weight = to.binder.vector(op.weight().rows(g, g + 1));
            norms[g] = new LayerNormMath(weight, Lowering.NONE, op.eps());
        }
        CpuRows.Function row = (c, t, scratch) -> {
            for (int g = 0; g < norms.length; g++) {
                norms[g].groups(x, t * out.width + g * length, out, 1);
            }
        };
        to.add(op, op.weight().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void plainRmsNorm(PartOp.PlainRmsNorm op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        int length = op.length();
        ElementMath math = to.elements.math();
        CpuRows.Function row = (c, t, scratch) -> {
            for (int at = t * out.width; at < (t + 1) * out.width; at += length) {
                float factor = (float) (1 / Math.sqrt(math.squares(x.data, at, length) / length + op.eps()));
                for (int i = at; i < at + length; i++) {
                    out.data[i] = x.data[i] * factor;
                }
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void groupMean(PartOp.GroupMean op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        int length = op.length();
        CpuRows.Function row = (c, t, scratch) -> {
            for (int at = t * out.width; at < (t + 1) * out.width; at += length) {
                double sum = 0;
                for (int i = at; i < at + length; i++) {
                    sum += x.data[i];
                }
                Arrays.fill(out.data, at, at + length, (float) (sum / length));
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void join(PartOp.Join op, Lowering to) {
        Activations a = to.pool.get(op.a());
        Activations b = to.pool.get(op.b());
        Activations out = to.pool.define(op.out(), a.selected);
        int n = a.width / op.groups();
        int m = b.width / op.groups();
        CpuRows.Function row = (c, t, scratch) -> {
            for (int g = 0; g < op.groups(); g++) {
                int at = t * out.width + g * (n + m);
                System.arraycopy(a.data, t * a.width + g * n, out.data, at, n);
                System.arraycopy(b.data, t * b.width + g * m, out.data, at + n, m);
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void transpose(PartOp.Transpose op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        int groups = op.groups();
        int length = op.length();
        CpuRows.Function row = (c, t, scratch) -> {
            int at = t * out.width;
            for (int g = 0; g < groups; g++) {
                for (int i = 0; i < length; i++) {
                    out.data[at + i * groups + g] = x.data[at + g * length + i];
                }
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void clamp(PartOp.Clamp op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        float least = op.least().map(weight -> to.binder.vector(weight)[0]).orElse(Float.NEGATIVE_INFINITY);
        float most = op.most().map(weight -> to.binder.vector(weight)[0]).orElse(Float.POSITIVE_INFINITY);
        CpuRows.Function row = (c, t, scratch) -> {
            for (int i = t * out.width; i < (t + 1) * out.width; i++) {
                out.data[i] = Math.min(Math.max(x.data[i], least), most);
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    /// Decodes the matrix once, as float32: its rows are added up, each times an element of `x`.
    private static void transposedLinear(PartOp.TransposedLinear op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), x.selected);
        float[] matrix = to.binder.vector(op.weight());
        to.reads(4L * op.weight().rows() * op.weight().cols());
        CpuRows.Function row = (c, t, scratch) -> {
            int at = t * out.width;
            Arrays.fill(out.data, at, at + out.width, 0);
            for (int r = 0; r < x.width; r++) {
                float factor = x.data[t * x.width + r];
                for (int i = 0; i < out.width; i++) {
                    out.data[at + i] += factor * matrix[r * out.width + i];
                }
            }
        };
        to.addPlain(op, op.weight().name(), new CpuRows(out, row));
    }

    private static Support heads(PartOp.HeadLinear op, OpSupport judge) {
        KernelSet.Linear kernel = judge.linear(op.weight());
        String weight = op.weight().name();
        return kernel.packed() != null
                ? new Support(Support.Level.FAST, "kernel " + kernel.name() + " for " + weight)
                : new Support(Support.Level.GENERIC, "plain Java for head_linear with " + weight);
    }

    /// The matrices of all heads are one matrix: the rows of the first head's, then those of the next.
    private static void headLinear(PartOp.HeadLinear op, Lowering to) {
        Weight w = op.weight();
        Activations x = to.pool.get(op.x());
        BoundLinear all =
                to.binder.linear(new Weight(w.name(), w.cols(), Math.multiplyExact(w.slices(), w.tensorRows())), null);
        boolean packs = all.packed() != null;
        to.reads(all.rowBytes() * w.rows() * w.slices());
        to.needs(new ThreadNeeds(
                packs ? 0 : w.cols(), 0, packs ? all.packed().kernel.scratchBytes(w.cols(), 1) : 0, 0));
        CpuHeadLinear kernel = new CpuHeadLinear(op, x, all, to.binder.format(w), to.pool.define(op.out(), x.selected));
        String name = packs ? all.kernelName() : Lowering.PLAIN;
        Support.Level level = packs ? Support.Level.FAST : Support.Level.GENERIC;
        to.add(kernel, new PlanReport.Kernel(op.kind(), w.name(), name, level));
    }
}
