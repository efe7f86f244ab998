package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.DeviceWeight;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What becomes of the layers of families that differ from Llama's.
class FamilyPlansTests {
    private static final int WIDTH = 512;
    private static final StepShape TOKEN = new StepShape(1, 1, false);

    private final TestGraphs t = new TestGraphs();
    private final GraphBuilder b = new GraphBuilder("test");

    private PlannedGraph plan(Value output, int tokens) {
        Graph graph = Fusion.fuse(b.build(output), KernelSupport::isFused);
        return t.plan(graph, TestGraphs.options(tokens, 4), TestGraphs.HOPPER, MvSchedule.DEFAULT);
    }

    private static List<String> entries(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream().map(Launch::entry).toList();
    }

    private Value linear(String name, Value x, Weight weight, boolean bias) {
        Optional<Weight> offsets = bias ? Optional.of(t.vector(name + ".bias", weight.rows())) : Optional.empty();
        return b.linear(name, x, weight, offsets);
    }

    private Value norm(String name, Value x) {
        return b.rmsNorm(name, x, t.vector(name + ".weight", WIDTH), 1e-5f);
    }

    private Value attend(Value q, Value k, Value v, RopeParams rope, AttentionParams params) {
        Value out = b.value("att", q.width());
        b.add(new CoreOp.Attention(b.rope("qr", q, rope), b.rope("kr", k, rope), v, 0, params, out));
        return out;
    }

    private static RopeParams rope() {
        return RopeParams.builder(64, RopeParams.Pairing.HALF_SPLIT, 10_000)
                .yarn(Optional.of(new Yarn(4, 128, 32, 1)))
                .attentionFactor(1.5f)
                .build();
    }

    private static AttentionParams heads() {
        return AttentionParams.builder(8, 2, 0.125f).build();
    }

    @Test
    void biasesRowsOfFusedTensorsAndYarnStayInTheFiveKernelsOfALayer() {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
        Value h = norm("attn_norm", x);
        Weight qkv = t.matrix("qkv", WIDTH, 768, "Q4_K");
        Value q = linear("q", h, qkv.rows(0, 512), true);
        Value k = linear("k", h, qkv.rows(512, 640), true);
        Value v = linear("v", h, qkv.rows(640, 768), true);
        Value o = linear("o", attend(q, k, v, rope(), heads()), t.matrix("o", 512, WIDTH, "Q4_K"), true);
        x = b.add("x1", x, o);
        Value g = norm("ffn_norm", x);
        Weight gateUp = t.matrix("gate_up", WIDTH, 2048, "Q4_K");
        Value gate = b.activate("act", linear("gate", g, gateUp.rows(0, 1024), false), Activation.GELU_TANH);
        Value m = b.multiply("m", gate, linear("up", g, gateUp.rows(1024, 2048), false));
        x = b.add("x2", x, linear("down", m, t.matrix("down", 1024, WIDTH, "Q4_K"), true));
        PlannedGraph planned = plan(b.selectRows("rows", x), 8);

        assertEquals(
                List.of(
                        "embedding_Q4_K",
                        "rope_table",
                        "qkv_Q4_K_Q4_K_t1",
                        "attention_f16_d64",
                        "linear_Q4_K_t1",
                        "gate_up_Q4_K_t1",
                        "linear_Q4_K_t1",
                        "select_rows"),
                entries(planned, TOKEN));
        Launch table = planned.launches(TOKEN).get(1);
        assertEquals(new Argument.Float(1.5f), table.arguments().getLast());
        List<DeviceWeight> views = planned.matrices().stream()
                .filter(w -> w.tensor().equals("qkv"))
                .toList();
        assertEquals(
                List.of(512, 128, 128), views.stream().map(DeviceWeight::rows).toList());
        long rowBytes = 144L * WIDTH / 256;
        DeviceWeight.Run keys = views.get(1).runs(t).getFirst();
        assertEquals(128 * rowBytes, keys.data().byteSize());
        assertEquals(0, keys.firstRow());
    }

    @Test
    void aViewOfSlicesHasARunInEach() {
        Weight experts = new Weight("gate_up_exps", WIDTH, 64, 3).rows(16, 48);
        t.matrix("gate_up_exps", WIDTH, 192, "F16");
        DeviceWeight weight = new DeviceWeight(null, experts, t.deviceFormat("F16"));
        List<DeviceWeight.Run> runs = weight.runs(t);
        assertEquals(96, weight.rows());
        assertArrayEquals(
                new int[] {0, 32, 64},
                runs.stream().mapToInt(DeviceWeight.Run::firstRow).toArray());
        for (DeviceWeight.Run run : runs) {
            assertEquals(32, run.rows());
            assertEquals(32L * 2 * WIDTH, run.data().byteSize());
        }
        assertEquals(
                64L * 2 * WIDTH,
                runs.get(1).data().address() - runs.get(0).data().address());
    }

    @Test
    void opsOfOneLayerHaveOneCacheAndAppendOnce() {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
        Value k = linear("k", x, t.matrix("k", WIDTH, 128, "Q4_K"), false);
        Value v = linear("v", x, t.matrix("v", WIDTH, 128, "Q4_K"), false);
        Value first = b.attention("first", x, k, v, 0, heads());
        Value second = b.attention("second", first, k, v, 0, heads());
        PlannedGraph planned = plan(b.selectRows("rows", second), 8);

        assertEquals(2, planned.cache().size(), "keys and values");
        assertEquals(
                List.of(
                        "embedding_Q4_K",
                        "qkv_Q4_K_Q4_K_t1",
                        "rope_append_f16",
                        "attention_f16_d64",
                        "attention_f16_d64",
                        "select_rows"),
                entries(planned, TOKEN));
        long appends = entries(planned, new StepShape(8, 1, false)).stream()
                .filter("rope_append_f16"::equals)
                .count();
        assertEquals(1, appends);
    }

    private Value turned(String name, Value x) {
        Value normed = b.rmsNorm(name + "_norm", x, t.vector(name + "_norm.weight", 64), 1e-5f);
        return b.rope(name + "_rope", normed, rope());
    }

    @Test
    void normedValuesTakeOneKernelMore() {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
        Value h = norm("attn_norm", x);
        Value k = turned("k", linear("k", h, t.matrix("k", WIDTH, 128, "Q4_K"), false));
        Value v = b.plainRmsNorm("v_norm", linear("v", h, t.matrix("v", WIDTH, 128, "Q4_K"), false), 2, 1e-5f);
        Value q = turned("q", linear("q", h, t.matrix("q", WIDTH, 512, "Q4_K"), false));
        Value first = b.attention("first", q, k, v, 0, heads());
        Value second = b.attention("second", first, k, v, 0, heads());
        PlannedGraph planned = plan(b.selectRows("rows", second), 8);

        assertEquals(
                List.of(
                        "embedding_Q4_K",
                        "rope_table",
                        "qkv_Q4_K_Q4_K_t1",
                        "rms_norm",
                        "attention_f16_d64",
                        "attention_f16_d64",
                        "select_rows"),
                entries(planned, TOKEN));
        Launch norm = planned.launches(TOKEN).get(3);
        assertEquals(norm.arguments().get(0), norm.arguments().get(3), "in place");
    }

    private PlannedGraph encoder(int tokens) {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "F16"));
        x = b.add("p", x, b.positionEmbedding("position", t.matrix("position_embd.weight", WIDTH, 40, "F16")));
        x = b.add(
                "t",
                x,
                b.repeat("type", t.matrix("token_types.weight", WIDTH, 2, "F32").rows(0, 1)));
        x = b.layerNorm("n", x, t.vector("n.weight", WIDTH), Optional.of(t.vector("n.bias", WIDTH)), 1e-5f);
        Value q = linear("q", x, t.matrix("q", WIDTH, 512, "F16"), true);
        Value k = linear("k", x, t.matrix("k", WIDTH, 128, "F16"), true);
        Value v = linear("v", x, t.matrix("v", WIDTH, 128, "F16"), true);
        AttentionParams params = heads().toBuilder()
                .causal(false)
                .sinks(Optional.of(t.vector("sinks", 8)))
                .build();
        x = linear("o", attend(q, k, v, rope(), params), t.matrix("o", 512, WIDTH, "F16"), false);
        return plan(b.pool("pool", x, Pooling.MEAN), tokens);
    }

    @Test
    void anEncoderAppendsAllRowsBeforeItAttends() {
        PlannedGraph planned = encoder(32);
        for (StepShape shape : List.of(new StepShape(4, 4, false), new StepShape(32, 4, false))) {
            List<Launch> launches = planned.launches(shape);
            List<String> entries = launches.stream().map(Launch::entry).toList();
            int append = entries.indexOf("rope_append_f16");
            assertTrue(append > 0 && entries.get(append + 1).startsWith("attention_"), entries::toString);
            List<Argument> arguments = launches.get(append + 1).arguments();
            // The kernel for many rows takes no bias of scores.
            int chunk = arguments.size() - (entries.get(append + 1).startsWith("attention_prefill_") ? 2 : 5);
            Argument.Address lasts = (Argument.Address) arguments.get(chunk - 4);
            assertEquals(planned.step().id(), lasts.buffer());
            assertEquals(planned.limits().layout(shape).lasts(), lasts.offsetBytes());
            assertNotEquals(Argument.Address.NULL, arguments.get(chunk - 5), "sinks");
            assertEquals("pool", entries.getLast());
            assertTrue(entries.containsAll(List.of("embedding_F16", "repeat", "layer_norm")), entries::toString);
        }
        assertEquals(0, planned.limits().maxSampledRows(), "the device cannot go on by itself");
        assertEquals(32, planned.limits().maxLogitRows(), "pooled in the run that has all rows");
    }

    @Test
    void aPositionBeyondTheTableIsRefused() {
        PlannedGraph planned = encoder(8);
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(1, 39, true);
        planned.limits().checkPositions(input, 1);
        IllegalArgumentException e = assertThrows(
                IllegalArgumentException.class, () -> planned.limits().checkPositions(input, 2));
        assertTrue(e.getMessage().contains("position 40") && e.getMessage().contains("0 to 39"), e.getMessage());
    }

    /// The kernels of a decoded token up to the row that is selected, without those before the layer.
    private List<String> layer(Value x) {
        List<String> entries = entries(plan(b.selectRows("rows", x), 8), TOKEN);
        return entries.subList(entries.indexOf("qkv_Q4_K_Q4_K_t1"), entries.size() - 1);
    }

    private Value embedding() {
        return b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
    }

    private Value project(String name, Value x, int rows) {
        return linear(name, x, t.matrix(name, x.width(), rows, "Q4_K"), false);
    }

    private Value gated(Value h) {
        Value gate = b.activate("act", project("gate", h, 1024), Activation.SILU);
        return b.multiply("m", gate, project("up", h, 1024));
    }

    @Test
    void aNormAfterABlockIsAddedInTheSameKernel() {
        Value x = embedding();
        Value h = norm("attn_norm", x);
        Value v = project("v", h, 128);
        Value a = attend(project("q", h, 512), project("k", h, 128), v, rope(), heads());
        x = b.add("x1", x, norm("post_attention_norm", project("o", a, WIDTH)));
        x = b.add("x2", x, norm("post_ffw_norm", project("down", gated(norm("ffn_norm", x)), WIDTH)));
        assertEquals(
                List.of(
                        "qkv_Q4_K_Q4_K_t1",
                        "attention_f16_d64",
                        "linear_Q4_K_t1",
                        "rms_norm_add",
                        "gate_up_Q4_K_t1",
                        "linear_Q4_K_t1",
                        "rms_norm_add"),
                layer(x));
    }

    @Test
    void aScaledResidualAndAScaledQueryCostNoKernel() {
        Value x = embedding();
        Value h = norm("attn_norm", x);
        Value q = b.positionScale("qs", b.rope("qr", project("q", h, 512), rope()), 0.1f, 0, 8192);
        Value k = b.rope("kr", project("k", h, 128), rope());
        Value a = b.value("att", 512);
        b.add(new CoreOp.Attention(q, k, project("v", h, 128), 0, heads(), a));
        x = b.add("x1", x, b.scale("s1", project("o", a, WIDTH), 0.25f));
        x = b.add("x2", x, b.scale("s2", project("down", gated(norm("ffn_norm", x)), WIDTH), 0.25f));
        PlannedGraph planned = plan(b.selectRows("rows", x), 8);
        List<Launch> launches = planned.launches(TOKEN);
        assertEquals(
                List.of("qkv_Q4_K_Q4_K_t1", "attention_f16_d64", "linear_Q4_K_t1", "gate_up_Q4_K_t1", "linear_Q4_K_t1"),
                launches.stream().skip(2).limit(5).map(Launch::entry).toList());
        List<Argument> attention = launches.get(3).arguments();
        assertEquals(
                List.of(new Argument.Float(0.1f), new Argument.Int(0), new Argument.Int(8192)),
                attention.subList(attention.size() - 8, attention.size() - 5));
        List<Argument> linear = launches.get(4).arguments();
        assertEquals(
                List.of(new Argument.Float(0.25f), new Argument.Int(-1)),
                linear.subList(linear.size() - 2, linear.size()));
        List<String> prompt = entries(planned, new StepShape(8, 1, false));
        assertEquals(2, prompt.stream().filter("scale"::equals).count(), prompt::toString);
    }

    @Test
    void normsOfWholeQueriesAndKeysAreOneKernelMore() {
        Value x = embedding();
        Value h = norm("attn_norm", x);
        Value q = b.rmsNorm("qn", project("q", h, 512), t.vector("q_norm", 512), 1e-5f);
        Value k = b.rmsNorm("kn", project("k", h, 128), t.vector("k_norm", 128), 1e-5f);
        Value a = attend(q, k, project("v", h, 128), rope(), heads());
        assertEquals(
                List.of("qkv_Q4_K_Q4_K_t1", "rms_norm_two", "attention_f16_d64", "linear_Q4_K_t1"),
                layer(b.add("x1", x, project("o", a, WIDTH))));
    }

    @Test
    void aParallelBlockWithoutRotationIsSixKernels() {
        Value x = embedding();
        Value h = b.layerNorm("n", x, t.vector("n.weight", WIDTH), Optional.empty(), 1e-5f);
        Value a = b.value("att", 512);
        b.add(new CoreOp.Attention(project("q", h, 512), project("k", h, 128), project("v", h, 128), 0, heads(), a));
        Value y = b.add("x1", x, project("o", a, WIDTH));
        y = b.add("x2", y, project("down", gated(h), WIDTH));
        List<String> entries = entries(plan(b.selectRows("rows", y), 8), TOKEN);
        assertEquals(
                List.of(
                                "embedding_Q4_K",
                                "layer_norm",
                                "qkv_Q4_K_Q4_K_t1",
                                "gate_up_Q4_K_t1",
                                "attention_f16_d64",
                                "linear_Q4_K_t1",
                                "linear_Q4_K_t1",
                                "select_rows")
                        .stream()
                        .sorted()
                        .toList(),
                entries.stream().sorted().toList());
    }

    @Test
    void anActivationWithoutAGateIsPartOfItsProjection() {
        Value x = embedding();
        Value h = norm("attn_norm", x);
        Value a = attend(project("q", h, 512), project("k", h, 128), project("v", h, 128), rope(), heads());
        x = b.add("x1", x, project("o", a, WIDTH));
        Value up = b.activate("act", project("up", norm("ffn_norm", x), 1024), Activation.RELU_SQUARED);
        x = b.add("x2", x, project("down", up, WIDTH));
        assertEquals(
                List.of("qkv_Q4_K_Q4_K_t1", "attention_f16_d64", "linear_Q4_K_t1", "linear_Q4_K_t1", "linear_Q4_K_t1"),
                layer(x));
    }

    @Test
    void longHeadsAreAppendedBeforeTheyAttend() {
        Value x = embedding();
        Value h = norm("attn_norm", x);
        AttentionParams params = AttentionParams.builder(4, 1, 0.05f).build();
        RopeParams long512 =
                RopeParams.builder(512, RopeParams.Pairing.HALF_SPLIT, 10_000).build();
        Value v = project("v", h, 512);
        Value a = attend(project("q", h, 2048), project("k", h, 512), v, long512, params);
        assertEquals(
                List.of("qkv_Q4_K_Q4_K_t1", "rope_append_f16", "attention_f16_dlong", "linear_Q4_K_t1"),
                layer(b.add("x1", x, project("o", a, WIDTH))));
    }

    @Test
    void aConvolutionActivatesItsResultAndTakesOneLaunch() {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
        Weight taps = t.matrix("conv", 4, WIDTH, "F32");
        Value conv = b.shortConvolution("c", x, taps, Optional.empty());
        x = b.add("x1", x, b.activate("act", conv, Activation.SILU));
        PlannedGraph planned = plan(b.selectRows("rows", x), 64);

        assertEquals(List.of("embedding_Q4_K", "short_convolution", "add", "select_rows"), entries(planned, TOKEN));
        StepShape prompt = new StepShape(64, 1, false);
        assertEquals(entries(planned, TOKEN), entries(planned, prompt));
        assertEquals(1, planned.states().size());
        assertEquals(3L * 4 * WIDTH, planned.states().getFirst().pageBytes());
        assertEquals(4, planned.limits().stateSlots());
        assertEquals(
                4 * planned.states().getFirst().pageBytes(),
                planned.states().getFirst().buffer().bytes());
    }

    @Test
    void headsAreExpertsOrderedOnceAStep() {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
        Weight to = t.matrices("k_b", 128, 256, 4, "Q8_0");
        Weight from = t.matrices("v_b", 256, 128, 4, "Q8_0");
        Value wide = b.headLinear("wide", x, to);
        PlannedGraph planned = plan(b.selectRows("rows", b.headLinear("back", wide, from)), 64);

        assertEquals(
                List.of("embedding_Q4_K", "expert_linear_Q8_0", "expert_linear_Q8_0", "select_rows"),
                entries(planned, TOKEN));
        List<String> prompt = entries(planned, new StepShape(64, 1, false));
        assertEquals(
                List.of("embedding_Q4_K", "expert_groups", "to_f16", "expert_matmul_Q8_0_n128"), prompt.subList(0, 4));
        assertEquals(1, prompt.stream().filter("expert_groups"::equals).count());
    }

    @Test
    void whatFewModelsAttendWithIsCompiledOutForTheOthersWhereCodeIsCompiled() {
        for (AttentionParams params :
                List.of(heads(), AttentionParams.builder(8, 2, 0.125f).chunk(64).build())) {
            GraphBuilder own = new GraphBuilder("attention");
            Value x = own.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
            Value q = own.linear("q", x, t.matrix("q", WIDTH, 512, "Q4_K"), Optional.empty());
            Value k = own.linear("k", x, t.matrix("k", WIDTH, 128, "Q4_K"), Optional.empty());
            Value out = own.value("att", 512);
            own.add(new CoreOp.Attention(q, k, k, 0, params, out));
            Graph graph = own.build(own.selectRows("rows", out));
            boolean plain = params.chunk() == 0;
            for (DeviceTraits traits : List.of(TestGraphs.HOPPER, TestGraphs.HOPPER.asOldest())) {
                PlannedGraph planned = t.plan(graph, TestGraphs.options(8, 4), traits, MvSchedule.DEFAULT);
                String module = planned.launches(TOKEN).stream()
                        .filter(l -> l.entry().startsWith("attention_"))
                        .map(l -> l.module().name())
                        .findFirst()
                        .orElseThrow();
                assertEquals(plain && traits.programmaticLaunch() ? "attention.plain" : "attention", module);
            }
        }
    }

    @Test
    void productsOfOneInputAndFormatShareLaunchesUnlessNothingIsFused() {
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "Q4_K"));
        Value h = norm("norm", x);
        Value sum = linear("a", h, t.matrix("a", WIDTH, 256, "Q4_K"), true);
        sum = b.activate("act", sum, Activation.SILU);
        for (String other : List.of("b", "c", "d")) {
            sum = b.add(other + "s", sum, linear(other, h, t.matrix(other, WIDTH, 256, "Q4_K"), false));
        }
        sum = b.add("es", sum, linear("e", h, t.matrix("e", WIDTH, 256, "Q6_K"), false));
        Graph graph = b.build(b.selectRows("rows", sum));
        PlanOptions fused = TestGraphs.options(64, 4);
        for (PlanOptions options : List.of(fused, fused.toBuilder().fuse(false).build())) {
            PlannedGraph planned = t.plan(graph, options, TestGraphs.HOPPER, MvSchedule.DEFAULT);
            List<String> token = entries(planned, TOKEN);
            List<String> prompt = entries(planned, new StepShape(64, 1, false));
            int apart = options.fuse() ? 0 : 4;
            assertEquals(options.fuse() ? 1 : 0, count(token, "qkv_Q4_K_Q4_K_t1"), token::toString);
            assertEquals(options.fuse() ? 1 : apart, count(token, "linear_Q4_K_t1"), token::toString);
            assertEquals(1, count(token, "linear_Q6_K_t1"));
            assertEquals(options.fuse() ? 2 : apart, count(prompt, "matmul_Q4_K_n64"), prompt::toString);
        }
    }

    private static long count(List<String> entries, String entry) {
        return entries.stream().filter(entry::equals).count();
    }
}
