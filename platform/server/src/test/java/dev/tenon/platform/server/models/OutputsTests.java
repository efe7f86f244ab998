package dev.tenon.platform.server.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.core.Tenon;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class OutputsTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    private static final TenonException NO_FORMAT = new UnsupportedModelException("FMT-002", "no format");
    private static final TenonException NO_LOGITS = new UnsupportedModelException("MODEL-001", "no logits");

    private static Function<String[], String> failing(Map<String, TenonException> failures) {
        return outputs -> {
            TenonException failure = failures.get(outputs[0]);
            if (failure != null) {
                throw failure;
            }
            return outputs[0];
        };
    }

    /// A model that generates has no scores; why it has none is asked of the engine itself.
    @Test
    void whyOneThatGeneratesCannotBeLoadedIsTold() {
        try (Engine engine = Tenon.standalone(Map.of())) {
            Function<String[], LoadedModel> others = outputs -> engine.load(LoadRequest.builder(MODEL)
                    .contextLength(64)
                    .outputs(outputs)
                    .build());
            TenonException absent = assertThrows(TenonException.class, () -> others.apply(new String[] {Graph.SCORES}));
            assertEquals(ErrorCode.ARGUMENT, absent.code());
            Function<String[], String> with =
                    failing(Map.of(Graph.LOGITS, NO_FORMAT, Graph.SCORES, absent, Graph.EMBEDDING, NO_LOGITS));
            assertSame(NO_FORMAT, assertThrows(TenonException.class, () -> Outputs.load(false, with)));
        }
    }

    @Test
    void whyARerankerCannotBeLoadedIsTold() {
        Function<String[], String> with = failing(Map.of(Graph.LOGITS, NO_LOGITS, Graph.SCORES, NO_FORMAT));
        assertSame(NO_FORMAT, assertThrows(TenonException.class, () -> Outputs.load(false, with)));
    }

    @Test
    void eachIsLoadedWithWhatItHas() {
        TenonException absent = new TenonException(ErrorCode.ARGUMENT, "no such output");
        assertEquals(Graph.LOGITS, Outputs.load(true, failing(Map.of())));
        assertEquals(Graph.SCORES, Outputs.load(true, failing(Map.of(Graph.LOGITS, NO_LOGITS))));
        assertEquals(
                Graph.EMBEDDING, Outputs.load(true, failing(Map.of(Graph.LOGITS, NO_LOGITS, Graph.SCORES, absent))));
    }
}
