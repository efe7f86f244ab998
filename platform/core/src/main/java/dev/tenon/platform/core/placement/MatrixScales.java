package dev.tenon.platform.core.placement;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Factors of whole matrices, which files keep beside them because a format's own scales are too small: a tensor
/// `X.scale` of one float32 multiplies what the matrix `X.weight` gives. `X.input_scale` is for arithmetic that
/// rounds activations by it, which none of ours does.
///
/// Immutable.
final class MatrixScales {
    private static final String WEIGHT = ".weight";
    private static final String SCALE = ".scale";
    private static final String INPUT_SCALE = ".input_scale";
    private static final int F32 = 0;

    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /// By the matrix's name.
    private final Map<String, Float> factors = new HashMap<>();
    /// The tensors that need no op.
    private final Set<String> used = new HashSet<>();

    /// Finds the factors of a graph's matrices. One whose matrix is read by other ops than `linear` and `embedding`,
    /// such as those of experts, is left alone.
    ///
    /// @throws ModelFormatException (`MODEL-007`) if a factor is no finite number
    MatrixScales(GgufFile file, Graph graph) {
        Set<String> own = new HashSet<>();
        graph.weights().forEach(weight -> own.add(weight.name()));
        Set<String> others = new HashSet<>();
        for (Op op : graph.ops()) {
            op.weights().stream()
                    .filter(weight -> !weight.equals(matrix(op).orElse(null)))
                    .forEach(weight -> others.add(weight.name()));
        }
        for (String name : own) {
            String stem = name.endsWith(WEIGHT) ? name.substring(0, name.length() - WEIGHT.length()) : name;
            Optional<TensorInfo> scale =
                    file.tensor(stem + SCALE).filter(info -> info.elements() == 1 && info.ggmlType() == F32);
            if (scale.isPresent() && !others.contains(name) && !own.contains(stem + SCALE)) {
                factors.put(name, read(file, scale.get()));
                used.add(stem + SCALE);
            }
            used.add(stem + INPUT_SCALE);
        }
    }

    private static float read(GgufFile file, TensorInfo info) {
        float factor = file.data(info).get(FLOAT, 0);
        if (!Float.isFinite(factor)) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_DATA,
                    "Tensor " + info.name() + " in " + file.path().getFileName() + " holds " + factor
                            + "; expected a finite number, which multiplies a matrix. The file is damaged: download it"
                            + " again.");
        }
        return factor;
    }

    /// {@return the matrix of an op whose result can be multiplied}
    private static Optional<Weight> matrix(Op op) {
        return switch (op) {
            case CoreOp.Linear linear -> Optional.of(linear.weight());
            case CoreOp.Embedding embedding -> Optional.of(embedding.table());
            default -> Optional.empty();
        };
    }

    /// {@return whether a tensor of the file is accounted for: a factor that is applied, or one that nobody needs}
    ///
    /// @param tensor its name
    boolean uses(String tensor) {
        return used.contains(tensor);
    }

    /// Adds an op after each that reads a matrix with a factor; before it where there is a bias.
    ///
    /// @param graph the graph
    /// @return the graph, the same one if there is no factor
    Graph applyTo(Graph graph) {
        if (factors.isEmpty()) {
            return graph;
        }
        List<Op> ops = new ArrayList<>();
        int nextId = Math.max(graph.valueCount(), graph.expanded().valueCount());
        for (Op op : graph.ops()) {
            Float factor = matrix(op).map(weight -> factors.get(weight.name())).orElse(null);
            switch (op) {
                case CoreOp.Linear l
                when factor != null && l.bias().isPresent() -> {
                    Value scaled = new Value(nextId++, l.out().name() + ".scaled", l.x().width());
                    ops.add(new CoreOp.Scale(l.x(), factor, scaled));
                    ops.add(new CoreOp.Linear(scaled, l.weight(), l.bias(), l.out()));
                }
                case CoreOp.Linear l
                when factor != null -> {
                    Value product = unscaled(nextId++, l.out());
                    ops.add(new CoreOp.Linear(l.x(), l.weight(), l.bias(), product));
                    ops.add(new CoreOp.Scale(product, factor, l.out()));
                }
                case CoreOp.Embedding e
                when factor != null -> {
                    Value row = unscaled(nextId++, e.out());
                    ops.add(new CoreOp.Embedding(e.table(), row));
                    ops.add(new CoreOp.Scale(row, factor, e.out()));
                }
                default -> ops.add(op);
            }
        }
        return graph.withOps(ops);
    }

    private static Value unscaled(int id, Value out) {
        return new Value(id, out.name() + ".unscaled", out.width());
    }
}
