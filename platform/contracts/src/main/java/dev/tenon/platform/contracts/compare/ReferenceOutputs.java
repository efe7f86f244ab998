package dev.tenon.platform.contracts.compare;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// The outputs of the float64 reference, all computed at once and kept as float32.
final class ReferenceOutputs implements OpOutputs {
    private final Map<Integer, float[][]> rows = new HashMap<>();

    ReferenceOutputs(Graph graph, Weights weights, int[] tokens) {
        Reference.Sequence sequence = new Reference(graph, weights).newSequence();
        // The steps of PlanOutputs: what an encoder's token sees depends on them.
        int prefill = Math.max(1, tokens.length - 1);
        sequence.feed(Arrays.copyOf(tokens, prefill), (value, row) -> keep(tokens.length, 0, value, row));
        if (prefill < tokens.length) {
            int[] last = {tokens[prefill]};
            sequence.feed(last, (value, row) -> keep(tokens.length, prefill, value, row));
        }
    }

    private void keep(int tokens, int from, Value value, double[][] computed) {
        float[][] kept = rows.computeIfAbsent(value.id(), id -> new float[tokens][]);
        for (int t = 0; t < computed.length; t++) {
            kept[from + t] = new float[computed[t].length];
            for (int i = 0; i < computed[t].length; i++) {
                kept[from + t][i] = (float) computed[t][i];
            }
        }
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
