package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.quant.formats.F32Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Which kernels add what adapters change.
class FoldedAdaptersTests {
    static Graph adapted(Graph graph) {
        List<Op> ops = new ArrayList<>();
        int next = graph.valueCount();
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Linear l) {
                Value base = new Value(next++, "base", l.out().width());
                Weight a = new Weight(l.weight().name() + ".a", l.x().width(), 4);
                Weight b = new Weight(l.weight().name() + ".b", 4, l.out().width());
                ops.add(new CoreOp.Linear(l.x(), l.weight(), l.bias(), base));
                ops.add(new LowRankAdd(l.x(), base, List.of(new LowRankAdd.Part(0, a, b, 1)), l.out()));
            } else {
                ops.add(op);
            }
        }
        return graph.withOps(ops);
    }

    private static List<String> kinds(Graph graph) {
        return graph.ops().stream().map(Op::kind).toList();
    }

    @Test
    void aDecoderIsFusedAsWithoutAdapters() {
        Graph plain = TinyModel.create(1, new F32Format(), true).graph();
        FoldedAdapters folded = FoldedAdapters.fuse(adapted(plain), CpuOps.ALL);
        assertEquals(kinds(FoldedAdapters.fuse(plain, CpuOps.ALL).graph()), kinds(folded.graph()));
        long linears =
                plain.ops().stream().filter(CoreOp.Linear.class::isInstance).count();
        assertEquals(linears, folded.adapters().size());
        assertTrue(kinds(FoldedAdapters.none(adapted(plain)).graph()).contains("low_rank_add"));
    }

    @Test
    void theRoutersAdapterStaysAnOpAndOthersDoNot() {
        GraphBuilder b = new GraphBuilder("experts");
        Optional<Weight> none = Optional.empty();
        Value x = b.embedding("embd", new Weight("embd", 64, 64));
        x = b.add("sum", x, b.linear("o", x, new Weight("o", 64, 64), none));
        Value h = b.rmsNorm("norm", x, new Weight("norm", 64, 1), 1e-5f);
        RouterParams params =
                RouterParams.builder(RouterParams.Gating.SIGMOID, 2).build();
        ExpertOp.Router router =
                b.router("router", b.linear("gate_inp", h, new Weight("gate_inp", 64, 8), none), params);
        Value up = b.activate(
                "act",
                b.expertLinear("up", h, router.chosen(), new Weight("up", 64, 64, 8), none),
                Activation.RELU_SQUARED);
        Value out = b.expertLinear("down", up, router.chosen(), new Weight("down", 64, 64, 8), none);
        Graph graph = b.build(b.add("end", x, b.weightedSum("moe", out, router.shares())));
        assertTrue(
                kinds(FoldedAdapters.fuse(graph, CpuOps.ALL).graph()).contains("norm_router"),
                "the layer fuses without adapters");
        FoldedAdapters folded = FoldedAdapters.fuse(adapted(graph), CpuOps.ALL);
        assertEquals(
                List.of("gate_inp.a"),
                folded.graph().ops().stream()
                        .filter(op -> op.kind().equals("low_rank_add"))
                        .map(op -> op.weights().getFirst().name())
                        .toList());
        assertEquals(1, folded.adapters().size());
        assertTrue(kinds(folded.graph()).contains("linear_add"), kinds(folded.graph())::toString);
    }
}
