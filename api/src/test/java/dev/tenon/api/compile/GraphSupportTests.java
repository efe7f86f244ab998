package dev.tenon.api.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Support;
import dev.tenon.api.device.Support.Level;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GraphSupportTests {
    private final GraphBuilder b = new GraphBuilder("test");
    private final Value x = b.embedding("x", new Weight("table", 12, 50));

    private static Support judged(Op op) {
        return op instanceof CoreOp.Activate
                ? new Support(Level.NONE, "no kernel for activate")
                : new Support(Level.FAST, "kernel " + op.kind());
    }

    @Test
    void anOpWithoutAKernelIsARefusalWithItsReason() {
        Value y = b.activate("y", x, Activation.SILU);
        List<Issue> issues = GraphSupport.refusals(b.build(y), GraphSupportTests::judged);
        assertEquals(1, issues.size(), issues::toString);
        assertEquals(ErrorCode.BACKEND_UNSUPPORTED, issues.getFirst().code());
        assertEquals("no kernel for activate", issues.getFirst().message());
    }

    @Test
    void rowsOfAllTokensAndRowsThatWantLogitsDoNotMeetInOneOp() {
        Value selected = b.selectRows("selected", x);
        List<Issue> issues = GraphSupport.refusals(b.build(b.add("sum", selected, x)), GraphSupportTests::judged);
        assertEquals(1, issues.size(), issues::toString);
        assertTrue(issues.getFirst().message().contains("op add reads"), issues::toString);
    }

    @Test
    void rowsThatWantLogitsMeetEachOther() {
        Value selected = b.selectRows("selected", x);
        assertEquals(
                List.of(), GraphSupport.refusals(b.build(b.add("sum", selected, selected)), GraphSupportTests::judged));
    }

    @Test
    void aCustomOpRunsAsWellAsTheWorstOpOfItsExpansion() {
        CoreOp.Linear linear =
                new CoreOp.Linear(x, new Weight("w", 12, 12), Optional.empty(), new Value(7, "product", 12));
        FusedOp.LinearAdd op =
                new FusedOp.LinearAdd(linear, x, new CoreOp.Add(linear.out(), x, new Value(8, "sum", 12)));
        assertEquals(
                Level.FAST, GraphSupport.of(op, true, GraphSupportTests::judged).level());
        assertEquals(
                Level.GENERIC,
                GraphSupport.of(op, false, GraphSupportTests::judged).level());
        Support none = GraphSupport.of(op, true, GraphSupport::unknown);
        assertEquals(Level.NONE, none.level());
        assertTrue(none.reason().startsWith("linear_add: op linear ("), none::reason);
    }
}
