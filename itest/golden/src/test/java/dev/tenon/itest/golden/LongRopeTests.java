package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.itest.golden.ImpossibleModelTests.Model;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// LongRoPE through the engine: factors that make one base of the frequencies another, against a model with that
/// base. Which factors are taken depends on the context of the load.
class LongRopeTests {
    private static final float BASE = 10_000;
    private static final float LONG_BASE = 300;
    private static final int ORIGINAL = 64;
    private static final int DIM = 16;
    private static final double SAME = 1e-9;

    private static Engine engine;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private static Model phi3(float base) {
        return new Model()
                .architecture("phi3")
                .set("phi3.rope.dimension_count", DIM)
                .set("phi3.rope.freq_base", base);
    }

    private float[] logits(String name, Model model, int context) throws IOException {
        LoadRequest request = LoadRequest.of(model.write(folder.resolve(name))).toBuilder()
                .contextLength(context)
                .build();
        try (LoadedModel loaded = engine.load(request)) {
            return GoldenContract.last(
                    loaded, IntStream.range(0, 50).map(i -> 3 + i * 7 % 90).toArray());
        }
    }

    @Test
    void theContextOfTheLoadChoosesTheFactors() throws IOException {
        float[] factors = new float[DIM / 2];
        float[] ones = new float[DIM / 2];
        for (int pair = 0; pair < factors.length; pair++) {
            factors[pair] = (float) Math.pow(LONG_BASE / BASE, 2.0 * pair / DIM);
            ones[pair] = 1;
        }
        Model both = phi3(BASE)
                .set("phi3.rope.scaling.original_context_length", ORIGINAL)
                .vector("rope_factors_long.weight", factors)
                .vector("rope_factors_short.weight", ones);
        float[] longer = logits("long.gguf", phi3(LONG_BASE), ORIGINAL);
        float[] shorter = logits("short.gguf", phi3(BASE), ORIGINAL);
        assertTrue(GoldenData.nmse(longer, shorter, 0) > 1e-4, "the bases give the same logits");
        assertEquals(0, GoldenData.nmse(logits("both.gguf", both, ORIGINAL), shorter, 0), SAME);
        assertEquals(0, GoldenData.nmse(logits("both.gguf", both, ORIGINAL + 1), longer, 0), SAME);
    }
}
