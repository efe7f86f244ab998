package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuExpertLinear;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.op.RouterRows;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.lang.foreign.MemorySegment;

/// An op in plain Java, right and not made for speed: those of experts and encoders.
///
/// @param op the op
/// @param name what reports call it
/// @param kernel computes it
/// @param weightBytes weight bytes that a decoded token reads
/// @param scratchFloats floats that it needs on each thread
/// @param positions positions that it works for
record PlainOp(Op op, String name, CpuKernel kernel, long weightBytes, int scratchFloats, int positions) {
    private static final float[] NONE = new float[0];

    /// {@return an op with its arrays}
    ///
    /// @param op an op that is known here
    /// @param pool arrays of values
    /// @param binder weights
    static PlainOp of(Op op, ValuePool<Activations> pool, WeightBinder binder) {
        return switch (op) {
            case CoreOp.PositionEmbedding e -> positionEmbedding(e, pool, binder);
            case CoreOp.Repeat r -> {
                float[] row = binder.vector(r.row());
                Activations out = pool.define(r.out(), false);
                yield rows(
                        op,
                        r.row().name(),
                        out,
                        0,
                        (c, t, scratch) -> System.arraycopy(row, 0, out.data, t * out.width, out.width));
            }
            case CoreOp.SwigluOai s -> {
                Activations gate = pool.get(s.gate());
                Activations up = pool.get(s.up());
                Activations out = pool.define(s.out(), gate.selected);
                yield rows(op, s.out().name(), out, 0, (c, t, scratch) -> {
                    for (int i = t * out.width; i < (t + 1) * out.width; i++) {
                        float a = Math.min(gate.data[i], s.limit());
                        float b = Math.clamp(up.data[i], -s.limit(), s.limit());
                        out.data[i] = (float) (a / (1 + Math.exp(-s.alpha() * a)) * (b + 1));
                    }
                });
            }
            case CoreOp.Pool p -> {
                Activations x = pool.get(p.x());
                Activations out = pool.define(p.out(), true);
                yield rows(op, p.out().name(), out, 0, (c, r, scratch) -> pool(p.pooling(), c, x, r, out));
            }
            case ExpertOp.Router r -> {
                Activations logits = pool.get(r.logits());
                float[] bias = r.params().bias().map(binder::vector).orElse(NONE);
                Activations chosen = pool.define(r.chosen(), logits.selected);
                Activations shares = pool.define(r.shares(), logits.selected);
                RouterRows rows = new RouterRows(r.params(), bias, logits, chosen, shares);
                yield rows(op, r.chosen().name(), chosen, rows.scratchFloats(), rows);
            }
            case ExpertOp.ExpertLinear e -> expertLinear(e, pool, binder);
            case ExpertOp.WeightedSum s -> {
                Activations x = pool.get(s.x());
                Activations shares = pool.get(s.shares());
                Activations out = pool.define(s.out(), x.selected);
                yield rows(op, s.out().name(), out, 0, (c, t, scratch) -> weightedSum(x, shares, t, out));
            }
            default -> throw new IllegalStateException("op " + op.kind() + " passed the check but has no kernel");
        };
    }

    private static PlainOp rows(Op op, String name, Activations out, int scratchFloats, CpuRows.Function function) {
        return new PlainOp(op, name, new CpuRows(out, function), 0, scratchFloats, Integer.MAX_VALUE);
    }

    private static PlainOp positionEmbedding(
            CoreOp.PositionEmbedding e, ValuePool<Activations> pool, WeightBinder binder) {
        Weight table = e.table();
        QuantFormat format = binder.format(table);
        MemorySegment data = binder.data(table);
        long rowBytes = binder.rowBytes(table);
        Activations out = pool.define(e.out(), false);
        CpuRows.Function row = (c, t, scratch) ->
                format.dequantize(data, c.input().position(t) * rowBytes, out.data, t * out.width, out.width);
        return new PlainOp(e, table.name(), new CpuRows(out, row), rowBytes, 0, table.rows());
    }

    private static PlainOp expertLinear(ExpertOp.ExpertLinear e, ValuePool<Activations> pool, WeightBinder binder) {
        Weight weight = e.weight();
        Activations x = pool.get(e.x());
        Activations chosen = pool.get(e.chosen());
        float[] bias = e.bias().map(binder::vector).orElse(NONE);
        Activations out = pool.define(e.out(), x.selected);
        CpuKernel kernel = new CpuExpertLinear(e, x, chosen, binder.format(weight), binder.data(weight), bias, out);
        long bytes = binder.rowBytes(weight) * weight.rows() * e.used();
        return new PlainOp(e, weight.name(), kernel, bytes, weight.cols(), Integer.MAX_VALUE);
    }

    private static void pool(Pooling pooling, StepContext c, Activations x, int row, Activations out) {
        int token = c.token(true, row);
        int first = c.sequenceStart(token);
        int count = pooling == Pooling.CLS ? 1 : c.sequenceEnd(token) - first;
        for (int i = 0; i < out.width; i++) {
            double sum = 0;
            for (int t = first; t < first + count; t++) {
                sum += x.data[t * x.width + i];
            }
            out.data[row * out.width + i] = (float) (sum / count);
        }
    }

    private static void weightedSum(Activations x, Activations shares, int row, Activations out) {
        for (int i = 0; i < out.width; i++) {
            float sum = 0;
            for (int k = 0; k < shares.width; k++) {
                sum += shares.data[row * shares.width + k] * x.data[row * x.width + k * out.width + i];
            }
            out.data[row * out.width + i] = sum;
        }
    }
}
