package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.Graph;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.reference.Reference;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Graphs of bundles give the truth of the golden files, in the reference and on the processor, with float32
/// activations: experts, encoders, fused tensors.
class MoreArchitecturesTests {
    private static final double LIMIT = 1e-8;

    @TestFactory
    Stream<DynamicTest> graphsOfBundlesGiveTheTruth() {
        // The default output of a decoder is logits, whatever the file is for. Of one model in several formats, one is
        // enough.
        Set<String> seen = new HashSet<>();
        Stream<GoldenModel> models = GoldenModel.all().stream()
                .filter(model -> model.output().equals(Graph.LOGITS) || !model.ranks() && !causal(model))
                .filter(model -> seen.add(model.name().split("\\.")[0]));
        return GoldenModel.each(models, this::givesTheTruth);
    }

    private static boolean causal(GoldenModel model) {
        try (GgufFile file = GgufReader.open(model.path(), TensorTypes.of(GoldenData.FORMATS))) {
            return GoldenData.graph(file).isCausal();
        }
    }

    private void givesTheTruth(GoldenModel model) {
        float[] truth = model.truth();
        try (GgufFile file = GgufReader.open(model.path(), TensorTypes.of(GoldenData.FORMATS));
                Device device = new CpuVectorBackend()
                        .open(DeviceOptions.builder().threads(2).build())) {
            Graph graph = GoldenData.graph(file);
            Weights weights = GoldenData.weights(file);
            PlanOptions options = PlanOptions.builder(256)
                    .maxBatchTokens(256)
                    .keyType(KvType.F32)
                    .valueType(KvType.F32)
                    .build();
            Reference reference = new Reference(graph, weights);
            try (Plan plan = device.compiler().compile(CompileRequest.of(graph, weights, options))) {
                for (JsonNode sequence : model.sequences()) {
                    int[] ids = GoldenData.ints(sequence.get("ids"));
                    int at = sequence.get("row").asInt() * graph.output().width();
                    String what = model.name() + " " + sequence.get("name").asText();
                    close(what + " reference", reference(reference, ids), truth, at);
                    close(what + " processor", processor(plan, graph, ids), truth, at);
                }
            }
        }
    }

    /// Fused tensors of a file through views, beside tensors of their own: the same kernels run both.
    @Test
    void fusedTensorsRunOnTheKernelsOfSeparateOnes() {
        Optional<Path> path = GoldenData.shared("golden/models/phi3.q5_k_m.gguf");
        assumeTrue(path.isPresent(), "phi3 is not part of the project and not beside it");
        try (GgufFile file = GgufReader.open(path.get(), TensorTypes.of(GoldenData.FORMATS));
                Device device = new CpuVectorBackend()
                        .open(DeviceOptions.builder().threads(2).build())) {
            Graph fused = GoldenData.graph(file);
            List<PlanReport.Kernel> kernels = kernels(device, fused, GoldenData.weights(file));
            int layers = fused.attentionLayers().size();
            assertEquals(
                    List.of("norm_qkv_rope", "attention", "linear_add", "norm_gate_up", "linear_add"),
                    kernels.stream().map(PlanReport.Kernel::op).skip(1).limit(5).toList());
            for (PlanReport.Kernel kernel : kernels) {
                assertEquals(Support.Level.FAST, kernel.level(), kernel.toString());
            }
            try (MemoryWeights weights = new MemoryWeights()) {
                Graph separate = SeparateTensors.of(fused, GoldenData.weights(file), weights);
                assertEquals(
                        kernels.stream().map(k -> k.op() + " " + k.kernel()).toList(),
                        kernels(device, separate, weights).stream()
                                .map(k -> k.op() + " " + k.kernel())
                                .toList());
            }
            assertTrue(kernels.size() <= 5 * layers + 4, kernels.size() + " kernels");
        }
    }

    private static List<PlanReport.Kernel> kernels(Device device, Graph graph, Weights weights) {
        PlanOptions options = PlanOptions.builder(8).maxBatchTokens(8).build();
        try (Plan plan = device.compiler().compile(CompileRequest.of(graph, weights, options))) {
            return plan.report().kernels();
        }
    }

    private static void close(String what, float[] got, float[] truth, int at) {
        double error = GoldenData.nmse(got, truth, at);
        System.out.printf("%s NMSE %.3g (limit %.3g)%n", what, error, LIMIT);
        assertTrue(error <= LIMIT, what + ": NMSE " + error);
    }

    private static float[] reference(Reference reference, int[] ids) {
        double[] row = reference.newSequence().feed(ids)[ids.length - 1];
        float[] last = new float[row.length];
        for (int i = 0; i < last.length; i++) {
            last[i] = (float) row[i];
        }
        return last;
    }

    private static float[] processor(Plan plan, Graph graph, int[] ids) {
        StepInput input = new StepInput();
        int[] pages = IntStream.range(0, plan.kvPages().pageCount()).toArray();
        input.addSequence(pages, graph.opsWithState().isEmpty() ? StepInput.NO_SLOT : 0);
        for (int t = 0; t < ids.length; t++) {
            input.addToken(ids[t], t, t == ids.length - 1);
        }
        float[] last = new float[graph.output().width()];
        plan.run(input).logits(0, last);
        return last;
    }
}
