package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.models.MemoryWeights;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What a model architecture's graph computes: the part of [ArchitectureContract] that runs it.
public abstract class ArchitectureNumbersContract {
    /// What the reference computes within seconds.
    private static final long MOST_WEIGHTS = 20_000_000;

    private MemoryWeights made;

    ArchitectureNumbersContract() {}

    /// {@return the architecture under test}
    protected abstract ModelArchitecture architecture();

    /// {@return metadata of the tiny model: `general.architecture` and every key that the architecture
    ///     reads}
    protected abstract Map<String, GgufValue> metadata();

    /// {@return the shapes of the tiny model's tensors by name, the fastest dimension first}
    protected abstract Map<String, List<Long>> tensors();

    /// {@return the configuration of the tiny model; null if nobody knows it but the architecture}
    protected abstract ModelConfig expectedConfig();

    /// {@return the name of the embedding table, which a tied model also uses as its output matrix}
    protected String embeddingWeight() {
        return "token_embd.weight";
    }

    /// {@return whether a decoder layer fuses into five ops}
    protected boolean fusesIntoFiveOpsALayer() {
        return true;
    }

    /// {@return texts with the logits after them that another implementation gives for [#weights()]; none by
    ///     default}
    protected List<GoldenLogits> golden() {
        return List.of();
    }

    /// {@return the weights that golden logits are of; by default random ones in F32, always the same, which
    ///     `-Dtenon.golden.model=FILE` writes with the metadata as a GGUF file for the other implementation}
    protected Weights weights() {
        if (made == null) {
            made = RandomModels.weightsFor(tensors(), Set.of(embeddingWeight()), 1);
        }
        return made;
    }

    /// {@return the backends that compute golden logits, too; by default those of the test's class path}
    protected List<Backend> backends() {
        return ServiceLoader.load(Backend.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(backend -> backend.rank() >= 0 && backend.probe().available())
                .toList();
    }

    /// {@return kernels for those backends, and for the ops that the architecture defines itself}
    protected List<KernelProvider> kernels() {
        return List.of();
    }

    @AfterEach
    final void closeWeights() {
        if (made != null) {
            made.close();
            made = null;
        }
    }

    @TestFactory
    Stream<DynamicTest> theLogitsAreTheGoldenOnes() throws IOException {
        String file = System.getProperty("tenon.golden.model");
        if (file != null) {
            RandomModels.write(metadata(), tensors(), weights(), Path.of(file));
        }
        List<GoldenLogits> golden = golden();
        if (golden.isEmpty()) {
            return Stream.of(DynamicTest.dynamicTest(
                    "golden",
                    () -> assumeTrue(
                            false,
                            "there are no golden logits: nobody knows whether pairs of the rotation, order of ops,"
                                    + " biases and scales are right. Name some in golden(), or by --golden")));
        }
        Graph graph = define().graph();
        return golden.stream()
                .flatMap(each -> Stream.concat(
                        Stream.of(DynamicTest.dynamicTest(each.name() + " by the reference", () -> {
                            assumeSmall(graph);
                            each.assertByReference(graph, weights());
                        })),
                        backends().stream()
                                .map(backend -> DynamicTest.dynamicTest(
                                        each.name() + " on " + backend.id(),
                                        () -> each.assertOn(backend, kernels(), graph, weights())))));
    }

    @TestFactory
    Stream<DynamicTest> opsOfItsOwnComputeTheirRows() {
        return ownOps(op -> Stream.of(DynamicTest.dynamicTest(op.kind(), () -> ownOp(op, OwnOpCheck::evaluates))));
    }

    @TestFactory
    Stream<DynamicTest> kernelsForOpsOfItsOwnComputeTheSame() {
        List<OpKernel> kernels = kernels().stream()
                .flatMap(provider -> provider.kernels().stream())
                .filter(OpKernel.class::isInstance)
                .map(OpKernel.class::cast)
                .toList();
        return ownOps(op -> kernels.stream()
                .filter(kernel -> kernel.op().equals(op.kind()))
                .map(kernel -> DynamicTest.dynamicTest(kernel.name(), () -> ownOp(op, check -> check.kernel(kernel)))));
    }

    private Stream<DynamicTest> ownOps(Function<ReferenceOp, Stream<DynamicTest>> tests) {
        return OwnOpCheck.among(define().graph().expanded().ops()).stream().flatMap(tests);
    }

    private void ownOp(ReferenceOp op, Consumer<OwnOpCheck> test) {
        Graph graph = define().graph();
        assumeSmall(graph);
        try (MemoryWeights weights = RandomModels.weightsFor(graph, TestFormats.F32, 8)) {
            test.accept(new OwnOpCheck(op, weights));
        }
    }

    /// {@return the graph whose output has a row of its own for each token: an encoder's default output has one
    ///     for a text}
    private Graph graphOfTokens() {
        Graph graph = define().graph();
        return graph.isCausal() ? graph : graph.withOutputs(List.of(Graph.HIDDEN));
    }

    @Test
    void fusionKeepsTheOpsAndTheNumbers() {
        Graph graph = graphOfTokens();
        Graph fused = Fusion.fuse(graph);
        assertEquals(
                new HashSet<>(graph.expanded().ops()),
                new HashSet<>(fused.expanded().ops()),
                "ops after expansion");
        if (fusesIntoFiveOpsALayer()) {
            int around = fused.ops().size() - 5 * config().blockCount();
            List<String> kinds = fused.ops().stream().map(Op::kind).toList();
            assertTrue(around <= 5, around + " ops around the layers, if a layer has five: " + kinds);
        }
        assumeSmall(graph);
        int vocabularySize = graph.output().width();
        int[] tokens =
                IntStream.range(0, 12).map(i -> (i * 7 + 3) % vocabularySize).toArray();
        try (MemoryWeights weights = RandomModels.weightsFor(graph, TestFormats.F32, 5)) {
            double[][] plain = new Reference(graph, weights).newSequence().feed(tokens);
            double[][] other = new Reference(fused, weights).newSequence().feed(tokens);
            boolean moves = false;
            for (int t = 0; t < tokens.length; t++) {
                for (int i = 0; i < plain[t].length; i++) {
                    assertTrue(Double.isFinite(plain[t][i]), "logit " + i + " after token " + t + " is not finite");
                    assertEquals(plain[t][i], other[t][i], 1e-9 * Math.abs(plain[t][i]) + 1e-12);
                    moves |= t > 0 && Math.abs(plain[t][i] - plain[0][i]) > 1e-6;
                }
            }
            assertTrue(moves, "the logits are the same after every token");
        }
    }

    @Test
    void theGraphSeesOrderAndPast() {
        Graph graph = graphOfTokens();
        assumeSmall(graph);
        try (MemoryWeights weights = RandomModels.weightsFor(graph, TestFormats.F32, 6)) {
            Reference reference = new Reference(graph, weights);
            double[][] a = reference.newSequence().feed(1, 2, 3);
            double[][] b = reference.newSequence().feed(2, 1, 3);
            double difference = 0;
            for (int i = 0; i < a[2].length; i++) {
                difference = Math.max(difference, Math.abs(a[2][i] - b[2][i]));
            }
            assertTrue(difference > 1e-9, "swapping earlier tokens changes nothing: no attention or no positions");
        }
    }

    // --- helpers

    private static void assumeSmall(Graph graph) {
        long weights = graph.weights().stream().mapToLong(Weight::elements).sum();
        assumeTrue(
                weights <= MOST_WEIGHTS,
                () -> "the model has " + weights + " weights; numbers are computed for at most " + MOST_WEIGHTS);
    }

    /// The expected configuration, or what the architecture says where nobody else knows.
    final ModelConfig config() {
        ModelConfig expected = expectedConfig();
        return expected == null ? define().config() : expected;
    }

    final ModelDefinition define() {
        return architecture().define(source(metadata(), tensors()));
    }

    /// {@return a source with F32 tensors of the given shapes}
    ///
    /// @param metadata keys and values
    /// @param shapes tensor shapes by name
    protected static ModelSource source(Map<String, GgufValue> metadata, Map<String, List<Long>> shapes) {
        Map<String, TensorInfo> infos = new LinkedHashMap<>();
        long offset = 0;
        for (Map.Entry<String, List<Long>> entry : shapes.entrySet()) {
            long bytes = 4 * entry.getValue().stream().reduce(1L, Math::multiplyExact);
            infos.put(entry.getKey(), new TensorInfo(entry.getKey(), 0, entry.getValue(), 0, offset, bytes));
            offset += bytes;
        }
        return new ModelSource(GgufMetadata.of("tiny.gguf", metadata), infos);
    }
}
