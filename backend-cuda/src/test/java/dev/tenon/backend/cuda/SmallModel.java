package dev.tenon.backend.cuda;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.quant.formats.F16Format;
import dev.tenon.quant.formats.F32Format;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A model of one layer, all of whose weights are zero.
final class SmallModel implements Weights {
    private static final int WIDTH = 64;
    private static final int VOCABULARY = 32;

    private final Map<String, Weight> weights = new HashMap<>();
    private final Map<String, QuantFormat> formats = new HashMap<>();
    private final Arena arena = Arena.ofAuto();

    /// {@return what a plan for it is compiled from}
    ///
    /// @param kvTokens positions of the cache
    static CompileRequest request(int kvTokens) {
        return request(kvTokens, Map.of());
    }

    /// {@return what a plan for it is compiled from}
    ///
    /// @param kvTokens positions of the cache
    /// @param settings of the plan
    static CompileRequest request(int kvTokens, Map<String, String> settings) {
        return request(kvTokens, settings, List.of());
    }

    /// {@return what a plan for it is compiled from}
    ///
    /// @param kvTokens positions of the cache
    /// @param settings of the plan
    /// @param kernels kernels of other bundles
    static CompileRequest request(int kvTokens, Map<String, String> settings, List<KernelProvider> kernels) {
        SmallModel model = new SmallModel();
        PlanOptions options = PlanOptions.builder(kvTokens)
                .maxBatchTokens(8)
                .maxSequences(2)
                .settings(settings)
                .build();
        return CompileRequest.builder(model.graph(), model, options)
                .kernels(kernels)
                .build();
    }

    /// {@return a step of one token at position 0, whose logits are wanted}
    static StepInput step() {
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(1, 0, true);
        return input;
    }

    private Graph graph() {
        GraphBuilder b = new GraphBuilder("small");
        RopeParams rope =
                RopeParams.builder(64, RopeParams.Pairing.HALF_SPLIT, 10_000).build();
        Weight table = weight("table", VOCABULARY, new F16Format());
        Value x = b.embedding("x", table);
        Value h = b.rmsNorm("h", x, weight("norm", 0, new F32Format()), 1e-5f);
        Value q = b.linear("q", h, weight("wq", WIDTH, new F16Format()), Optional.empty());
        Value k = b.linear("k", h, weight("wk", WIDTH, new F16Format()), Optional.empty());
        Value v = b.linear("v", h, weight("wv", WIDTH, new F16Format()), Optional.empty());
        Value a = b.attention("a", b.rope("qr", q, rope), b.rope("kr", k, rope), v, 0, 1, 1, 0.125f);
        x = b.add("x1", x, b.linear("o", a, weight("wo", WIDTH, new F16Format()), Optional.empty()));
        return b.build(b.linear("logits", b.selectRows("s", x), table, Optional.empty()));
    }

    /// A matrix, or a vector if it has no rows.
    private Weight weight(String name, int rows, QuantFormat format) {
        Weight weight = rows == 0 ? Weight.vector(name, WIDTH) : new Weight(name, WIDTH, rows);
        weights.put(name, weight);
        formats.put(name, format);
        return weight;
    }

    @Override
    public TensorInfo info(String name) {
        throw new UnsupportedOperationException("planning does not ask for tensor info");
    }

    @Override
    public QuantFormat format(String name) {
        return formats.get(name);
    }

    @Override
    public MemorySegment data(String name) {
        Weight w = weights.get(name);
        return arena.allocate(formats.get(name).bytesFor(w.cols()) * w.rows(), 64);
    }
}
