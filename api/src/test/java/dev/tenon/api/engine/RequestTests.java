package dev.tenon.api.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.graph.Graph;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RequestTests {
    private static final Path FILE = Path.of("a.gguf");

    @Test
    void aLoadRequestIsCopiedByItsBuilder() {
        LoadRequest request = LoadRequest.builder(FILE)
                .backend("cuda")
                .device("1")
                .threads(2)
                .contextLength(3)
                .maxSequences(4)
                .maxBatchTokens(5)
                .keyType(KvType.F32)
                .valueType(KvType.Q8_0)
                .fuse(false)
                .checkData(true)
                .outputs(Graph.LOGITS, Graph.HIDDEN)
                .settings(Map.of("a", "b"))
                .build();
        assertEquals(request, request.toBuilder().build());
        assertEquals(request.hashCode(), request.toBuilder().build().hashCode());
        assertNotEquals(request, request.toBuilder().threads(0).build());
        assertEquals(Optional.of(KvType.F32), request.keyType());
        assertEquals(List.of("logits", "hidden"), request.outputs());
        LoadRequest plain = LoadRequest.of(FILE);
        assertEquals(Optional.empty(), plain.keyType());
        assertEquals(List.of(Graph.LOGITS), plain.outputs());
        assertTrue(plain.fuse());
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        for (LoadRequest.Builder wrong : List.of(
                LoadRequest.builder(FILE).threads(-1),
                LoadRequest.builder(FILE).contextLength(-1),
                LoadRequest.builder(FILE).maxSequences(-1),
                LoadRequest.builder(FILE).maxBatchTokens(-1),
                LoadRequest.builder(FILE).outputs())) {
            assertThrows(IllegalArgumentException.class, wrong::build);
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> GenerationRequest.builder().maxNewTokens(-2).build());
        assertThrows(
                IllegalArgumentException.class,
                () -> GenerationRequest.builder().logProbabilities(-2).build());
        assertThrows(
                IllegalArgumentException.class,
                () -> EmbeddingRequest.builder().text().build());
    }

    @Test
    void whatCallersKeepIsCopied() {
        int[] prompt = {1, 2};
        List<String> stop = new ArrayList<>(List.of("."));
        Map<String, String> settings = new HashMap<>(Map.of("a", "b"));
        GenerationRequest generation =
                GenerationRequest.builder().prompt(prompt).stop(stop).build();
        EmbeddingRequest embedding = EmbeddingRequest.builder().text(prompt).build();
        LoadRequest load = LoadRequest.builder(FILE).settings(settings).build();
        prompt[0] = 9;
        stop.clear();
        settings.clear();
        generation.prompt()[1] = 9;
        embedding.texts().getFirst()[1] = 9;
        assertArrayEquals(new int[] {1, 2}, generation.prompt());
        assertArrayEquals(new int[] {1, 2}, embedding.texts().getFirst());
        assertEquals(List.of("."), generation.stop());
        assertEquals(Map.of("a", "b"), load.settings());
    }

    @Test
    void anEmbeddingTakesTheModelsPoolingAndIsNormalizedByDefault() {
        EmbeddingRequest plain = EmbeddingRequest.builder().text(1).build();
        assertEquals(Optional.empty(), plain.pooling());
        assertTrue(plain.normalize());
        EmbeddingRequest own = EmbeddingRequest.builder()
                .text(1)
                .text(2, 3)
                .pooling(Pooling.MEAN)
                .normalize(false)
                .build();
        assertEquals(Optional.of(Pooling.MEAN), own.pooling());
        assertEquals(2, own.texts().size());
    }

    @Test
    void ratesAreZeroWithoutTime() {
        Usage none = new Usage(0, 0, 1, 0, 0, FinishReason.STOP);
        assertEquals(0, none.prefillTokensPerSecond());
        assertEquals(0, none.decodeTokensPerSecond());
        Usage some = new Usage(10, 0, 5, 1_000_000_000, 2_000_000_000, FinishReason.LENGTH);
        assertEquals(10, some.prefillTokensPerSecond());
        assertEquals(2, some.decodeTokensPerSecond());
    }

    @Test
    void aGenerationRequestHasThePriorityAndTheGroupOfItsBuilder() {
        GenerationRequest plain = GenerationRequest.builder().build();
        assertEquals(0, plain.priority());
        assertEquals("", plain.group());
        GenerationRequest request =
                GenerationRequest.builder().priority(-3).group("a key").build();
        assertEquals(-3, request.priority());
        assertEquals("a key", request.group());
    }
}
