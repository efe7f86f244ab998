package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SynthTests {
    private static final SynthShape TINY = SynthShape.preset("qwen3-0.6b").toBuilder()
            .layers(2)
            .embedding(256)
            .heads(4, 2, 64)
            .feedForward(512)
            .vocabulary(1000)
            .context(512)
            .seed(7)
            .build();

    private static final List<ModelArchitecture> ARCHITECTURES = TestFormats.architectures();

    @TempDir
    Path folder;

    @Test
    void presetsHaveTheWeightsOfTheRealModels() {
        assertWeights(1_235_814_400L + 32, "llama-3.2-1b");
        assertWeights(3_212_749_824L + 64, "llama-3.2-3b");
        assertWeights(8_030_261_248L, "llama-3-8b");
        assertWeights(596_049_920L, "qwen3-0.6b");
        assertWeights(1_720_574_976L, "qwen3-1.7b");
        assertWeights(4_022_468_096L, "qwen3-4b");
        assertWeights(6_919_161_856L, "olmoe-1b-7b");
        assertWeights(30_532_122_624L, "qwen3-30b-a3b");
        assertWeights(999_885_952L, "gemma-3-1b");
        assertWeights(2_614_341_888L, "gemma-2-2b");
        assertWeights(4_628_569_635L, "gemma-4-e2b");
        assertWeights(7_463_013_674L, "gemma-4-e4b");
        assertWeights(3_836_021_760L + 2 * 48, "phi-4-mini");
        assertWeights(3_821_079_552L, "phi-3-mini-4k");
        assertWeights(494_032_768L, "qwen2.5-0.5b");
        assertWeights(1_543_714_304L, "qwen2.5-1.5b");
        assertWeights(7_615_616_512L, "qwen2.5-7b");
        assertWeights(8_190_735_360L, "qwen3-8b");
        assertWeights(7_248_023_552L, "mistral-7b-v0.3");
        assertWeights(1_484_916_736L, "olmo-2-1b");
        assertWeights(7_298_617_344L, "olmo-2-7b");
        assertWeights(20_914_757_184L, "gpt-oss-20b");
        assertWeights(15_706_484_224L, "deepseek-v2-lite");
        assertWeights(1_170_340_608L, "lfm2-1.2b");
        assertWeights(8_339_929_856L + 22 * 32, "lfm2-8b-a1b");
        assertWeights(106_852_251_264L, "glm-4.5-air");
        assertWeights(31_577_940_288L, "nemotron-3-nano-30b-a3b");
        assertWeights(4_205_751_296L, "qwen3.5-4b");
        assertWeights(8_953_803_264L, "qwen3.5-9b");
        assertWeights(26_895_998_464L, "qwen3.5-27b");
        assertWeights(34_660_610_688L, "qwen3.5-35b-a3b");
    }

    @Test
    void quantisedPresetsHaveTheSizesOfTheRealFiles() {
        assertBytes(967.0 * 1024 * 1024, "llama-3.2-1b", "Q6_K");
        assertBytes(2.64e9, "llama-3.2-3b", "Q6_K");
        assertBytes(0.634e9, "qwen3-0.6b", "Q8_0");
        assertBytes(1.103e9, "qwen3-1.7b", "Q4_K_M");
        assertBytes(4.21e9, "olmoe-1b-7b", "Q4_K_M");
        assertBytes(12.1e9, "gpt-oss-20b", "MXFP4_MOE");
    }

    @Test
    void fewerLayersOfAModelWhoseLayersDifferAreItsFirst() {
        SynthShape cut = SynthShape.preset("gemma-4-e2b").toBuilder().layers(20).build();
        assertEquals(5L, ((Number) cut.keys().get(SynthKeys.SHARED_KV).value()).longValue());
        assertEquals(
                20,
                ((boolean[]) cut.keys().get("attention.sliding_window_pattern").value()).length);
        SynthShape.Builder more = SynthShape.preset("lfm2-1.2b").toBuilder().layers(17);
        assertThrows(TenonException.class, more::build);
    }

    @Test
    void tinyModelHasTheTensorsAndKeysOfItsArchitecture() {
        Path path = folder.resolve("tiny.gguf");
        Synth.write(GgufWriter.to(path), TINY, "Q4_K_M", ARCHITECTURES, TestFormats.all());
        try (GgufFile file = TestFiles.open(path)) {
            assertEquals("qwen3", file.metadata().requiredString("general.architecture"));
            assertEquals(15, file.metadata().requiredInteger("general.file_type"));
            assertEquals(64, file.metadata().requiredInteger("qwen3.attention.key_length"));
            assertEquals(2 + 2 * 11, file.tensors().size());
            assertEquals(List.of(256L, 1000L), shape(file, "token_embd.weight"));
            assertEquals(List.of(64L), shape(file, "blk.1.attn_k_norm.weight"));
            assertEquals(List.of(256L, 128L), shape(file, "blk.1.attn_v.weight"));
            assertEquals(List.of(512L, 256L), shape(file, "blk.0.ffn_down.weight"));
            assertEquals(14, file.tensor("token_embd.weight").orElseThrow().ggmlType());
            assertEquals(14, file.tensor("blk.1.attn_v.weight").orElseThrow().ggmlType());
            assertEquals(12, file.tensor("blk.0.attn_v.weight").orElseThrow().ggmlType());
            assertEquals(0, file.tensor("output_norm.weight").orElseThrow().ggmlType());
            String[] tokens = file.metadata().strings("tokenizer.ggml.tokens").orElseThrow();
            assertEquals(1000, tokens.length);
            assertEquals(1000, new HashSet<>(List.of(tokens)).size());
            assertEquals("!", tokens['!']);
            assertEquals("\u0120", tokens[' ']);
            assertEquals("\u010a", tokens['\n']);
            assertEquals("\u0143", tokens[0xad]);
            assertEquals("<|im_end|>", tokens[file.metadata().requiredInteger("tokenizer.ggml.eos_token_id")]);
        }
    }

    @Test
    void expertsAreMatricesOfThreeDimensionsInTheirOwnFormat() {
        Path path = folder.resolve("oss.gguf");
        SynthShape shape = SynthShape.preset("gpt-oss-20b").toBuilder()
                .layers(1)
                .embedding(64)
                .heads(2, 1, 32)
                .feedForward(96)
                .experts(3, 2)
                .vocabulary(300)
                .build();
        Synth.write(GgufWriter.to(path), shape, "MXFP4_MOE", ARCHITECTURES, TestFormats.all());
        try (GgufFile file = TestFiles.open(path)) {
            assertEquals(List.of(64L, 96L, 3L), shape(file, "blk.0.ffn_gate_exps.weight"));
            assertEquals(List.of(96L, 64L, 3L), shape(file, "blk.0.ffn_down_exps.weight"));
            assertEquals(List.of(64L, 3L), shape(file, "blk.0.ffn_down_exps.bias"));
            assertEquals(
                    39, file.tensor("blk.0.ffn_up_exps.weight").orElseThrow().ggmlType());
            assertEquals(
                    0, file.tensor("blk.0.ffn_gate_inp.weight").orElseThrow().ggmlType());
            assertEquals(8, file.tensor("blk.0.attn_q.weight").orElseThrow().ggmlType());
            assertEquals(3, file.metadata().requiredInteger("gpt-oss.expert_count"));
            assertEquals(2, file.metadata().requiredInteger("gpt-oss.expert_used_count"));
            assertEquals(96, file.metadata().requiredInteger("gpt-oss.expert_feed_forward_length"));
            assertEquals(38, file.metadata().requiredInteger("general.file_type"));
        }
    }

    @Test
    void everyShapeCanBeWritten() {
        for (String name : SynthShape.presetNames()) {
            SynthShape base = SynthShape.preset(name);
            SynthShape shape = base.toBuilder()
                    // The first with attention is the sixth in some, the fifteenth in Nemotron Nano.
                    .layers(Math.min(base.layers(), name.startsWith("nemotron") ? 15 : 7))
                    .embedding(128)
                    .feedForward(64)
                    .experts(Math.min(base.experts(), 8), Math.min(base.expertsUsed(), 2))
                    .vocabulary(300)
                    .build();
            Path path = folder.resolve(name + ".gguf");
            Synth.write(GgufWriter.to(path), shape, "Q8_0", ARCHITECTURES, TestFormats.all());
            try (GgufFile file = TestFiles.open(path)) {
                assertEquals(base.architecture(), file.metadata().requiredString("general.architecture"));
            }
        }
    }

    @Test
    void untiedLlamaHasOutputMatrixAndRopeFactors() {
        Path path = folder.resolve("llama.gguf");
        SynthShape shape = SynthShape.preset("llama-3.2-1b").toBuilder()
                .layers(1)
                .embedding(128)
                .heads(2, 1, 64)
                .feedForward(256)
                .vocabulary(300)
                .tied(false)
                .build();
        Synth.write(GgufWriter.to(path), shape, "F16", ARCHITECTURES, TestFormats.all());
        try (GgufFile file = TestFiles.open(path)) {
            assertEquals(List.of(128L, 300L), shape(file, "output.weight"));
            TensorInfo factors = file.tensor("rope_freqs.weight").orElseThrow();
            assertEquals(List.of(32L), factors.shape());
            var data = file.data(factors);
            assertEquals(1f, data.get(TestFiles.FLOAT, 0));
            assertEquals(32f, data.get(TestFiles.FLOAT, 31 * 4));
            float previous = 1;
            for (int i = 0; i < 32; i++) {
                float factor = data.get(TestFiles.FLOAT, 4L * i);
                assertTrue(factor >= previous && factor <= 32, "factor " + i + " is " + factor);
                previous = factor;
            }
            TensorInfo weight = file.tensor("blk.0.attn_q.weight").orElseThrow();
            assertDeviation(file, weight, 1 / Math.sqrt(128), 0.02);
        }
    }

    @Test
    void fileDependsOnTheSeedAndNotOnThreads() throws IOException {
        Path one = folder.resolve("one.gguf");
        Path four = folder.resolve("four.gguf");
        Path other = folder.resolve("other.gguf");
        Synth.write(GgufWriter.to(one).threads(1), TINY, "Q8_0", ARCHITECTURES, TestFormats.all());
        Synth.write(GgufWriter.to(four).threads(4), TINY, "Q8_0", ARCHITECTURES, TestFormats.all());
        Synth.write(
                GgufWriter.to(other).threads(4),
                TINY.toBuilder().seed(8).build(),
                "Q8_0",
                ARCHITECTURES,
                TestFormats.all());
        assertEquals(-1, Files.mismatch(one, four));
        assertTrue(Files.mismatch(one, other) > 0);
    }

    @Test
    void largeModelIsFilledFromAPoolOfGaussianBlocks() throws IOException {
        SynthShape shape = TINY.toBuilder().embedding(1024).vocabulary(60_000).build();
        Path one = folder.resolve("one.gguf");
        Path two = folder.resolve("two.gguf");
        Synth.write(GgufWriter.to(one).threads(1), shape, "Q8_0", ARCHITECTURES, TestFormats.all());
        Synth.write(GgufWriter.to(two).threads(2), shape, "Q8_0", ARCHITECTURES, TestFormats.all());
        assertEquals(-1, Files.mismatch(one, two));
        try (GgufFile file = TestFiles.open(one)) {
            assertTrue(file.sizeBytes() > 60_000 * 1024L);
            assertDeviation(file, file.tensor("token_embd.weight").orElseThrow(), 1 / 32.0, 0.001);
            assertDeviation(file, file.tensor("blk.1.ffn_down.weight").orElseThrow(), 1 / Math.sqrt(512), 0.005);
        }
    }

    @Test
    void formatThatIsNotInstalledIsRefused() throws IOException {
        UnsupportedModelException error = assertThrows(
                UnsupportedModelException.class,
                () -> Synth.write(GgufWriter.to(folder.resolve("x")), TINY, "Q6_K", ARCHITECTURES, List.of()));
        assertEquals(ErrorCode.MODEL_TENSOR_FORMAT, error.code());
        try (var files = Files.list(folder)) {
            assertEquals(Set.of(), Set.of(files.toArray()));
        }
    }

    @Test
    void theArchitectureSaysWhichTensorsThereAre() {
        ModelArchitecture own = new ModelArchitecture() {
            @Override
            public String id() {
                return "own";
            }

            @Override
            public ModelDefinition define(ModelSource source) {
                ModelConfig config = ModelConfig.read(source, 10_000);
                GraphBuilder graph = new GraphBuilder("own");
                Value x = graph.embedding("x", new Weight("token_embd.weight", config.embeddingLength(), 1000));
                int width = source.metadata().requiredInteger("own.middle");
                x = graph.linear("in", x, new Weight("in.weight", x.width(), width), Optional.empty());
                for (int layer = 0; layer < config.blockCount(); layer++) {
                    String name = "blk." + layer + ".gain.weight";
                    x = source.has(name) ? graph.rmsNorm("gain", x, Weight.vector(name, width), 1e-5f) : x;
                }
                Weight head = new Weight("head.weight", width, 1000);
                return new ModelDefinition(config, graph.build(graph.linear("y", x, head, Optional.empty())));
            }
        };
        SynthShape shape = TINY.toBuilder()
                .architecture("own")
                .keys(new SynthKeys().put("middle", 96).map())
                .optional(List.of("blk.*.gain.weight", "blk.*.not.weight"))
                .build();
        Path path = folder.resolve("own.gguf");
        Synth.write(GgufWriter.to(path), shape, "Q8_0", List.of(own), TestFormats.all());
        try (GgufFile file = TestFiles.open(path)) {
            assertEquals(
                    List.of(
                            "head.weight [96, 1000]",
                            "in.weight [256, 96]",
                            "token_embd.weight [256, 1000]",
                            "blk.0.gain.weight [96]",
                            "blk.1.gain.weight [96]"),
                    file.tensors().stream().map(t -> t.name() + " " + t.shape()).toList());
        }
        UnsupportedModelException error = assertThrows(
                UnsupportedModelException.class,
                () -> Synth.write(GgufWriter.to(folder.resolve("x")), TINY, "Q8_0", List.of(own), TestFormats.all()));
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, error.code());
        assertTrue(error.getMessage().contains("qwen3; installed are own"), error.getMessage());
    }

    @Test
    void impossibleShapeIsRefused() {
        assertThrows(
                TenonException.class, () -> TINY.toBuilder().heads(3, 2, 64).build());
        assertThrows(
                TenonException.class, () -> TINY.toBuilder().heads(2, 2, 63).build());
        assertThrows(
                TenonException.class, () -> TINY.toBuilder().vocabulary(258).build());
        assertThrows(TenonException.class, () -> TINY.toBuilder().layers(0).build());
        assertThrows(TenonException.class, () -> TINY.toBuilder().experts(2, 3).build());
        assertEquals(
                ErrorCode.USAGE,
                assertThrows(TenonException.class, () -> SynthShape.preset("llama-9"))
                        .code());
    }

    private static List<Long> shape(GgufFile file, String tensor) {
        return file.tensor(tensor).orElseThrow().shape();
    }

    private static void assertWeights(long expected, String preset) {
        assertEquals(
                4 * expected,
                Synth.weightBytes(SynthShape.preset(preset), "F32", ARCHITECTURES, TensorTypes.standard()));
    }

    private static void assertBytes(double expected, String preset, String mix) {
        long bytes = Synth.weightBytes(SynthShape.preset(preset), mix, ARCHITECTURES, TensorTypes.standard());
        assertEquals(expected, bytes, expected * 0.003, preset + " " + mix);
    }

    private static void assertDeviation(GgufFile file, TensorInfo tensor, double expected, double tolerance) {
        FormatSet formats = new FormatSet(TestFormats.all());
        int n = (int) Math.min(tensor.elements(), 1 << 20);
        float[] values = new float[n];
        formats.decoder(tensor.ggmlType(), tensor.name(), "").dequantize(file.data(tensor), 0, values, 0, n);
        double sum = 0;
        double squares = 0;
        for (float value : values) {
            sum += value;
            squares += (double) value * value;
        }
        assertEquals(0, sum / n, expected * 0.05, tensor.name());
        assertEquals(expected, Math.sqrt(squares / n), tolerance, tensor.name());
    }
}
