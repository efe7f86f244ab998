package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// The table of the ops that the backend runs: a row for each class. Immutable.
final class CpuOps {
    /// All ops of the api, and the rules for those of bundles.
    static final CpuOps ALL = new CpuOps(Stream.of(
                    InputRows.ROWS,
                    ElementRows.ROWS,
                    PartRows.ROWS,
                    LinearRows.ROWS,
                    AttentionRows.ROWS,
                    StateRows.ROWS,
                    ExpertRows.ROWS,
                    OwnRows.ROWS)
            .flatMap(List::stream));

    private final Map<Class<?>, OpRow<?>> rows = new LinkedHashMap<>();

    private CpuOps(Stream<OpRow<?>> rows) {
        rows.forEach(row -> {
            if (this.rows.put(row.type(), row) != null) {
                throw new IllegalArgumentException("two rows for " + row.type());
            }
        });
    }

    /// {@return this table and a further row}
    CpuOps with(OpRow<?> row) {
        return new CpuOps(Stream.concat(rows.values().stream(), Stream.of(row)));
    }

    /// {@return the row of an op, if its class or an interface of it has one}
    @SuppressWarnings("unchecked") // the op is of the row's type
    Optional<OpRow<Op>> row(Op op) {
        OpRow<?> own = rows.get(op.getClass());
        Stream<OpRow<?>> found = own != null
                ? Stream.of(own)
                : rows.values().stream()
                        .filter(row -> row.type().isInterface() && row.type().isInstance(op));
        return found.findFirst().map(row -> (OpRow<Op>) row);
    }

    /// {@return whether there is a kernel for the whole op}
    boolean isFused(CustomOp op) {
        return rows.containsKey(op.getClass());
    }
}
