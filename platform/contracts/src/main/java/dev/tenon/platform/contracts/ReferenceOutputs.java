package dev.tenon.platform.contracts;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.itest.testkit.Reference;
import java.util.HashMap;
import java.util.Map;

/// The outputs of the float64 reference, all computed at once and kept as float32.
final class ReferenceOutputs implements OpOutputs {
    private final Map<Integer, float[][]> rows = new HashMap<>();

    ReferenceOutputs(Graph graph, Weights weights, int[] tokens) {
        Reference.Sequence sequence = new Reference(graph, weights).newSequence();
        for (int t = 0; t < tokens.length; t++) {
            int token = t;
            sequence.feed(tokens[t], (value, row) -> keep(tokens.length, token, value, row));
        }
    }

    private void keep(int tokens, int token, Value value, double[] row) {
        float[] narrow = new float[row.length];
        for (int i = 0; i < row.length; i++) {
            narrow[i] = (float) row[i];
        }
        rows.computeIfAbsent(value.id(), id -> new float[tokens][])[token] = narrow;
    }

    @Override
    public float[][] of(Graph cut, boolean fuse) {
        Op last = cut.ops().getLast();
        Value value = last instanceof CoreOp.SelectRows select ? select.x() : cut.output();
        return rows.get(value.id());
    }

    @Override
    public void close() {
        rows.clear();
    }
}
