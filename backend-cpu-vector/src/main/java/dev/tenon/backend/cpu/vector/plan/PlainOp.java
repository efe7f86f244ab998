package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.ValuePool;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.op.StepContext;
import java.lang.foreign.MemorySegment;

/// An op in plain Java, right and not made for speed: those of encoders.
///
/// @param op the op
/// @param name what reports call it
/// @param kernel computes it
/// @param weightBytes weight bytes that a decoded token reads
/// @param scratchFloats floats that it needs on each thread
/// @param positions positions that it works for
record PlainOp(Op op, String name, CpuKernel kernel, long weightBytes, int scratchFloats, int positions) {
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
            case CoreOp.Pool p -> {
                Activations x = pool.get(p.x());
                Activations out = pool.define(p.out(), true);
                yield rows(op, p.out().name(), out, 0, (c, r, scratch) -> pool(p.pooling(), c, x, r, out));
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
}
