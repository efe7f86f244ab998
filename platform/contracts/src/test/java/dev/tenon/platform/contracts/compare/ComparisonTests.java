package dev.tenon.platform.contracts.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.tenon.api.device.Backend;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.models.OwnOp;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import dev.tenon.platform.contracts.compare.Comparison.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The first op that is wrong is named, and nothing is named where all are right.
class ComparisonTests {
    private static final int[] TOKENS = {5, 36, 0, 17, 4, 4, 31};
    private static final Tolerances STRICT = new Tolerances(false);

    private Model model;

    @BeforeEach
    void makeModel() {
        Shape shape = new Shape(3, 64, 4, 2, 16, 96, 67);
        model = RandomModels.qwen3Like(3, TestFormats.F32, shape);
    }

    @AfterEach
    void closeModel() {
        model.close();
    }

    private Side side(Graph graph, Optional<Backend> backend) {
        return new Side(
                backend.map(Backend::id).orElse(Side.REFERENCE), graph, model.weights(), backend, "", List.of());
    }

    private CompareReport compare(Backend backend) {
        Side left = side(model.graph(), Optional.of(backend));
        Comparison comparison = new Comparison(left, side(model.graph(), Optional.empty()), TOKENS, STRICT);
        List<Step> steps = new ArrayList<>(comparison.unfused(op -> {}));
        if (steps.stream().noneMatch(Step::diverges)) {
            steps.addAll(comparison.fused(op -> {}));
        }
        return new CompareReport("test", TOKENS.length, left.label(), "reference", comparison.graphsDiffer(), steps);
    }

    private static Op geluInLayer1(Op op) {
        return op instanceof CoreOp.Activate a && a.out().name().startsWith("blk.1.")
                ? new CoreOp.Activate(a.x(), Activation.GELU_TANH, a.out())
                : op;
    }

    private static Op otherEpsInLayer2(Op op) {
        return op instanceof CoreOp.RmsNorm n && n.out().name().equals("blk.2.k_norm")
                ? new CoreOp.RmsNorm(n.x(), n.weight(), 0.01f, n.out())
                : op;
    }

    private static Backend cpu() {
        Backend cpu = ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(b -> b.id().equals("cpu-vector"))
                .findFirst()
                .orElseThrow();
        assumeTrue(cpu.probe().available(), () -> cpu.probe().reason());
        return cpu;
    }

    @Test
    void anOpOfABundleIsComparedLikeOthers() {
        model.close();
        model = RandomModels.ops("own", 3, 64, TestFormats.F32, (b, x) -> {
            OwnOp own = new OwnOp(x, x, new Weight("m", 64, 64), -2, b.value("own", 64), b.value("top", 1));
            b.add(own);
            return b.scale("half", own.sum(), 0.5f);
        });
        CompareReport report = compare(cpu());
        assertTrue(report.same(), report.table(true));
        assertTrue(report.steps().stream().anyMatch(step -> step.op().equals(OwnOp.KIND)), report.table(true));
    }

    @Test
    void aSingleSumThatIsAlmostZeroIsNoDivergence() {
        float[][] right = {{-1.5f}, {2e-4f}, {0.75f}, {2}};
        float[][] rounded = {{-1.5f}, {2e-4f + 1e-6f}, {0.75f}, {2}};
        double bound = STRICT.exact(64);
        assertTrue(Comparison.worst(rounded, right).error() <= bound, "relative to the other tokens' sums");
        float[][] wrong = {{-1.5f}, {2e-4f + 1e-3f}, {0.75f}, {2}};
        assertEquals(1, Comparison.worst(wrong, right).token());
        assertTrue(Comparison.worst(wrong, right).error() > bound);
        assertTrue(Double.isNaN(Comparison.worst(new float[][] {{Float.NaN}}, new float[][] {{0}})
                .error()));
    }

    @Test
    void theCpuBackendAndTheReferenceAgreeOpByOp() {
        CompareReport report = compare(cpu());
        assertTrue(report.same(), report.table(true));
        int ops = model.graph().ops().size();
        List<Step> fused = report.steps().stream().filter(Step::fused).toList();
        assertEquals(ops, report.steps().size() - fused.size(), "ops without fusion");
        // Attention with what is in front of it, and three more a layer; around them the embedding, row selection,
        // norm and logits.
        assertEquals(4 * 3 + 4, fused.size(), report.table(true));
        assertTrue(report.steps().stream().anyMatch(step -> step.error() > 0), "no rounding at all is seen");
    }

    @Test
    void theWrongOpIsNamedWithItsLayer() {
        Backend wrong = new WrongBackend(new ReferenceBackend(), ComparisonTests::geluInLayer1, request -> true, false);
        CompareReport report = compare(wrong);
        Step found = report.divergence().orElseThrow();
        assertEquals("activate", found.op());
        assertEquals(1, found.layer());
        assertEquals("blk.1.ffn_act", found.value());
        assertFalse(found.fused());
        assertTrue(found.inputs() < 1e-5, "its inputs are right: " + found);
        String table = report.table(false);
        assertTrue(table.contains("First divergence: layer 1, op activate (blk.1.ffn_act)"), table);
    }

    @Test
    void aSlightlyWrongOpIsNamedToo() {
        Backend wrong =
                new WrongBackend(new ReferenceBackend(), ComparisonTests::otherEpsInLayer2, request -> true, false);
        Step found = compare(wrong).divergence().orElseThrow();
        assertEquals("blk.2.k_norm", found.value());
        assertEquals(2, found.layer());
        assertTrue(found.error() < 0.1, found.toString());
    }

    @Test
    void whatIsWrongOnlyInDecodeIsFoundInTheLastToken() {
        Backend wrong = new WrongBackend(new ReferenceBackend(), ComparisonTests::geluInLayer1, request -> true, true);
        CompareReport report = compare(wrong);
        Step found = report.divergence().orElseThrow();
        assertEquals("blk.1.ffn_act", found.value());
        assertEquals(TOKENS.length - 1, found.worst().token());
        assertTrue(report.table(false).contains("(decode)"), report.table(false));
    }

    @Test
    void whatIsWrongOnlyWhenFusedIsNamedByTheOpsThatWereFused() {
        Backend wrong = new WrongBackend(
                new ReferenceBackend(),
                ComparisonTests::geluInLayer1,
                request -> request.options().fuse(),
                false);
        Step found = compare(wrong).divergence().orElseThrow();
        assertTrue(found.fused(), found.toString());
        assertEquals(1, found.layer());
        assertEquals("rms_norm linear linear activate multiply", found.op());
    }

    @Test
    void aRouterThatChoosesWronglyIsNamed() {
        model.close();
        model = RandomModels.ops("routed", 3, 64, TestFormats.F32, (b, x) -> {
            Value logits = b.linear("logits", x, new Weight("gate_inp", 64, 16), Optional.empty());
            RouterParams params = RouterParams.builder(Gating.SIGMOID, 4).build();
            return b.weightedSum("sum", x, b.router("router", logits, params).shares());
        });
        RouterParams halves =
                RouterParams.builder(Gating.SIGMOID, 4).groups(2).groupsUsed(1).build();
        UnaryOperator<Op> mistake = op ->
                op instanceof ExpertOp.Router r ? new ExpertOp.Router(r.logits(), halves, r.chosen(), r.shares()) : op;
        CompareReport report = compare(new WrongBackend(new ReferenceBackend(), mistake, request -> true, false));
        assertEquals("router", report.divergence().orElseThrow().op(), report.table(true));
    }

    @Test
    void graphsThatDifferAreToldWhereTheyPart() {
        List<Op> ops = new ArrayList<>(model.graph().ops());
        ops.remove(ops.size() - 1);
        Graph shorter = new Graph("shorter", ops, ops.getLast().outputs().getFirst());
        Comparison comparison =
                new Comparison(side(model.graph(), Optional.empty()), side(shorter, Optional.empty()), TOKENS, STRICT);
        String where = comparison.graphsDiffer().orElseThrow();
        assertTrue(where.startsWith("op " + ops.size() + ": linear"), where);
    }

    @Test
    void notANumberOnOneSideDiverges() {
        float[][] sound = {{1, 2}, {3, 4}};
        float[][] broken = {{1, 2}, {3, Float.NaN}};
        Comparison.Worst worst = Comparison.worst(broken, sound);
        assertTrue(Double.isNaN(worst.error()), worst.toString());
        assertEquals(1, worst.token());
        assertEquals(1, worst.element());
        assertTrue(new Step(0, 0, "add", "x", false, worst.error(), 0, 1, worst, 2).diverges());
        assertEquals(0, Comparison.worst(broken, broken).error(), "both have it");
    }

    @Test
    void theJsonReportIsWholeAndNamesTheDivergence() throws Exception {
        Backend wrong = new WrongBackend(new ReferenceBackend(), ComparisonTests::geluInLayer1, request -> true, false);
        String json = compare(wrong).json();
        assertTrue(json.contains("\"same\":false,\"divergence\":{\"index\":"), json);
        int depth = 0;
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            }
        }
        assertEquals(0, depth);
    }
}
