package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.core.gguf.CompanionFile;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Companions of many kinds, in one folder.
class CompanionFileTests {
    @ParameterizedTest
    @CsvSource({
        "vision/gemma3, gemma3",
        "vision/qwen3vl, qwen3vl_merger",
        "vision/qwen35vl, qwen3vl_merger",
        "vision/qwen25vl, qwen2.5vl_merger",
        "vision/idefics3, idefics3",
        "vision/internvl, internvl",
        "vision/llava, mlp",
        "vision/pixtral, pixtral",
        "vision/kimivl, kimivl",
        "vision/glm4v, glm4v",
        "vision/llama4, llama4",
        "vision/gemma4v, gemma4v",
        "vision/lfm2, lfm2",
        "vision/lfm2tile, lfm2",
        "audio/qwen2a, qwen2a",
        "audio/ultravox, ultravox",
        "audio/voxtral, voxtral"
    })
    void eachModelHasItsOwn(String name, String projector) {
        Path model = GoldenData.file(name + ".text.gguf");
        Path own = model.resolveSibling(model.getFileName().toString().replace(".text.", ".mmproj."));
        CompanionFile companion = CompanionFile.of(model).orElseThrow();
        assertEquals(Optional.of(own), CompanionFile.beside(model));
        assertEquals(own, companion.path());
        assertEquals(projector, companion.projector());
        assertEquals(name.startsWith("vision/"), companion.sees());
        assertEquals(name.startsWith("audio/"), companion.hears());
    }
}
