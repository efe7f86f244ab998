package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// Every language model and encoder of the larger golden set on the emulated Orin, fused and not: what the kernels of
/// `kernels/nvidia` are planned to compute. Oracle: the float64 forward pass. A model with an op that has no
/// kernel is skipped, and the reason names the op.
///
/// Long: an emulated instruction takes a thousand times as long as a real one.
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EmulatedOrinFilesTests {
    /// Activations of many rows are float16: what that costs is a small part of what 8 bits cost.
    private static final double LIMIT = 1e-5;

    private static final double PART_OF_8_BITS = 0.01;

    /// Where a router's choice is closer than rounding, another expert may win.
    private static final double ROUTING_LIMIT = 5e-3;

    private Engine engine;

    @BeforeAll
    void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @TestFactory
    Stream<DynamicTest> logitsAreCloseToTheFloat64Truth() {
        return GoldenModel.each(GoldenModel.ofLanguage(), golden -> {
            for (boolean fuse : new boolean[] {true, false}) {
                check(golden, fuse);
            }
        });
    }

    private void check(GoldenModel golden, boolean fuse) {
        LoadRequest request = golden.request()
                .backend("nv-tegra")
                .device("emulated")
                .fuse(fuse)
                .build();
        float[] truth = golden.truth();
        try (LoadedModel model = engine.load(request)) {
            for (JsonNode sequence : golden.sequences()) {
                float[] logits = GoldenContract.last(model, GoldenData.ints(sequence.get("ids")));
                double error =
                        GoldenData.nmse(logits, truth, sequence.get("row").asInt() * logits.length);
                double limit = sequence.has("router_gap") ? ROUTING_LIMIT : limit(sequence);
                String what = golden.name() + " " + sequence.get("name").asText() + (fuse ? "" : " without fusion");
                System.out.printf("%s NMSE %.3g (limit %.3g)%n", what, error, limit);
                assertTrue(error <= limit, what + ": NMSE " + error + " > " + limit);
            }
        } catch (BackendException e) {
            throw GoldenContract.skippedWithoutKernel(e);
        }
    }

    private static double limit(JsonNode sequence) {
        return Math.max(
                LIMIT, PART_OF_8_BITS * sequence.get("nmse_native_vs_f64").asDouble());
    }

    /// Texts of one step, which see what follows them, and one text a step.
    @TestFactory
    Stream<DynamicTest> vectorsAreCloseToTheFloat64Truth() {
        return GoldenModel.each(GoldenModel.ofVectors(), this::vectorsAreCloseToTheFloat64Truth);
    }

    private void vectorsAreCloseToTheFloat64Truth(GoldenModel golden) {
        EmbeddingRequest texts =
                GoldenEncodersTests.texts(golden.json()).normalize(false).build();
        for (int together : new int[] {1, texts.texts().size()}) {
            LoadRequest request = golden.request()
                    .maxSequences(together)
                    .outputs(Graph.EMBEDDING)
                    .backend("nv-tegra")
                    .device("emulated")
                    .build();
            try (LoadedModel model = engine.load(request)) {
                List<float[]> vectors = model.embed(texts);
                for (int i = 0; i < vectors.size(); i++) {
                    JsonNode sequence = golden.sequences().get(i);
                    float[] truth = GoldenEncodersTests.truth(golden, sequence);
                    double error = GoldenData.nmse(vectors.get(i), truth, 0);
                    String what = golden + " " + sequence.get("name").asText() + ", " + together + " together";
                    System.out.printf("%s NMSE %.3g (limit %.3g)%n", what, error, limit(sequence));
                    assertTrue(error <= limit(sequence), what + ": NMSE " + error);
                    double cosine = GoldenEncodersTests.cosine(vectors.get(i), truth);
                    assertTrue(cosine >= GoldenEncodersTests.LEAST_COSINE, what + ": cosine " + cosine);
                }
            } catch (BackendException e) {
                throw GoldenContract.skippedWithoutKernel(e);
            }
        }
    }
}
