package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.tools.gguf.GgufWriter;
import dev.tenon.platform.tools.gguf.Merge;
import dev.tenon.platform.tools.gguf.Requantizer;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Low-rank adapters of experts and embeddings.
class AdapterMergeTests {
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

    private static GgufFile open(Path file) {
        return GgufReader.open(file, TensorTypes.of(engine.formats()));
    }

    /// What cannot be changed while the model runs: matrices of experts, and a table of embeddings that is the output
    /// matrix, too. Oracle: `W + scale * factor * B A`, element by element.
    @Test
    void expertsAndTiedTablesAreMergedAndRefusedBesideTheModel() throws IOException {
        Path plain = folder.resolve("experts.f32.gguf");
        try (GgufFile in = open(GoldenData.larger("golden/models/olmoe.q8_0.gguf"))) {
            Requantizer.quantize(in, GgufWriter.to(plain).threads(2).replaceExisting(true), "F32", engine.formats());
        }
        int rank = 4;
        TinyGguf made = new TinyGguf()
                .put("general.type", GgufValue.of("adapter"))
                .put("general.architecture", GgufValue.of("olmoe"))
                .put("adapter.type", GgufValue.of("lora"))
                .put("adapter.lora.alpha", GgufValue.of(6f));
        try (GgufFile before = open(plain)) {
            TensorInfo experts = before.tensor("blk.0.ffn_down_exps.weight").orElseThrow();
            long slices = experts.shape().get(2);
            matrices(made, experts.name() + ".lora_a", List.of(experts.cols(), (long) rank, slices));
            matrices(made, experts.name() + ".lora_b", List.of((long) rank, experts.rows() / slices, slices));
            TensorInfo table = before.tensor("token_embd.weight").orElseThrow();
            matrices(made, table.name() + ".lora_a", List.of((long) rank, table.rows()));
            matrices(made, table.name() + ".lora_b", List.of((long) rank, table.cols()));
            Path adapter = made.write(folder.resolve("of-experts.gguf"));
            Path merged = folder.resolve("merged.gguf");
            try (Merge merge = Merge.open(Map.of(adapter, 0.5f), TensorTypes.of(engine.formats()), before)) {
                Requantizer.quantize(
                        before, merge, GgufWriter.to(merged).threads(2).replaceExisting(true), "F32", engine.formats());
            }
            try (GgufFile after = open(merged);
                    GgufFile changes = open(adapter)) {
                float factor = 0.5f * 6 / rank;
                for (TensorInfo tensor : before.tensors()) {
                    float[] expected = floats(before, tensor.name());
                    if (changes.tensor(tensor.name() + ".lora_a").isPresent()) {
                        float[] a = floats(changes, tensor.name() + ".lora_a");
                        float[] b = floats(changes, tensor.name() + ".lora_b");
                        change(expected, a, b, rank, factor, tensor);
                    }
                    assertArrayEquals(expected, floats(after, tensor.name()), 1e-6f, tensor.name());
                }
            }
            LoadRequest wanted =
                    LoadRequest.builder(plain).adapter("a", adapter, 1).build();
            TenonException e = assertThrows(TenonException.class, () -> engine.load(wanted));
            assertEquals(ErrorCode.MODEL_TENSOR_UNUSED, e.code(), e.getMessage());
            for (String part : List.of("which op expert_linear reads", "which op embedding reads", "quantize --lora")) {
                assertTrue(e.getMessage().contains(part), e.getMessage());
            }
        }
    }

    private static void change(float[] of, float[] a, float[] b, int rank, float factor, TensorInfo tensor) {
        int cols = Math.toIntExact(tensor.cols());
        int slices = Math.toIntExact(tensor.shape().size() == 3 ? tensor.shape().get(2) : 1);
        int rows = Math.toIntExact(tensor.rows()) / slices;
        boolean table = tensor.name().equals("token_embd.weight");
        for (int at = 0; at < of.length; at++) {
            int col = at % cols;
            int row = at / cols % rows;
            int slice = at / cols / rows;
            double sum = 0;
            for (int k = 0; k < rank; k++) {
                sum += table
                        ? (double) a[row * rank + k] * b[col * rank + k]
                        : (double) b[(slice * rows + row) * rank + k] * a[(slice * rank + k) * cols + col];
            }
            of[at] = (float) (of[at] + factor * sum);
        }
    }

    private static float[] floats(GgufFile file, String tensor) {
        return file.data(file.tensor(tensor).orElseThrow()).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    private static void matrices(TinyGguf to, String name, List<Long> shape) {
        Random random = new Random(name.hashCode());
        float[] values = new float
                [Math.toIntExact(shape.stream().mapToLong(Long::longValue).reduce(1, Math::multiplyExact))];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian() / 8;
        }
        to.tensor(name, 0, shape, TinyGguf.f32(values));
    }
}
