package dev.tenon.platform.contracts.compare;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.graph.Graph;
import java.util.Map;
import java.util.stream.IntStream;

/// The outputs of a backend's ops: for each one, a graph that ends there is compiled and run.
///
/// All tokens but the last go in one step, the last one in another: prefill and decode often have kernels of
/// their own. Owns the device.
final class PlanOutputs implements OpOutputs {
    private final Side side;
    private final Device device;
    private final int[] tokens;

    /// @param side graph, weights and kernels
    /// @param device the open device; closed with this
    /// @param tokens token ids
    PlanOutputs(Side side, Device device, int[] tokens) {
        this.side = side;
        this.device = device;
        this.tokens = tokens;
    }

    @Override
    public float[][] of(Graph cut, boolean fuse) {
        PlanOptions options = PlanOptions.builder(tokens.length)
                .maxBatchTokens(tokens.length)
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .fuse(fuse)
                .settings(Map.of("warmup", "off"))
                .build();
        CompileRequest request = CompileRequest.builder(cut, side.weights(), options)
                .kernels(side.kernels())
                .build();
        float[][] rows = new float[tokens.length][cut.output().width()];
        try (Plan plan = device.compiler().compile(request)) {
            int[] pages = IntStream.range(0, plan.kvPages().pageCount()).toArray();
            int prefill = Math.max(1, tokens.length - 1);
            step(plan, pages, 0, prefill, rows);
            if (prefill < tokens.length) {
                step(plan, pages, prefill, tokens.length, rows);
            }
        }
        return rows;
    }

    private void step(Plan plan, int[] pages, int from, int to, float[][] rows) {
        StepInput input = new StepInput();
        input.addSequence(pages, 0);
        for (int t = from; t < to; t++) {
            input.addToken(tokens[t], t, true);
        }
        StepResult result = plan.run(input);
        for (int t = from; t < to; t++) {
            result.logits(t - from, rows[t]);
        }
    }

    @Override
    public void close() {
        device.close();
    }
}
