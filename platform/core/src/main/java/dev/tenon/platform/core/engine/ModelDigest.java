package dev.tenon.platform.core.engine;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.core.tuned.TunedIdentity;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Tells models apart whose computed tokens differ: by the metadata of their files, the tensors' names, shapes and
/// types, some bytes of each, and how the graph rotates positions, which may depend on the length of the context.
final class ModelDigest {
    /// Bytes at the beginning, in the middle and at the end of a tensor.
    private static final long SAMPLE = 256;

    private ModelDigest() {}

    /// {@return how a graph rotates positions}
    static String positions(Graph graph) {
        return TunedIdentity.digest(graph.expanded().ops().stream()
                .filter(CoreOp.Rope.class::isInstance)
                .map(op -> ((CoreOp.Rope) op).params().toString())
                .toList());
    }

    /// {@return whether a graph rotates along the axes of pictures, and not by positions alone}
    static boolean turns(Graph graph) {
        return graph.expanded().ops().stream()
                .anyMatch(op ->
                        op instanceof CoreOp.Rope rope && !rope.params().turns().isEmpty());
    }

    /// {@return the digest}
    ///
    /// @param positions how the graph rotates positions
    /// @param files the model's file, then those of its adapters
    static String of(String positions, List<GgufFile> files) {
        List<String> facts = new ArrayList<>(List.of(positions));
        for (GgufFile file : files) {
            facts.add("file of " + file.sizeBytes());
            file.metadata()
                    .values()
                    .forEach(
                            (key, value) -> facts.add(key + " = " + Arrays.deepToString(new Object[] {value.value()})));
            for (TensorInfo tensor : file.tensors()) {
                facts.add(tensor.name() + " " + tensor.ggmlType() + " " + tensor.shape());
                facts.add(sample(file.data(tensor)));
            }
        }
        return TunedIdentity.digest(facts);
    }

    private static String sample(MemorySegment data) {
        long size = data.byteSize();
        long length = Math.min(SAMPLE, size);
        StringBuilder sample = new StringBuilder();
        for (long from : new long[] {0, (size - length) / 2, size - length}) {
            byte[] bytes = data.asSlice(from, length).toArray(ValueLayout.JAVA_BYTE);
            sample.append(Arrays.toString(bytes));
        }
        return sample.toString();
    }
}
