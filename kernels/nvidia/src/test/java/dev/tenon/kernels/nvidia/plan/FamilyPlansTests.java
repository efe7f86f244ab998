package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
        Graph graph = Fusion.fuse(b.build(output));
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
            Argument.Address lasts = (Argument.Address) arguments.getLast();
            assertEquals(planned.step().id(), lasts.buffer());
            assertEquals(planned.limits().layout(shape).lasts(), lasts.offsetBytes());
            assertNotEquals(Argument.Address.NULL, arguments.get(arguments.size() - 2), "sinks");
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
}
