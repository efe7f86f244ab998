package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.Op;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The table of the ops that the kernels run: a row for each class.
final class NvidiaOps {
    private static final Map<Class<?>, OpRow<?>> ROWS = new LinkedHashMap<>();

    static {
        Stream.of(
                        InputRows.ROWS,
                        ElementRows.ROWS,
                        NormRows.ROWS,
                        EncoderRows.ROWS,
                        ProductRows.ROWS,
                        ProjectionRows.ROWS,
                        AttentionOps.ROWS,
                        StateOps.ROWS,
                        ExpertRows.ROWS,
                        OwnOps.ROWS)
                .flatMap(List::stream)
                .forEach(row -> {
                    if (ROWS.put(row.type(), row) != null) {
                        throw new IllegalStateException("two rows for " + row.type());
                    }
                });
    }

    private NvidiaOps() {}

    /// {@return the row of an op: its class's, or an interface's; otherwise that of ops which nothing is known of}
    @SuppressWarnings("unchecked") // the op is of the row's type
    static OpRow<Op> row(Op op) {
        OpRow<?> own = ROWS.get(op.getClass());
        Stream<OpRow<?>> found = own != null
                ? Stream.of(own)
                : ROWS.values().stream()
                        .filter(row -> row.type().isInterface() && row.type().isInstance(op));
        return (OpRow<Op>) found.findFirst().orElse(OwnOps.UNKNOWN);
    }
}
