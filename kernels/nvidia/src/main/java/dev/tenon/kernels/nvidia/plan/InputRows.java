package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.launch.Emission;
import dev.tenon.kernels.nvidia.launch.Slot;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.GivenInput;
import dev.tenon.kernels.nvidia.step.StepLayout;
import java.util.List;
import java.util.function.ToLongFunction;

/// Ops that make rows of tokens, positions and other rows, and those that leave some of the rows.
final class InputRows {
    static final List<OpRow<?>> ROWS = List.of(
            OpRow.matrix(
                    CoreOp.Embedding.class,
                    "embedding",
                    CoreOp.Embedding::table,
                    (e, plan) -> lookUp(e, e.table(), e.out(), StepLayout::tokens, plan)),
            OpRow.matrix(
                    CoreOp.PositionEmbedding.class,
                    "embedding",
                    CoreOp.PositionEmbedding::table,
                    (e, plan) -> lookUp(e, e.table(), e.out(), StepLayout::positions, plan)),
            OpRow.fast(CoreOp.Repeat.class, InputRows::repeat),
            OpRow.fast(CoreOp.SelectRows.class, InputRows::selectRows),
            OpRow.fast(CoreOp.Pool.class, InputRows::pool),
            OpRow.fast(GivenRows.class, InputRows::givenRows),
            OpRow.fast(ReplaceRows.class, InputRows::replaceRows),
            OpRow.fast(JoinRows.class, InputRows::joinRows));

    private InputRows() {}

    /// Rows of a table, by a number of each token.
    private static void lookUp(
            Op op, Weight of, Value outValue, ToLongFunction<StepLayout> numbers, GraphPlanner plan) {
        DeviceWeight table = plan.weights.matrix(of);
        Slot out = plan.pool.define(outValue, false);
        String entry = "embedding_" + table.format().id();
        KernelModule module = new KernelModule("embedding.cu", table.format().macros());
        long bytes = table.format().bytes(table.cols());
        plan.add(op, table.tensor(), entry, table.level(), false, bytes, to -> {
            to.launch(
                    module,
                    entry,
                    new Blocks(to.rows(out), 1, 1, 256, 0),
                    table.at(),
                    (long) table.rows(),
                    to.stepAt(numbers.applyAsLong(to.layout)),
                    to.out(out),
                    table.cols());
        });
    }

    private static void repeat(CoreOp.Repeat r, GraphPlanner plan) {
        BufferSpec row = plan.weights.floats(r.row());
        Slot out = plan.pool.define(r.out(), false);
        plan.add(r, r.row().name(), "repeat", false, row.bytes(), to -> {
            to.elementwise("repeat", (long) to.rows(out) * out.width, row.at(0), out.width, to.out(out));
        });
    }

    private static void givenRows(GivenRows g, GraphPlanner plan) {
        Slot out = plan.pool.define(g.out(), false);
        plan.add(g, g.out().name(), "given_rows", false, 0, to -> given(to, Argument.Address.NULL, out, plan));
    }

    /// Writes over what it replaces, where nothing else reads that.
    private static void replaceRows(ReplaceRows r, GraphPlanner plan) {
        Slot x = plan.pool.get(r.x());
        boolean inPlace = plan.readers.only(r.x()).isPresent();
        if (inPlace) {
            plan.pool.share(r.out(), x);
        }
        Slot out = inPlace ? x : plan.pool.define(r.out(), false);
        plan.add(r, r.out().name(), "given_rows", false, 0, to -> {
            if (!inPlace || to.shape.has(GivenInput.ROWS)) {
                given(to, to.at(x), out, plan);
            }
        });
    }

    /// @param x rows of tokens that come without one; null for zeros
    private static void given(Emission to, Argument.Address x, Slot out, GraphPlanner plan) {
        boolean there = to.shape.has(GivenInput.ROWS);
        to.elementwise(
                Emission.ENCODERS,
                "given_rows",
                (long) to.rows(out) * out.width,
                x,
                there ? to.stepAt(to.layout.given().has()) : Argument.Address.NULL,
                there ? to.stepAt(to.layout.given().given()) : Argument.Address.NULL,
                plan.given.width(),
                to.out(out),
                out.width);
    }

    private static void joinRows(JoinRows j, GraphPlanner plan) {
        Slot x = plan.pool.get(j.x());
        Slot out = plan.pool.define(j.out(), true);
        plan.add(j, j.out().name(), "join_rows", true, 0, to -> {
            to.launch(
                    Emission.ENCODERS,
                    "join_rows",
                    new Blocks(to.rows(out), 1, 1, 256, 0),
                    to.at(x),
                    to.stepAt(to.layout.logitRows()),
                    to.out(out),
                    x.width,
                    j.count());
        });
    }

    private static void selectRows(CoreOp.SelectRows s, GraphPlanner plan) {
        Slot x = plan.pool.get(s.x());
        Slot out = plan.pool.define(s.out(), true);
        // Outputs are read from their own memory.
        boolean copy = plan.readers.isOutput(s.out());
        plan.add(s, s.out().name(), "select_rows", true, 0, to -> {
            if (to.shape.rows() == 1 && !copy) {
                to.alias(out, x);
            } else {
                to.launch(
                        Emission.SMALL,
                        "select_rows",
                        new Blocks(to.rows(out), 1, 1, 256, 0),
                        to.at(x),
                        to.stepAt(to.layout.logitRows()),
                        to.out(out),
                        x.width);
            }
        });
    }

    private static void pool(CoreOp.Pool p, GraphPlanner plan) {
        Slot x = plan.pool.get(p.x());
        Slot out = plan.pool.define(p.out(), true);
        plan.add(p, p.out().name(), "pool", true, 0, to -> {
            to.launch(
                    Emission.SMALL,
                    "pool",
                    new Blocks(to.rows(out), (x.width + 255) / 256, 1, 256, 0),
                    to.at(x),
                    to.stepAt(to.layout.logitRows()),
                    to.stepAt(to.layout.sequences()),
                    to.out(out),
                    x.width,
                    to.rows(x),
                    p.pooling() == Pooling.CLS ? 1 : 0);
        });
    }
}
