package dev.tenon.itest.testkit.models;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What an architecture sees of a file, for tests of one: the keys of a tiny decoder and the tensors that a
/// test names.
///
/// It begins with two blocks of width 32 with four query heads and two key heads of 8, a feed-forward width of
/// 48, a context of 128, an RMS epsilon of 1e-5, and an embedding of 67 tokens. Not safe for several threads.
public final class TinySource {
    private final String architecture;
    private final Map<String, GgufValue> metadata = new LinkedHashMap<>();
    private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();
    private int context;

    /// Creates the source.
    ///
    /// @param architecture value of `general.architecture`
    public TinySource(String architecture) {
        this.architecture = architecture;
        metadata.put("general.architecture", GgufValue.of(architecture));
        key("block_count", 2);
        key("context_length", 128);
        key("embedding_length", 32);
        key("feed_forward_length", 48);
        key("attention.head_count", 4);
        key("attention.head_count_kv", 2);
        key("attention.layer_norm_rms_epsilon", 1e-5f);
        tensor("token_embd.weight", 32, 67);
    }

    /// Sets a key of the architecture.
    ///
    /// @param key without the architecture, such as `block_count`
    /// @param value an `Integer` (stored unsigned), `Float`, `Boolean`, `String`, `long[]`, `float[]` or
    ///     `boolean[]`
    /// @return this
    public TinySource key(String key, Object value) {
        return general(architecture + "." + key, value);
    }

    /// Sets a key whose name does not begin with the architecture.
    ///
    /// @param key its whole name, such as `xielu.beta`
    /// @param value as above
    /// @return this
    public TinySource general(String key, Object value) {
        metadata.put(
                key,
                switch (value) {
                    case Integer number -> GgufValue.ofUint32(number);
                    case Float number -> GgufValue.of(number);
                    case Boolean truth -> GgufValue.of(truth);
                    case String text -> GgufValue.of(text);
                    case long[] numbers -> GgufValue.ofInt32Array(numbers);
                    case float[] numbers -> GgufValue.of(numbers);
                    case boolean[] truths -> new GgufValue(GgufType.ARRAY, GgufType.BOOL, truths);
                    default -> throw new IllegalArgumentException(key + " is " + value.getClass());
                });
        return this;
    }

    /// Removes a key of the architecture.
    ///
    /// @param key without the architecture
    /// @return this
    public TinySource without(String key) {
        if (metadata.remove(architecture + "." + key) == null) {
            throw new IllegalArgumentException("there is no key " + key);
        }
        return this;
    }

    /// Adds a tensor.
    ///
    /// @param name tensor name
    /// @param shape lengths, the fastest first
    /// @return this
    public TinySource tensor(String name, long... shape) {
        List<Long> lengths = Arrays.stream(shape).boxed().toList();
        long bytes = 4 * lengths.stream().reduce(1L, Math::multiplyExact);
        tensors.put(name, new TensorInfo(name, 0, lengths, 0, 0, bytes));
        return this;
    }

    /// Removes a tensor.
    ///
    /// @param name tensor name
    /// @return this
    public TinySource withoutTensor(String name) {
        if (tensors.remove(name) == null) {
            throw new IllegalArgumentException("there is no tensor " + name);
        }
        return this;
    }

    /// Adds a tensor to each block.
    ///
    /// @param name tensor name without the block, such as `attn_q.weight`
    /// @param shape lengths, the fastest first
    /// @return this
    public TinySource each(String name, long... shape) {
        long blocks = (Long) metadata.get(architecture + ".block_count").value();
        for (int block = 0; block < blocks; block++) {
            tensor("blk." + block + "." + name, shape);
        }
        return this;
    }

    /// Sets how long sequences may become; as long as the keys say by default.
    ///
    /// @param positions such as 64
    /// @return this
    public TinySource context(int positions) {
        context = positions;
        return this;
    }

    /// {@return keys and tensors}
    public ModelSource source() {
        return new ModelSource(GgufMetadata.of("tiny.gguf", metadata), tensors, context);
    }

    /// {@return the configuration of the keys that a source begins with, for what a test adds to them}
    public ModelConfig.Builder beginning() {
        return ModelConfig.builder(architecture)
                .contextLength(128)
                .embeddingLength(32)
                .blockCount(2)
                .headCount(4)
                .headCountKv(2)
                .keyLength(8)
                .valueLength(8)
                .feedForwardLength(48)
                .vocabularySize(67)
                .ropeDim(8);
    }

    /// {@return the configuration that an architecture reads}
    ///
    /// @param reader the architecture
    public ModelConfig config(ModelArchitecture reader) {
        return reader.define(source()).config();
    }

    /// {@return the graph that an architecture builds}
    ///
    /// @param builder the architecture
    public Graph graph(ModelArchitecture builder) {
        return builder.define(source()).graph();
    }

    /// {@return the error with which an architecture refuses this source}
    ///
    /// @param reader the architecture
    public TenonException refusal(ModelArchitecture reader) {
        return assertThrows(TenonException.class, () -> reader.define(source()));
    }
}
