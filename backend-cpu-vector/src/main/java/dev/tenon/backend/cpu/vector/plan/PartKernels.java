package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.PartOp;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.math.LayerNormMath;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuRows;

/// Makes the kernels of ops on parts of a row.
final class PartKernels {
    private PartKernels() {}

    /// {@return a kernel that keeps parts of groups}
    ///
    /// @param op the op
    /// @param pool arrays of values
    static CpuKernel slice(PartOp.Slice op, ValuePool<Activations> pool) {
        Activations x = pool.get(op.x());
        Activations out = pool.define(op.out(), x.selected);
        int group = x.width / op.groups();
        int length = op.length();
        return new CpuRows(out, (c, t, scratch) -> {
            int from = t * x.width + op.from();
            for (int to = t * out.width; to < (t + 1) * out.width; to += length) {
                System.arraycopy(x.data, from, out.data, to, length);
                from += group;
            }
        });
    }

    /// {@return a kernel that norms groups, each with its weight}
    ///
    /// @param op the op
    /// @param pool arrays of values
    /// @param binder weights
    /// @param math adds squares up
    static CpuKernel groupedRmsNorm(
            PartOp.GroupedRmsNorm op, ValuePool<Activations> pool, WeightBinder binder, ElementMath math) {
        Activations x = pool.get(op.x());
        Activations out = pool.define(op.out(), x.selected);
        float[] weight = binder.vector(op.weight());
        int length = op.weight().cols();
        return new CpuRows(out, (c, t, scratch) -> {
            for (int g = 0; g < out.width; g += length) {
                int at = t * out.width + g;
                float factor = (float) (1 / Math.sqrt(math.sumOfSquares(x.data, at, length) / length + op.eps()));
                for (int i = 0; i < length; i++) {
                    out.data[at + i] = x.data[at + i] * factor * weight[g + i];
                }
            }
        });
    }

    /// {@return a kernel that norms groups, each with its weight, around their mean}
    ///
    /// @param op the op
    /// @param pool arrays of values
    /// @param binder weights
    static CpuKernel groupedLayerNorm(PartOp.GroupedLayerNorm op, ValuePool<Activations> pool, WeightBinder binder) {
        Activations x = pool.get(op.x());
        Activations out = pool.define(op.out(), x.selected);
        int length = op.weight().cols();
        LayerNormMath[] norms = new LayerNormMath[op.weight().rows()];
        for (int g = 0; g < norms.length; g++) {
            float[] weight = binder.vector(op.weight().rows(g, g + 1));
            norms[g] = new LayerNormMath(weight, new float[0], op.eps());
        }
        return new CpuRows(out, (c, t, scratch) -> {
            for (int g = 0; g < norms.length; g++) {
                norms[g].groups(x, t * out.width + g * length, out, 1);
            }
        });
    }

    /// {@return a kernel that norms groups without a weight}
    ///
    /// @param op the op
    /// @param pool arrays of values
    /// @param math adds squares up
    static CpuKernel plainRmsNorm(PartOp.PlainRmsNorm op, ValuePool<Activations> pool, ElementMath math) {
        Activations x = pool.get(op.x());
        Activations out = pool.define(op.out(), x.selected);
        int length = op.length();
        return new CpuRows(out, (c, t, scratch) -> {
            for (int at = t * out.width; at < (t + 1) * out.width; at += length) {
                float factor = (float) (1 / Math.sqrt(math.squares(x.data, at, length) / length + op.eps()));
                for (int i = at; i < at + length; i++) {
                    out.data[i] = x.data[i] * factor;
                }
            }
        });
    }

    /// {@return a kernel that puts groups of two values next to each other}
    ///
    /// @param op the op
    /// @param pool arrays of values
    static CpuKernel join(PartOp.Join op, ValuePool<Activations> pool) {
        Activations a = pool.get(op.a());
        Activations b = pool.get(op.b());
        Activations out = pool.define(op.out(), a.selected);
        int n = a.width / op.groups();
        int m = b.width / op.groups();
        return new CpuRows(out, (c, t, scratch) -> {
            for (int g = 0; g < op.groups(); g++) {
                int to = t * out.width + g * (n + m);
                System.arraycopy(a.data, t * a.width + g * n, out.data, to, n);
                System.arraycopy(b.data, t * b.width + g * m, out.data, to + n, m);
            }
        });
    }
}
