package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// The table of the ops that have a reference: a row for each class. Immutable.
public final class ReferenceOps {
    /// All ops of the api, and those of bundles that compute themselves.
    public static final ReferenceOps ALL = new ReferenceOps(Stream.of(
                    ElementOps.ROWS,
                    RowOps.ROWS,
                    AttentionOp.ROWS,
                    StateOps.ROWS,
                    ExpertOps.ROWS,
                    List.of(OpReference.rows(ReferenceOp.class, ReferenceOps::evaluate)
                            .terms(ReferenceOps::inputs)))
            .flatMap(List::stream));

    private final Map<Class<?>, OpReference<?>> rows = new LinkedHashMap<>();

    private ReferenceOps(Stream<? extends OpReference<?>> rows) {
        rows.forEach(row -> {
            if (this.rows.put(row.type(), row) != null) {
                throw new IllegalArgumentException("two references for " + row.type());
            }
        });
    }

    /// {@return this table and a further row}
    ///
    /// @param row of a class that has none
    public ReferenceOps with(OpReference<?> row) {
        return new ReferenceOps(Stream.concat(rows.values().stream(), Stream.of(row)));
    }

    /// {@return the row of an op, if its class or an interface of it has one}
    ///
    /// @param op any op
    @SuppressWarnings("unchecked") // the op is of the row's type
    public Optional<OpReference<Op>> row(Op op) {
        OpReference<?> own = rows.get(op.getClass());
        Stream<OpReference<?>> found = own != null
                ? Stream.of(own)
                : rows.values().stream()
                        .filter(row -> row.type().isInterface() && row.type().isInstance(op));
        return found.findFirst().map(row -> (OpReference<Op>) row);
    }

    private static double[][] evaluate(ReferenceOp op, double[][] in, Step step, int t) {
        return op.evaluate(in, op.weights().stream().map(step.weights::all).toArray(float[][]::new));
    }

    /// How many terms a sum of an op that a bundle defines may have: a row of its inputs.
    private static int inputs(ReferenceOp op) {
        return Math.max(1, op.inputs().stream().mapToInt(Value::width).sum());
    }
}
