package dev.tenon.platform.core.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.platform.core.engine.FakeFormat;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The weights of experts and parts of tensors against the shapes in a file.
class ModelWeightsTests {
    private final ServiceRegistry registry = new ServiceRegistry();

    ModelWeightsTests() {
        registry.add(new FakeFormat());
    }

    /// A file that has descriptions only.
    private record Described(List<TensorInfo> tensors) implements GgufFile {
        @Override
        public Path path() {
            return Path.of("experts.gguf");
        }

        @Override
        public int version() {
            return 3;
        }

        @Override
        public GgufMetadata metadata() {
            return GgufMetadata.of("experts.gguf", Map.of());
        }

        @Override
        public Optional<TensorInfo> tensor(String name) {
            return tensors.stream().filter(t -> t.name().equals(name)).findFirst();
        }

        @Override
        public MemorySegment data(TensorInfo tensor) {
            return MemorySegment.NULL;
        }

        @Override
        public long sizeBytes() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private static TensorInfo tensor(String name, Long... shape) {
        long elements = Stream.of(shape).reduce(1L, (a, b) -> a * b);
        return new TensorInfo(name, 1, List.of(shape), 0, 0, Short.BYTES * elements);
    }

    /// An embedding of 16 and 8 experts, whose gate and up rows are one tensor.
    private static Graph graph() {
        GraphBuilder b = new GraphBuilder("experts");
        Value x = b.embedding("x", new Weight("table", 16, 50));
        var router = b.router(
                "r",
                b.linear("l", x, new Weight("gate_inp", 16, 8), Optional.empty()),
                RouterParams.builder(Gating.SOFTMAX, 2).normalise(true).build());
        Weight gateUp = new Weight("gate_up", 16, 6, 8);
        Value gate = b.expertLinear("gate", x, router.chosen(), gateUp.rows(0, 3), Optional.empty());
        Value up = b.expertLinear("up", x, router.chosen(), gateUp.rows(3, 6), Optional.empty());
        return b.build(b.add("sum", gate, up));
    }

    private ModelWeights find(TensorInfo gateUp) {
        Described file = new Described(List.of(tensor("table", 16L, 50L), tensor("gate_inp", 16L, 8L), gateUp));
        return ModelWeights.find(file, Adapters.none(), graph(), registry, List.of());
    }

    @Test
    void aTensorOfThreeDimensionsIsFoundOnceForAllOfItsViews() {
        assertEquals(3, find(tensor("gate_up", 16L, 6L, 8L)).names().size());
    }

    @Test
    void expertsInAnotherShapeAreRefusedWithBothShapes() {
        for (Long[] shape : new Long[][] {{16L, 48L}, {16L, 3L, 8L}, {16L, 8L, 6L}}) {
            ModelFormatException e = assertThrows(ModelFormatException.class, () -> find(tensor("gate_up", shape)));
            assertEquals(ErrorCode.MODEL_TENSOR_SHAPE, e.code());
            assertTrue(e.getMessage().contains("gate_up has shape " + List.of(shape)), e.getMessage());
            assertTrue(e.getMessage().contains("[16, 6, 8]"), e.getMessage());
        }
    }

    @Test
    void aFormatThatIsMissingIsOneIssueForAllOfItsTensors() {
        Described file = new Described(List.of(
                new TensorInfo("table", 34, List.of(16L, 50L), 0, 0, 0),
                new TensorInfo("gate_inp", 34, List.of(16L, 8L), 0, 0, 0),
                tensor("gate_up", 16L, 6L, 8L)));
        UnsupportedModelException e = assertThrows(
                UnsupportedModelException.class,
                () -> ModelWeights.find(file, Adapters.none(), graph(), registry, List.of()));
        assertEquals(1, e.issues().size(), e.getMessage());
        String text = e.issues().getFirst().message();
        assertTrue(text.contains("34 (TQ1_0) of 2 tensors, the first being table"), text);
    }

    /// A later version of a bundle may have another layout than the one by which the file was opened.
    @Test
    void aFormatWithOtherBlocksThanWhenTheFileWasOpenedIsRefused() {
        TensorInfo longer = new TensorInfo("gate_up", 1, List.of(16L, 6L, 8L), 0, 0, 3 * 16 * 6 * 8);
        UnsupportedModelException e = assertThrows(UnsupportedModelException.class, () -> find(longer));
        assertEquals(ErrorCode.MODEL_TENSOR_FORMAT, e.issues().getFirst().code());
        assertTrue(
                e.getMessage().contains("format F16 has other blocks than when the file was opened"), e.getMessage());
    }

    @Test
    void whoWroteTheArchitectureIsNotToldToGetTheFileAgainAlone() {
        ModelFormatException e = assertThrows(ModelFormatException.class, () -> find(tensor("gate_up", 16L, 48L)));
        assertTrue(e.getMessage().contains("correct the architecture if it is yours"), e.getMessage());
    }
}
