package dev.tenon.platform.contracts.itest;

import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.GoldenLogits;
import dev.tenon.platform.contracts.compare.FileWeights;
import dev.tenon.platform.core.control.Definitions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// The model that an architecture's contract is run with: a file's metadata and shapes, or those of a tiny
/// model that has the keys which GGUF defines for decoders, or for encoders.
///
/// @param metadata keys and values, without the tokenizer's
/// @param tensors shapes by name, the fastest dimension first
/// @param weights those of the file, borrowed; empty where there is none
/// @param golden logits that the model gives with these weights
public record TinyModel(
        Map<String, GgufValue> metadata,
        Map<String, List<Long>> tensors,
        Optional<Weights> weights,
        List<GoldenLogits> golden) {
    private static final String OUTPUT = "output.weight";
    private static final String EMBEDDING = "token_embd.weight";
    private static final long WIDTH = 64;
    private static final long VOCABULARY = 67;

    /// {@return a model with seven layers, so that architectures with local and global ones have both}
    ///
    /// @param architecture gives the names and shapes of its weights
    /// @throws TenonException (`ITEST-002`) if it needs more than the keys that GGUF defines for decoders
    public static TinyModel of(ModelArchitecture architecture) {
        String id = architecture.id();
        Map<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put("general.architecture", GgufValue.of(id));
        keys.put("general.name", GgufValue.of("tiny"));
        integers(keys, id, "block_count", 7);
        integers(keys, id, "context_length", 128);
        integers(keys, id, "embedding_length", WIDTH);
        integers(keys, id, "feed_forward_length", 96);
        integers(keys, id, "attention.head_count", 4);
        integers(keys, id, "attention.head_count_kv", 2);
        integers(keys, id, "attention.key_length", 16);
        integers(keys, id, "attention.value_length", 16);
        integers(keys, id, "attention.sliding_window", 5);
        integers(keys, id, "rope.dimension_count", 16);
        keys.put(id + ".attention.layer_norm_rms_epsilon", GgufValue.of(1e-6f));
        keys.put(id + ".rope.freq_base", GgufValue.of(50_000f));
        integers(keys, id, "vocab_size", VOCABULARY);
        Map<String, List<Long>> given = new LinkedHashMap<>();
        given.put(EMBEDDING, List.of(WIDTH, VOCABULARY));
        given.put(OUTPUT, List.of(WIDTH, VOCABULARY));
        Graph graph;
        try {
            graph = decoderOrEncoder(architecture, keys, given);
        } catch (TenonException e) {
            throw new TenonException(
                    ErrorCode.ITEST_MODEL,
                    "Architecture " + id + " does not define the tiny model of this command, which has the keys that"
                            + " GGUF defines for decoders: " + e.getMessage()
                            + ". Give a file of that architecture with --model FILE; only its metadata and shapes are"
                            + " used",
                    e);
        }
        Map<String, List<Long>> tensors = new LinkedHashMap<>(given);
        for (Weight weight : graph.expanded().weights()) {
            long cols = weight.cols();
            long rows = weight.rows();
            tensors.put(
                    weight.name(),
                    weight.slices() > 1
                            ? List.of(cols, rows, (long) weight.slices())
                            : rows > 1 ? List.of(cols, rows) : List.of(cols));
        }
        return new TinyModel(keys, tensors, Optional.empty(), List.of());
    }

    /// Where the keys of a decoder are refused, those of an encoder are tried, which has no output matrix; then keys
    /// and shapes become its own.
    private static Graph decoderOrEncoder(
            ModelArchitecture architecture, Map<String, GgufValue> keys, Map<String, List<Long>> shapes) {
        try {
            return defined(architecture, keys, shapes).graph();
        } catch (TenonException e) {
            String id = architecture.id();
            Map<String, GgufValue> encoder = new LinkedHashMap<>(keys);
            encoder.put(id + ".attention.layer_norm_epsilon", encoder.remove(id + ".attention.layer_norm_rms_epsilon"));
            encoder.remove(id + ".attention.head_count_kv");
            encoder.put(id + ".attention.causal", GgufValue.of(false));
            integers(encoder, id, "pooling_type", 1);
            Map<String, List<Long>> shapesOfEncoder = new LinkedHashMap<>(shapes);
            shapesOfEncoder.remove(OUTPUT);
            Graph graph;
            try {
                graph = defined(architecture, encoder, shapesOfEncoder).graph();
            } catch (TenonException noEncoder) {
                e.addSuppressed(noEncoder);
                throw e;
            }
            if (graph.isCausal()) {
                throw e;
            }
            keys.clear();
            keys.putAll(encoder);
            shapes.remove(OUTPUT);
            return graph;
        }
    }

    /// {@return the model of a file}
    ///
    /// @param file the file; borrowed
    /// @param formats the formats that decode its tensors
    /// @param golden logits that it gives
    public static TinyModel of(GgufFile file, List<QuantFormat> formats, List<GoldenLogits> golden) {
        Map<String, GgufValue> keys = new LinkedHashMap<>(file.metadata().values());
        keys.keySet().removeIf(key -> key.startsWith("tokenizer."));
        Map<String, List<Long>> shapes = new LinkedHashMap<>();
        file.tensors().forEach(info -> shapes.put(info.name(), info.shape()));
        return new TinyModel(keys, shapes, Optional.of(new FileWeights(file, formats)), golden);
    }

    private static void integers(Map<String, GgufValue> keys, String id, String key, long value) {
        keys.put(id + "." + key, GgufValue.ofUint32(value));
    }

    /// {@return the keys without which the architecture refuses the model}
    ///
    /// @param architecture is asked
    Set<String> requiredKeys(ModelArchitecture architecture) {
        Set<String> required = new TreeSet<>();
        for (String key : metadata.keySet()) {
            Map<String, GgufValue> without = new LinkedHashMap<>(metadata);
            without.remove(key);
            try {
                defined(architecture, without, tensors);
            } catch (TenonException e) {
                // Without one key, another may no longer fit: that does not make the first one needed. That a failure
                // of the code is no good refusal is for the contract to say.
                boolean other = e.code().equals(ErrorCode.MODEL_KEY_VALUE)
                        && !e.getMessage().contains(key);
                if (!other) {
                    required.add(key);
                }
            }
        }
        return required;
    }

    /// {@return whether there is an output matrix, and the model is defined without it, too}
    ///
    /// @param architecture is asked
    boolean mayBeTied(ModelArchitecture architecture) {
        Map<String, List<Long>> tied = new LinkedHashMap<>(tensors);
        if (tied.remove(OUTPUT) == null) {
            return false;
        }
        try {
            return defined(architecture, metadata, tied) != null;
        } catch (TenonException e) {
            return false;
        }
    }

    private static ModelDefinition defined(
            ModelArchitecture architecture, Map<String, GgufValue> keys, Map<String, List<Long>> shapes) {
        return Definitions.of(architecture, source(keys, shapes), "the tiny model");
    }

    private static ModelSource source(Map<String, GgufValue> keys, Map<String, List<Long>> shapes) {
        Map<String, TensorInfo> infos = new LinkedHashMap<>();
        long offset = 0;
        for (Map.Entry<String, List<Long>> entry : shapes.entrySet()) {
            long bytes = 4 * entry.getValue().stream().reduce(1L, Math::multiplyExact);
            infos.put(entry.getKey(), new TensorInfo(entry.getKey(), 0, entry.getValue(), 0, offset, bytes));
            offset += bytes;
        }
        return new ModelSource(GgufMetadata.of("tiny.gguf", keys), infos);
    }
}
