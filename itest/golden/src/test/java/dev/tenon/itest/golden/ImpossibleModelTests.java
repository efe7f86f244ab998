package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// A sound tiny model with one thing in it that cannot be right is refused, in one line with a code.
class ImpossibleModelTests {
    private static final Path SOUND = GoldenData.projectRoot()
            .resolve("platform/core/src/test/resources/golden/malformed")
            .resolve("ok_model.gguf");

    private static Engine engine;

    @TempDir
    static Path folder;

    /// A model that is being changed.
    static final class Model {
        record Tensor(int type, List<Long> shape, byte[] data) {}

        final Map<String, GgufValue> metadata = new LinkedHashMap<>();
        final Map<String, Tensor> tensors = new LinkedHashMap<>();

        Model() {
            try (GgufFile file = GgufReader.open(SOUND, TensorTypes.standard())) {
                metadata.putAll(file.metadata().values());
                for (TensorInfo info : file.tensors()) {
                    tensors.put(
                            info.name(),
                            new Tensor(
                                    info.ggmlType(),
                                    info.shape(),
                                    file.data(info).toArray(ValueLayout.JAVA_BYTE)));
                }
            }
        }

        Model set(String key, float value) {
            metadata.put(key, GgufValue.of(value));
            return this;
        }

        Model set(String key, long value) {
            metadata.put(key, GgufValue.ofUint32(value));
            return this;
        }

        Model set(String key, String value) {
            metadata.put(key, GgufValue.of(value));
            return this;
        }

        Model copy(String tensor, String name) {
            tensors.put(name, tensors.get(tensor));
            return this;
        }

        Model ropeFactors(float... values) {
            return vector("rope_freqs.weight", values);
        }

        Model vector(String name, float... values) {
            tensors.put(name, new Tensor(0, List.of((long) values.length), TinyGguf.f32(values)));
            return this;
        }

        /// Gives the model another architecture with the same keys and tensors.
        Model architecture(String id) {
            Map<String, GgufValue> keys = new LinkedHashMap<>();
            metadata.forEach((key, value) -> keys.put(key.replaceFirst("^llama\\.", id + "."), value));
            metadata.clear();
            metadata.putAll(keys);
            return set("general.architecture", id);
        }

        Model without(String tensor) {
            tensors.remove(tensor);
            return this;
        }

        Model ones(String name, long... shape) {
            List<Long> lengths = LongStream.of(shape).boxed().toList();
            float[] values = new float[(int) LongStream.of(shape).reduce(1, Math::multiplyExact)];
            Arrays.fill(values, 1);
            tensors.put(name, new Tensor(0, lengths, TinyGguf.f32(values)));
            return this;
        }

        /// Makes the feed-forward layer one of four experts, two of which a token uses.
        Model experts() {
            return architecture("olmoe")
                    .set("olmoe.expert_count", 4)
                    .set("olmoe.expert_used_count", 2)
                    .without("blk.0.ffn_gate.weight")
                    .without("blk.0.ffn_up.weight")
                    .without("blk.0.ffn_down.weight")
                    .ones("blk.0.attn_q_norm.weight", 32)
                    .ones("blk.0.attn_k_norm.weight", 16)
                    .ones("blk.0.ffn_gate_inp.weight", 32, 4)
                    .ones("blk.0.ffn_gate_exps.weight", 32, 32, 4)
                    .ones("blk.0.ffn_up_exps.weight", 32, 32, 4)
                    .ones("blk.0.ffn_down_exps.weight", 32, 32, 4);
        }

        Path write(Path file) throws IOException {
            TinyGguf out = new TinyGguf().putAll(metadata);
            tensors.forEach((name, tensor) -> out.tensor(name, tensor.type(), tensor.shape(), tensor.data()));
            return out.write(file);
        }
    }

    private record Case(String code, String named, Model model) {}

    private static Model sound() {
        return new Model();
    }

    private static float[] factors(int bad, float value) {
        float[] factors = new float[8];
        IntStream.range(0, factors.length).forEach(i -> factors[i] = i == bad ? value : 1);
        return factors;
    }

    private static Stream<Case> cases() {
        String base = "llama.rope.freq_base";
        String type = "llama.rope.scaling.type";
        String factor = "llama.rope.scaling.factor";
        String eps = "llama.attention.layer_norm_rms_epsilon";
        List<Case> cases = new ArrayList<>();
        for (float value : new float[] {
            Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -0f, -10000, 1e-30f, 0.5f, 1e30f
        }) {
            cases.add(new Case("MODEL-002", base, sound().set(base, value)));
        }
        for (float value :
                new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -2, 1e-30f, 1e30f}) {
            cases.add(new Case("MODEL-002", factor, sound().set(type, "linear").set(factor, value)));
        }
        for (float value : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -1e-6f, 1}) {
            cases.add(new Case("MODEL-002", eps, sound().set(eps, value)));
        }
        for (float value : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -1}) {
            cases.add(new Case("MODEL-007", "rope_freqs.weight", sound().ropeFactors(factors(5, value))));
        }
        cases.add(new Case("MODEL-002", "block_count", sound().copy("blk.0.attn_q.weight", "blk.1.attn_q.weight")));
        cases.add(new Case("MODEL-002", "block_count", sound().copy("blk.0.attn_q.weight", "blk.99999999999.x")));
        cases.add(new Case("MODEL-002", "block_count", sound().copy("blk.0.attn_q.weight", "blk.1.any.thing")));
        cases.add(new Case("MODEL-002", "context_length", sound().set("llama.context_length", 0)));
        cases.add(new Case("MODEL-002", "block_count", sound().set("llama.block_count", 0)));
        cases.add(new Case("MODEL-002", "head_count", sound().set("llama.attention.head_count", 3)));
        cases.add(new Case("MODEL-002", "head_count_kv", sound().set("llama.attention.head_count_kv", 3)));
        cases.add(new Case("MODEL-002", "head_count_kv", sound().set("llama.attention.head_count_kv", 0)));
        cases.add(new Case("MODEL-002", "dimension_count", sound().set("llama.rope.dimension_count", 15)));
        cases.add(new Case("MODEL-002", "dimension_count", sound().set("llama.rope.dimension_count", 32)));
        cases.add(new Case("MODEL-003", "has architecture", sound().set("general.architecture", "l\n\u001b[2Jx")));
        cases.add(new Case("MODEL-003", "has architecture", sound().set("general.architecture", "x".repeat(1 << 20))));
        cases.add(new Case("MODEL-003", type, sound().set(type, "\u001b[2J\n" + "x".repeat(1 << 20))));
        cases.add(new Case(
                "MODEL-008", "tokenizer", sound().set("tokenizer.ggml.model", "\u001b[2J\n" + "x".repeat(1 << 20))));
        cases.add(new Case(
                "MODEL-008", "tokenizer", sound().set("tokenizer.ggml.pre", "\u001b[2J\n" + "x".repeat(1 << 20))));
        expertCases(cases);
        return cases.stream();
    }

    private static void expertCases(List<Case> cases) {
        String router = "blk.0.ffn_gate_inp.weight";
        String up = "blk.0.ffn_up_exps.weight";
        String norm = "blk.0.attn_q_norm.weight";
        cases.add(new Case("MODEL-002", "expert_count", experts().set("olmoe.expert_count", 0)));
        cases.add(new Case("MODEL-002", "expert_used_count", experts().set("olmoe.expert_used_count", 5)));
        cases.add(new Case("MODEL-002", "expert_group_count", experts().set("olmoe.expert_group_count", 3)));
        cases.add(new Case("MODEL-003", "expert_gating_func", experts().set("olmoe.expert_gating_func", 9)));
        cases.add(new Case("MODEL-004", router, experts().without(router)));
        cases.add(new Case("MODEL-004", up, experts().without(up)));
        cases.add(new Case("MODEL-004", norm, experts().without(norm)));
        cases.add(new Case("MODEL-005", router, experts().set("olmoe.expert_count", 5)));
        cases.add(new Case("MODEL-005", router, experts().ones(router, 32, 3)));
        cases.add(new Case("MODEL-005", up, experts().ones(up, 32, 31, 4)));
        cases.add(new Case("MODEL-005", up, experts().ones(up, 32, 128)));
        cases.add(new Case("MODEL-005", norm, experts().ones(norm, 16)));
        cases.add(new Case("MODEL-003", "expert_count", sound().set("llama.expert_count", 4)));
    }

    private static Model experts() {
        return sound().experts();
    }

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    @TestFactory
    Stream<DynamicTest> eachIsRefusedInOneLine() {
        int[] number = new int[1];
        return cases().map(c -> DynamicTest.dynamicTest(number[0]++ + " " + c.named(), () -> refused(c)));
    }

    private static void refused(Case c) throws IOException {
        Path file = Files.createTempFile(folder, "model", ".gguf");
        c.model().write(file);
        String message = assertThrows(
                        TenonException.class,
                        () -> engine.load(LoadRequest.of(file)).close())
                .getMessage();
        assertTrue(
                message.endsWith("[" + c.code() + ", docs/errors.md#" + c.code().toLowerCase() + "]")
                        || message.endsWith("[" + c.code() + "]"),
                message);
        assertTrue(message.contains(c.named()), message);
        assertTrue(message.length() < 4100 + file.toString().length(), "characters: " + message.length());
        assertEquals(-1, message.chars().filter(ch -> ch < ' ').findFirst().orElse(-1), message);
    }

    /// What is at the edge of what can be right loads.
    @Test
    void theUnchangedModelAndPlausibleOnesLoad() throws IOException {
        for (Model model : List.of(
                sound(),
                sound().set("llama.rope.freq_base", 1e9f),
                sound().set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 8),
                sound().set("llama.attention.layer_norm_rms_epsilon", 0f),
                sound().ropeFactors(factors(5, 32)),
                experts(),
                experts().set("olmoe.expert_used_count", 4),
                experts().set("olmoe.expert_gating_func", 2))) {
            engine.load(LoadRequest.of(model.write(Files.createTempFile(folder, "model", ".gguf"))))
                    .close();
        }
    }
}
