package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.core.gguf.TensorTypes;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Shapes have as many weights as is published of the models, to the digits that are given.
class SynthFamiliesTests {
    /// A row: shape, weights of its file, how many of these the figure leaves out (negative: it counts
    /// more), the figure in millions, and whose it is. Files have factors of rotations, which no figure
    /// counts, and no poolers. The figures were written down without their sources at hand: the last column says
    /// where to look them up, not where they were read.
    @ParameterizedTest
    @CsvSource({
        "glm-4-9b, 9400279040, 0, 94E2, its safetensors",
        "glm-4-32b, 32566081536, 0, 32566, its safetensors",
        "exaone-4-1.2b, 1279391520, 209715232, 107E1, card: without embeddings",
        "exaone-4-32b, 32003216448, 1048576064, 3095E1, card: without embeddings",
        "ernie-4.5-0.3b, 360748032, 0, 36E1, card",
        "ernie-4.5-21b-a3b, 21825437888, 0, 21825, its safetensors",
        "seed-oss-36b, 36151104512, 0, 36E3, card",
        "hunyuan-0.5b, 539010048, 0, 539, its safetensors",
        "hunyuan-1.8b, 1791080448, 0, 18E2, card",
        "hunyuan-4b, 4221757440, 0, 4E3, card",
        "hunyuan-7b, 7504568320, 0, 7505, its safetensors",
        "stablelm-2-1.6b, 1644515328, 0, 1644.5, card",
        "stablelm-3b-4e1t, 2795443200, 0, 2795.4432, card",
        "starcoder2-3b, 3030371328, 0, 303E1, its safetensors",
        "starcoder2-7b, 7173923840, 0, 7174, its safetensors",
        "starcoder2-15b, 15957889024, 0, 15958, its safetensors",
        "command-r-35b, 34980831232, 0, 35E3, card",
        "command-r-08-2024, 32296476672, 0, 32E3, card",
        "phi-3.5-moe, 41873153472, 128, 42E3, card",
        "granite-3.1-1b-a400m, 1334628352, 0, 13E2, card",
        "granite-3.1-3b-a800m, 3298793472, 0, 33E2, card",
        "ling-mini-2.0, 16255643392, 0, 16E3, card",
        "kimi-linear-48b-a3b, 49122681728, 0, 49123, its safetensors",
        "nemotron-nano-9b-v2, 8888227328, 0, 8888, its safetensors",
        "nemotron-h-4b, 4489223040, 0, 4E3, card",
        "falcon-h1-0.5b, 521411104, 0, 52E1, report",
        "falcon-h1-1.5b, 1554863488, 0, 155E1, report",
        "falcon-h1-3b, 3149392384, 0, 315E1, report",
        "falcon-h1-7b, 7585648736, 0, 759E1, report",
        "falcon-h1-34b, 33642516224, 0, 336E2, report",
        "mamba2-2.7b, 2702599680, 0, 27E2, card",
        "gemma-2b, 2506172416, 524288000, 1981.884416, report: without embeddings",
        "gemma-7b, 8537680896, 786432000, 7751.248896, report: without embeddings",
        "gemma-3n-e2b, 4434658400, -20974080, 446E1, llama-bench: text alone; with keys and values that are not read",
        "gemma-3n-e4b, 6834711280, -31461120, 687E1, llama-bench: text alone; with keys and values that are not read",
        "all-minilm-l6-v2, 22565376, -147840, 22.713216, its safetensors: with a pooler",
        "bge-small-en-v1.5, 33212160, -147840, 33.36, its safetensors: with a pooler",
        "bge-base-en-v1.5, 108891648, -590592, 109.48224, its safetensors: with a pooler",
        "bge-large-en-v1.5, 334092288, -1049600, 335.141888, its safetensors: with a pooler",
        "nomic-embed-text-v1.5, 136731648, 0, 137, card",
        "modernbert-base, 149014272, 0, 149, report"
    })
    void shapesHaveThePublishedNumbersOfWeights(String name, long weights, long apart, BigDecimal figure, String who) {
        long bytes =
                Synth.weightBytes(SynthShape.preset(name), "F32", TestFormats.architectures(), TensorTypes.standard());
        assertEquals(weights, bytes / 4, name);
        BigDecimal counted = BigDecimal.valueOf(weights - apart).movePointLeft(6);
        assertEquals(figure, counted.setScale(figure.scale(), RoundingMode.HALF_UP), name + ", by " + who);
    }
}
