package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CentredConvolution;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuEmbedding;
import dev.tenon.backend.cpu.vector.op.CpuRows;
import dev.tenon.backend.cpu.vector.op.CpuSelectRows;
import dev.tenon.backend.cpu.vector.op.StepContext;
import dev.tenon.backend.cpu.vector.sequence.CpuShortConvolution;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Ops that make rows of tokens, positions and other rows, and those that leave some of the rows.
final class InputRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.fast(CoreOp.Embedding.class, InputRows::embedding),
            OpRow.plain(CoreOp.PositionEmbedding.class, InputRows::positionEmbedding),
            OpRow.plain(CoreOp.Repeat.class, InputRows::repeat),
            OpRow.fast(GivenRows.class, InputRows::given),
            OpRow.fast(ReplaceRows.class, InputRows::replace),
            OpRow.fast(CoreOp.SelectRows.class, InputRows::selectRows),
            OpRow.fast(JoinRows.class, InputRows::joinRows),
            OpRow.plain(CoreOp.Pool.class, InputRows::pool),
            OpRow.fast(CentredConvolution.class, InputRows::convolution));

    private InputRows() {}

    private static void embedding(CoreOp.Embedding e, Lowering to) {
        long rowBytes = to.binder.rowBytes(e.table());
        to.reads(rowBytes);
        to.limitVocabulary(e.table().rows());
        QuantFormat format = to.binder.format(e.table());
        String kernel = format.id().toLowerCase(Locale.ROOT) + ".decode";
        MemorySegment data = to.binder.data(e.table());
        to.add(e, e.table().name(), kernel, new CpuEmbedding(format, data, rowBytes, to.pool.define(e.out(), false)));
    }

    private static void positionEmbedding(CoreOp.PositionEmbedding e, Lowering to) {
        Weight table = e.table();
        QuantFormat format = to.binder.format(table);
        MemorySegment data = to.binder.data(table);
        long rowBytes = to.binder.rowBytes(table);
        Activations out = to.pool.define(e.out(), false);
        to.reads(rowBytes);
        to.limitPositions(table.rows());
        to.addPlain(
                e,
                table.name(),
                new CpuRows(
                        out,
                        (c, t, scratch) -> format.dequantize(
                                data, c.input().position(t) * rowBytes, out.data, t * out.width, out.width)));
    }

    private static void repeat(CoreOp.Repeat r, Lowering to) {
        float[] row = to.binder.vector(r.row());
        Activations out = to.pool.define(r.out(), false);
        CpuRows.Function copy = (c, t, scratch) -> System.arraycopy(row, 0, out.data, t * out.width, out.width);
        to.addPlain(r, r.row().name(), new CpuRows(out, copy));
    }

    private static void given(GivenRows g, Lowering to) {
        Activations out = to.pool.define(g.out(), false);
        CpuRows.Function copy = (c, t, scratch) -> {
            float[] row = c.input().row(t);
            if (row == null) {
                Arrays.fill(out.data, t * out.width, (t + 1) * out.width, 0);
            } else {
                System.arraycopy(row, 0, out.data, t * out.width, out.width);
            }
        };
        to.add(g, g.out().name(), Lowering.JAVA, new CpuRows(out, copy));
    }

    private static void replace(ReplaceRows op, Lowering to) {
        Activations x = to.pool.get(op.x());
        Activations out = to.pool.define(op.out(), false);
        CpuRows.Function copy = (c, t, scratch) -> {
            float[] row = c.input().row(t);
            int at = t * out.width;
            System.arraycopy(row == null ? x.data : row, row == null ? at : 0, out.data, at, out.width);
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, copy));
    }

    private static void selectRows(CoreOp.SelectRows s, Lowering to) {
        Activations x = to.pool.get(s.x());
        to.add(s, s.out().name(), Lowering.JAVA, new CpuSelectRows(x, to.pool.define(s.out(), true)));
    }

    private static void joinRows(JoinRows j, Lowering to) {
        Activations x = to.pool.get(j.x());
        Activations out = to.pool.define(j.out(), true);
        CpuRows.Function row = (c, r, scratch) -> {
            int first = c.token(true, r) - j.count() + 1;
            if (first < c.sequenceStart(c.token(true, r))) {
                throw new IllegalArgumentException("join_rows of " + j.count() + " rows at index " + c.token(true, r)
                        + " of a step; expected as many of the sequence up to there");
            }
            System.arraycopy(x.data, first * x.width, out.data, r * out.width, out.width);
        };
        to.add(j, j.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void convolution(CentredConvolution op, Lowering to) {
        Activations x = to.pool.get(op.x());
        float[] taps = CpuShortConvolution.byTap(to.binder.vector(op.weight()), op.taps());
        float[] bias = op.bias().map(to.binder::vector).orElseGet(() -> new float[x.width]);
        Activations out = to.pool.define(op.out(), false);
        CpuRows.Function row = (c, t, scratch) -> {
            System.arraycopy(bias, 0, out.data, t * x.width, x.width);
            int first = t - op.before();
            int end = Math.min(first + op.taps(), c.sequenceEnd(t));
            for (int from = Math.max(first, c.sequenceStart(t)); from < end; from++) {
                int tap = (from - first) * x.width;
                for (int i = 0; i < x.width; i++) {
                    out.data[t * x.width + i] += taps[tap + i] * x.data[from * x.width + i];
                }
            }
        };
        to.add(op, op.out().name(), Lowering.JAVA, new CpuRows(out, row));
    }

    private static void pool(CoreOp.Pool p, Lowering to) {
        Activations x = to.pool.get(p.x());
        Activations out = to.pool.define(p.out(), true);
        to.addPlain(p, p.out().name(), new CpuRows(out, (c, r, scratch) -> pool(p.pooling(), c, x, r, out)));
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
