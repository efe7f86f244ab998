package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.RouterParams.Gating;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class GraphTests {
    private final GraphBuilder b = new GraphBuilder("test");
    private final Value x = b.embedding("x", new Weight("table", 12, 50));

    /// An op whose expansion is whatever a test says.
    private record Custom(Value in, Value out, Function<Custom, List<Op>> into) implements CustomOp {
        @Override
        public String kind() {
            return "my_op";
        }

        @Override
        public List<Value> inputs() {
            return List.of(in);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Op> expand() {
            return into.apply(this);
        }
    }

    private void refused(Value output, String... parts) {
        var e = assertThrows(IllegalArgumentException.class, () -> b.build(output));
        for (String part : parts) {
            assertTrue(e.getMessage().contains(part), e.getMessage());
        }
    }

    private void refusedExpansion(Function<Custom, List<Op>> into, String problem) {
        GraphBuilder fresh = new GraphBuilder("fresh");
        Value in = fresh.embedding("in", new Weight("table", 12, 50));
        Value out = fresh.value("y", 12);
        fresh.add(new Custom(in, out, into));
        var e = assertThrows(IllegalArgumentException.class, () -> fresh.build(out));
        for (String part : List.of("graph fresh", "my_op", problem)) {
            assertTrue(e.getMessage().contains(part), e.getMessage());
        }
    }

    @Test
    void expertsAreBuiltOfRouterExpertLinearsAndAWeightedSum() {
        RouterParams params =
                RouterParams.builder(Gating.SOFTMAX, 2).normalise(true).build();
        Weight gateUp = new Weight("gate_up", 12, 10, 8);
        Value logits = b.linear("logits", x, new Weight("router", 12, 8), Optional.empty());
        ExpertOp.Router router = b.router("moe", logits, params);
        Value gate = b.expertLinear("gate", x, router.chosen(), gateUp.rows(0, 5), Optional.empty());
        Value up = b.expertLinear("up", x, router.chosen(), gateUp.rows(5, 10), Optional.empty());
        Value hidden = b.multiply("hidden", b.activate("act", gate, Activation.SILU), up);
        Value down = b.expertLinear("down", hidden, router.chosen(), new Weight("down", 5, 12, 8), Optional.empty());
        Value sum = b.weightedSum("sum", down, router.shares());
        assertEquals(10, hidden.width());
        assertEquals(12, sum.width());
        Graph graph = b.build(sum);
        assertEquals(
                List.of("table", "router", "gate_up", "down"),
                graph.weights().stream().map(Weight::name).toList());
        assertEquals(gateUp, graph.weights().get(2), "the whole tensor, once");
    }

    private static Value attend(GraphBuilder b, Value q, Value k, Value v, int heads, int headsKv) {
        return b.attention("att", q, k, v, 5, heads, headsKv, 1);
    }

    @Test
    void opsOfOneCacheLayerReadTheSameKeysAndValues() {
        Value k = b.scale("k", x, 2);
        Value first = attend(b, x, k, x, 2, 2);
        Value second = attend(b, first, k, x, 2, 2);
        Value other = b.attention("att", second, k, x, 1, 2, 2, 1);
        Graph graph = b.build(other);
        assertEquals(
                List.of(other, first, second),
                graph.attentionLayers().stream().map(CoreOp.Attention::out).toList());
        assertEquals(
                List.of(other, first),
                graph.cacheLayers().stream().map(CoreOp.Attention::out).toList());
        refused(attend(b, second, x, x, 2, 2), "layer 5 of att", "not the same keys and values");
    }

    @Test
    void keysThatChoosePositionsHaveALayerOfTheCacheAndAreNoAttention() {
        Value one = b.slice("one", x, 1, 0, 1);
        Value positions = b.selectPositions("positions", x, one, x, 6, 3);
        Value out = b.value("out", x.width());
        CoreOp.Attention attention = new CoreOp.Attention(
                x, x, x, 5, AttentionParams.builder(1, 1, 1).build(), out);
        b.add(new SelectedAttention(attention, positions));
        Graph graph = b.build(out);
        assertEquals(List.of(attention), graph.attentionLayers());
        assertEquals(
                List.of(x, x),
                graph.cacheLayers().stream().map(CoreOp.Attention::k).toList());
        assertEquals(
                List.of(5, 6),
                graph.cacheLayers().stream().map(CoreOp.Attention::layer).toList());
        refused(b.selectPositions("again", x, one, x, 5, 3), "layer 5 of out");
    }

    @Test
    void attentionToRunsHasTwoLayersOfTheCache() {
        Value out = b.value("out", x.width());
        AttentionParams far = AttentionParams.builder(1, 1, 1).build();
        CoreOp.Attention near = new CoreOp.Attention(
                x, x, x, 0, far.toBuilder().slidingWindow(4).build(), out);
        CoreOp.Attention runs = new CoreOp.Attention(x, x, x, 1, far, out);
        b.add(new RunAttention(near, runs, 2, Optional.empty()));
        Graph graph = b.build(out);
        assertEquals(List.of(near, runs), graph.attentionLayers());
        assertEquals(List.of(near, runs), graph.cacheLayers());
        assertEquals(List.of(near), WindowLayers.of(graph).layers());
    }

    @Test
    void opsOfOneCacheLayerHoldHeadsTheSameWay() {
        attend(b, x, x, x, 6, 6);
        refused(attend(b, x, x, x, 3, 3), "layer 5 of att");
    }

    @Test
    void outputsAreNamedAndSurviveFusionAndExpansion() {
        Value hidden = b.linear("hidden", x, new Weight("w", 12, 12), Optional.empty());
        Value sum = b.add("sum", x, hidden);
        b.output("hidden", hidden);
        assertThrows(IllegalArgumentException.class, () -> b.output("hidden", sum));
        Graph graph = b.build(sum);
        assertEquals(Map.of("hidden", hidden), graph.outputs());
        Graph fused = Fusion.fuse(graph);
        assertEquals(graph.outputs(), fused.outputs());
        assertEquals(graph.ops(), fused.ops(), "a linear whose result is an output stays");
        assertEquals(graph.outputs(), fused.expanded().outputs());
    }

    @Test
    void withoutNamedOutputsTheSameOpsFuse() {
        Value sum = b.add("sum", x, b.linear("hidden", x, new Weight("w", 12, 12), Optional.empty()));
        Graph graph = b.build(sum);
        Graph fused = Fusion.fuse(graph);
        assertInstanceOf(FusedOp.LinearAdd.class, fused.ops().getLast());
        assertEquals(graph, fused.expanded());
    }

    @Test
    void anOutputThatNothingDefinesIsRefusedByName() {
        b.output("pooled", new Value(99, "nothing", 12));
        refused(x, "output pooled", "nothing [12]");
    }

    @Test
    void aValueIsReadAsItWasDefined() {
        Value narrow = new Value(x.id(), "x", 6);
        Value out = b.value("y", 6);
        b.add(new CoreOp.Scale(narrow, 2, out));
        refused(out, "scale", "x [6]", "x [12]");
    }

    @Test
    void twoValuesWithOneIdAreRefusedWithBothNames() {
        b.add(new CoreOp.Scale(x, 2, new Value(x.id(), "again", 12)));
        refused(x, "again [12]", "x [12]");
    }

    @Test
    void aTensorHasOneShape() {
        Value y = b.linear("y", x, new Weight("table", 12, 49), Optional.empty());
        refused(y, "table [12, 49]", "table [12, 50]");
    }

    @Test
    void anExpansionIntoItselfIsRefused() {
        refusedExpansion(op -> List.of(op), "expand into itself");
    }

    @Test
    void anExpansionIntoNothingIsRefused() {
        refusedExpansion(op -> List.of(), "expands into nothing");
    }

    @Test
    void anExpansionThatDefinesSomethingElseIsRefused() {
        refusedExpansion(
                op -> List.of(new CoreOp.Scale(op.in(), 2, new Value(77, "other", 12))), "reads y [12] before it is");
        refusedExpansion(
                op -> List.of(new CoreOp.Linear(
                        op.in(),
                        new Weight("w", 12, 6),
                        Optional.empty(),
                        new Value(op.out().id(), "y", 6))),
                "was defined as y [6]");
        refusedExpansion(
                op -> List.of(new CoreOp.Scale(new Value(78, "hidden", 12), 2, op.out())), "reads hidden [12] before");
    }

    @Test
    void anExpansionThatReadsAWeightWhichItsOpDoesNotListIsRefused() {
        refusedExpansion(
                op -> List.of(new CoreOp.RmsNorm(op.in(), Weight.vector("norm", 12), 0, op.out())),
                "reads weight norm [12, 1], which is not among its own");
    }

    @Test
    void twoExpansionsWithOneInnerIdAreRefused() {
        Function<Custom, List<Op>> into = op -> {
            Value inner = new Value(77, "inner", 12);
            return List.of(new CoreOp.Scale(op.in(), 2, inner), new CoreOp.Scale(inner, 2, op.out()));
        };
        Value once = b.value("once", 12);
        b.add(new Custom(x, once, into));
        assertEquals(3, b.build(once).expanded().ops().size());
        Value twice = b.value("twice", 12);
        b.add(new Custom(once, twice, into));
        refused(twice, "expansion of op my_op -> [twice [12]]", "inner [12], whose id 77");
    }

    @Test
    void anOpWithoutAResultIsRefused() {
        b.add(new Op() {
            @Override
            public String kind() {
                return "my_sink";
            }

            @Override
            public List<Value> outputs() {
                return List.of();
            }
        });
        refused(x, "my_sink", GraphTests.class.getName(), "defines no value");
    }

    @Test
    void aNestedExpansionThatDefinesItsResultIsTaken() {
        Value out = b.value("y", 12);
        b.add(new Custom(
                x,
                out,
                outer -> List.of(new Custom(
                        outer.in(), outer.out(), inner -> List.of(new CoreOp.Scale(inner.in(), 2, inner.out()))))));
        Graph graph = b.build(out);
        assertEquals(2, graph.expanded().ops().size());
        assertInstanceOf(CoreOp.Scale.class, graph.expanded().ops().getLast());
    }

    @Test
    void aGraphOfSomeOutputsHasTheirOpsOnly() {
        Value hidden = b.scale("hidden", b.selectRows("selected", x), 2);
        Value side = b.scale("side", x, 3);
        Value logits = b.linear("logits", hidden, new Weight("head", 12, 50), Optional.empty());
        b.output(Graph.HIDDEN, hidden);
        b.output("side", side);
        Graph graph = b.build(logits);
        Graph generating = graph.withOutputs(List.of(Graph.LOGITS));
        assertEquals(logits, generating.output());
        assertEquals(4, generating.ops().size());
        assertTrue(generating.outputs().isEmpty());
        Graph embedding = graph.withOutputs(List.of(Graph.HIDDEN));
        assertEquals(hidden, embedding.output());
        assertEquals(
                List.of("table"), embedding.weights().stream().map(Weight::name).toList());
        Graph both = graph.withOutputs(List.of(Graph.LOGITS, Graph.HIDDEN));
        assertEquals(Map.of(Graph.HIDDEN, hidden), both.outputs());
        var e = assertThrows(IllegalArgumentException.class, () -> graph.withOutputs(List.of("other")));
        assertTrue(e.getMessage().contains("no output other; it has logits, hidden, side"), e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> graph.withOutputs(List.of()));
    }
}
