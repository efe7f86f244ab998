package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class QuantMixTests {
    private static final TensorTypes TYPES = TensorTypes.standard();

    @Test
    void moreBitsGoToTheFirstAndLastEighthAndEveryThirdLayer() {
        assertEquals(List.of(0, 3, 6, 7), moreBits(8));
        assertEquals(List.of(1), moreBits(2));
        assertEquals(List.of(0, 1, 4, 7, 10, 13, 14, 15), moreBits(16));
        assertEquals(List.of(0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27), moreBits(28));
    }

    @Test
    void q4kmGivesMoreBitsToOutputValueAndDown() {
        QuantMix mix = QuantMix.of("q4_k_m");
        assertEquals("Q4_K_M", mix.name());
        assertEquals(15, mix.fileType().orElseThrow());
        QuantMix.Model own = new QuantMix.Model("llama", 8, 8, 4, 0, true);
        QuantMix.Model tied = new QuantMix.Model("llama", 8, 8, 4, 0, false);
        assertEquals("Q6_K", choose(mix, "output.weight", own, 512, 4096));
        assertEquals("Q4_K", choose(mix, "token_embd.weight", own, 512, 4096));
        assertEquals("Q6_K", choose(mix, "token_embd.weight", tied, 512, 4096));
        assertEquals("Q6_K", choose(mix, "blk.3.attn_v.weight", tied, 512, 256));
        assertEquals("Q4_K", choose(mix, "blk.4.attn_v.weight", tied, 512, 256));
        assertEquals("Q6_K", choose(mix, "blk.7.ffn_down.weight", tied, 1280, 512));
        assertEquals("Q4_K", choose(mix, "blk.5.ffn_down.weight", tied, 1280, 512));
        assertEquals("Q4_K", choose(mix, "blk.0.attn_k.weight", tied, 512, 256));
        assertEquals("F32", choose(mix, "blk.0.attn_norm.weight", tied, 512));
        assertEquals("F32", choose(mix, "blk.0.ffn_gate_inp.weight", tied, 512, 8));
    }

    @Test
    void uniformFormatsKeepTheirOutputRule() {
        QuantMix.Model tied = new QuantMix.Model("qwen3", 28, 16, 8, 0, false);
        assertEquals("Q8_0", choose(QuantMix.of("Q8_0"), "token_embd.weight", tied, 1024, 1000));
        assertEquals("Q6_K", choose(QuantMix.of("Q6_K"), "token_embd.weight", tied, 1024, 1000));
        assertEquals("Q6_K", choose(QuantMix.of("Q4_0"), "token_embd.weight", tied, 1024, 1000));
        assertEquals("F16", choose(QuantMix.of("F16"), "token_embd.weight", tied, 1024, 1000));
        assertEquals("Q4_K", choose(QuantMix.of("pure:Q4_K"), "token_embd.weight", tied, 1024, 1000));
        assertEquals("Q4_K", choose(QuantMix.of("pure:Q4_K"), "blk.0.ffn_down.weight", tied, 1024, 1000));
        assertEquals("Q4_K_M", QuantMix.of("Q4_K").name());
    }

    @Test
    void rowThatIsNotWholeBlocksGetsAFormatThatFits() {
        QuantMix.Model own = new QuantMix.Model("llama", 2, 2, 1, 0, true);
        assertEquals("Q8_0", choose(QuantMix.of("Q6_K"), "blk.0.attn_q.weight", own, 96, 96));
        assertEquals("Q5_0", choose(QuantMix.of("Q4_K_M"), "blk.0.attn_q.weight", own, 96, 96));
        assertEquals("Q5_1", choose(QuantMix.of("Q5_K_M"), "blk.0.attn_q.weight", own, 96, 96));
        assertEquals("Q8_0", choose(QuantMix.of("Q4_K_M"), "output.weight", own, 96, 96));
        assertEquals("F16", choose(QuantMix.of("Q4_K_M"), "blk.0.attn_q.weight", own, 40, 96));
        assertEquals("F16", choose(QuantMix.of("Q8_0"), "blk.0.attn_q.weight", own, 40, 96));
    }

    @Test
    void thirdPartyFormatIsUsedForAllMatrices() {
        QuantMix mix = QuantMix.of("X7");
        assertTrue(mix.fileType().isEmpty());
        TensorTypes types = TensorTypes.of(List.of(new TestFormats.Zeros("X7", 200, 32, 3)));
        QuantMix.Model tied = new QuantMix.Model("llama", 2, 2, 1, 0, false);
        assertEquals(
                "X7",
                mix.choose("token_embd.weight", List.of(64L, 64L), tied, types::find)
                        .name());
        assertEquals(
                "F32",
                mix.choose("output_norm.weight", List.of(64L), tied, types::find)
                        .name());
    }

    @Test
    void formatThatIsNotInstalledIsRefused() {
        QuantMix.Model tied = new QuantMix.Model("llama", 2, 2, 1, 0, false);
        UnsupportedModelException error = assertThrows(
                UnsupportedModelException.class,
                () -> QuantMix.of("Q4_K_M")
                        .choose(
                                "token_embd.weight",
                                List.of(256L, 9L),
                                tied,
                                id -> id.equals("Q4_K") ? TYPES.find(id) : Optional.empty()));
        assertEquals(ErrorCode.MODEL_TENSOR_FORMAT, error.code());
        assertTrue(error.getMessage().contains("Q6_K"), error.getMessage());
        assertEquals(
                ErrorCode.USAGE,
                assertThrows(TenonException.class, () -> QuantMix.of(" ")).code());
    }

    @TestFactory
    Stream<DynamicTest> mixChoosesWhatTheGoldenModelsHave() {
        return Stream.of(
                        "golden/models/llama-gqa.q4_k_m.gguf",
                        "golden/models/llama-gqa.q6_k.gguf",
                        "golden/models/llama-gqa.q8_0.gguf",
                        "golden/models/qwen3.q4_k_m.gguf",
                        "golden/models/qwen3.q6_k.gguf",
                        "golden/models/phi3.q5_k_m.gguf",
                        "golden/models/qwen2.q5_1.gguf",
                        "golden/models/gemma3.q4_0.gguf",
                        "golden/models/mistral-like.q4_0.gguf",
                        "golden/models/olmoe.q8_0.gguf",
                        "golden/models/qwen3moe.q8_0.gguf",
                        "models/story-llama-q6_k.gguf",
                        "models/story-qwen3-q8_0.gguf",
                        "models/story-qwen3-q4_k_m.gguf")
                .map(name -> dynamicTest(name, () -> assertMix(name)));
    }

    private static void assertMix(String name) {
        try (GgufFile file = TestFiles.open(TestFiles.shared(name))) {
            String mixName = name.replaceAll(".*[-.](.*)\\.gguf", "$1");
            QuantMix mix = QuantMix.of(mixName);
            GgufMetadata metadata = file.metadata();
            assertEquals(
                    metadata.requiredInteger("general.file_type"),
                    mix.fileType().orElseThrow());
            String arch = metadata.requiredString("general.architecture");
            QuantMix.Model model = new QuantMix.Model(
                    arch,
                    metadata.requiredInteger(arch + ".block_count"),
                    metadata.requiredInteger(arch + ".attention.head_count"),
                    metadata.requiredInteger(arch + ".attention.head_count_kv"),
                    metadata.integer(arch + ".expert_count").orElse(0),
                    file.tensor("output.weight").isPresent());
            assertFalse(file.tensors().isEmpty());
            for (TensorInfo tensor : file.tensors()) {
                assertEquals(
                        TYPES.require(tensor.ggmlType(), tensor.name(), name),
                        mix.choose(tensor.name(), tensor.shape(), model, TYPES::find),
                        tensor.name());
            }
        }
    }

    private static String choose(QuantMix mix, String tensor, QuantMix.Model model, long... shape) {
        return mix.choose(tensor, Arrays.stream(shape).boxed().toList(), model, TYPES::find)
                .name();
    }

    private static List<Integer> moreBits(int layers) {
        return IntStream.range(0, layers)
                .filter(layer -> QuantMix.moreBits(layer, layers))
                .boxed()
                .toList();
    }
}
