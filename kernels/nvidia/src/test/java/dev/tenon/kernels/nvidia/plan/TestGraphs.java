package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceFormats;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.quant.formats.BF16Format;
import dev.tenon.quant.formats.F16Format;
import dev.tenon.quant.formats.F32Format;
import dev.tenon.quant.formats.IQ4_NLFormat;
import dev.tenon.quant.formats.IQ4_XSFormat;
import dev.tenon.quant.formats.MXFP4Format;
import dev.tenon.quant.formats.Q2_KFormat;
import dev.tenon.quant.formats.Q3_KFormat;
import dev.tenon.quant.formats.Q4_0Format;
import dev.tenon.quant.formats.Q4_1Format;
import dev.tenon.quant.formats.Q4_KFormat;
import dev.tenon.quant.formats.Q5_0Format;
import dev.tenon.quant.formats.Q5_1Format;
import dev.tenon.quant.formats.Q5_KFormat;
import dev.tenon.quant.formats.Q6_KFormat;
import dev.tenon.quant.formats.Q8_0Format;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Decoder models for planning: weights of any format, all zero.
public final class TestGraphs implements Weights {
    /// A large Hopper device.
    public static final DeviceTraits HOPPER = new DeviceTraits(9, 0, 132, 232448);
    /// A small Ampere device.
    public static final DeviceTraits ORIN = new DeviceTraits(8, 7, 16, 166912);

    private static final Map<String, QuantFormat> FORMATS = new HashMap<>();

    static {
        List<QuantFormat> all = List.of(
                new F32Format(),
                new F16Format(),
                new BF16Format(),
                new Q8_0Format(),
                new Q6_KFormat(),
                new Q5_KFormat(),
                new Q4_KFormat(),
                new Q3_KFormat(),
                new Q2_KFormat(),
                new Q4_0Format(),
                new Q4_1Format(),
                new Q5_0Format(),
                new Q5_1Format(),
                new IQ4_NLFormat(),
                new IQ4_XSFormat(),
                new MXFP4Format(),
                new Unknown("RARE", new Q5_1Format(), Optional.empty()),
                new Unknown("LAID", new Q5_0Format(), new Q5_0Format().layout()));
        all.forEach(f -> FORMATS.put(f.id(), f));
    }

    /// A format that no kernel knows, with the blocks of another one; kernels can be made of its layout.
    private record Unknown(String id, QuantFormat blocks, Optional<BlockLayout> layout) implements QuantFormat {
        @Override
        public int ggmlType() {
            return 1000;
        }

        @Override
        public int blockSize() {
            return blocks.blockSize();
        }

        @Override
        public int blockBytes() {
            return blocks.blockBytes();
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            blocks.dequantize(source, offsetBytes, target, targetOffset, n);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.empty();
        }
    }

    private final Map<String, Weight> weights = new HashMap<>();
    private final Map<String, QuantFormat> formats = new HashMap<>();
    private final Arena arena = Arena.ofAuto();

    public static QuantFormat named(String id) {
        return FORMATS.get(id);
    }

    /// A model of two layers like Llama's, or, with `qkNorm`, like Qwen3's.
    public Graph decoder(String format, String valueFormat, boolean qkNorm) {
        int width = 512;
        int headDim = 64;
        int heads = 8;
        int kvHeads = 2;
        GraphBuilder b = new GraphBuilder("test");
        RopeParams rope = RopeParams.builder(headDim, RopeParams.Pairing.HALF_SPLIT, 10_000)
                .build();
        Weight table = matrix("token_embd.weight", width, 1000, format);
        Value x = b.embedding("x", table);
        for (int layer = 0; layer < 2; layer++) {
            String p = "blk." + layer + ".";
            Value h = b.rmsNorm(p + "n", x, vector(p + "attn_norm.weight", width), 1e-5f);
            Value q = b.linear(p + "q", h, matrix(p + "q", width, heads * headDim, format), Optional.empty());
            Value k = b.linear(p + "k", h, matrix(p + "k", width, kvHeads * headDim, format), Optional.empty());
            Value v = b.linear(p + "v", h, matrix(p + "v", width, kvHeads * headDim, valueFormat), Optional.empty());
            if (qkNorm) {
                q = b.rmsNorm(p + "qn", q, vector(p + "q_norm", headDim), 1e-6f);
                k = b.rmsNorm(p + "kn", k, vector(p + "k_norm", headDim), 1e-6f);
            }
            q = b.rope(p + "qr", q, rope);
            k = b.rope(p + "kr", k, rope);
            Value a = b.attention(p + "a", q, k, v, layer, heads, kvHeads, 0.125f);
            Value o = b.linear(p + "o", a, matrix(p + "o", heads * headDim, width, format), Optional.empty());
            x = b.add(p + "x1", x, o);
            Value g = b.rmsNorm(p + "n2", x, vector(p + "ffn_norm", width), 1e-5f);
            Value gate = b.linear(p + "gate", g, matrix(p + "gate", width, 1024, format), Optional.empty());
            Value up = b.linear(p + "up", g, matrix(p + "up", width, 1024, format), Optional.empty());
            Value m = b.multiply(p + "m", b.activate(p + "act", gate, Activation.SILU), up);
            Value d = b.linear(p + "d", m, matrix(p + "down", 1024, width, valueFormat), Optional.empty());
            x = b.add(p + "x2", x, d);
        }
        Value s = b.rmsNorm("out", b.selectRows("s", x), vector("output_norm", width), 1e-5f);
        return b.build(b.linear("logits", s, table, Optional.empty()));
    }

    /// A model of one layer of experts, like Qwen3's, without attention; `shared` adds a shared expert.
    public Graph experts(String format, int experts, int used, boolean shared) {
        int width = 512;
        int feedForward = 256;
        GraphBuilder b = new GraphBuilder("experts");
        Value x = b.embedding("x", matrix("token_embd.weight", width, 1000, format));
        Value h = b.rmsNorm("n", x, vector("ffn_norm", width), 1e-5f);
        Value logits = b.linear("logits", h, matrix("ffn_gate_inp", width, experts, "F32"), Optional.empty());
        RouterParams params = RouterParams.builder(RouterParams.Gating.SOFTMAX, used)
                .normalise(true)
                .build();
        var router = b.router("router", logits, params);
        Weight gates = matrices("gate_exps", width, feedForward, experts, format);
        Weight ups = matrices("up_exps", width, feedForward, experts, format);
        Weight downs = matrices("down_exps", feedForward, width, experts, format);
        Value gate = b.expertLinear("gate", h, router.chosen(), gates, Optional.empty());
        Value up = b.expertLinear("up", h, router.chosen(), ups, Optional.empty());
        Value m = b.multiply("m", b.activate("act", gate, Activation.SILU), up);
        Value down = b.expertLinear("down", m, router.chosen(), downs, Optional.empty());
        Value sum = b.weightedSum("sum", down, router.shares());
        if (shared) {
            Value g = b.linear("sg", h, matrix("gate_shexp", width, feedForward, format), Optional.empty());
            Value u = b.linear("su", h, matrix("up_shexp", width, feedForward, format), Optional.empty());
            Value s = b.multiply("sm", b.activate("sact", g, Activation.SILU), u);
            sum = b.add(
                    "both", sum, b.linear("sd", s, matrix("down_shexp", feedForward, width, format), Optional.empty()));
        }
        return b.build(b.selectRows("rows", b.add("x1", x, sum)));
    }

    public Weight matrices(String name, int cols, int rows, int slices, String format) {
        Weight weight = new Weight(name, cols, rows, slices);
        weights.put(name, weight);
        formats.put(name, named(format));
        return weight;
    }

    /// Plans a graph of these weights.
    public PlannedGraph plan(
            Graph graph, PlanOptions options, DeviceTraits traits, MvSchedule schedule, KernelProvider... offered) {
        return GraphPlanner.plan(new PlanRequest(
                graph,
                this,
                options,
                new DeviceFormats(KernelSupport.fragments(List.of(offered)), () -> true),
                KernelSupport.ownOps(List.of(offered)),
                KernelSupport.libraries(List.of(offered)),
                traits,
                schedule));
    }

    DeviceFormat deviceFormat(String id) {
        return DeviceFormats.OWN.of(named(id));
    }

    Weight matrix(String name, int cols, int rows, String format) {
        Weight weight = new Weight(name, cols, rows);
        weights.put(name, weight);
        formats.put(name, named(format));
        return weight;
    }

    Weight vector(String name, int length) {
        Weight weight = Weight.vector(name, length);
        weights.put(name, weight);
        formats.put(name, new F32Format());
        return weight;
    }

    public static PlanOptions options(int maxTokens, int maxSequences) {
        return PlanOptions.builder(4096)
                .maxBatchTokens(maxTokens)
                .maxSequences(maxSequences)
                .build();
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
        return arena.allocate(formats.get(name).bytesFor(w.cols()) * w.rows() * w.slices(), 64);
    }
}
