package dev.tenon.itest.testkit;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// [ArchitectureContract] for an architecture whose tiny model is a [TinySource]: the form for tests in the
/// architecture's own module.
public abstract class TinyArchitectureContract extends ArchitectureContract {
    /// For subclasses.
    protected TinyArchitectureContract() {}

    /// {@return a new source with all keys and tensors that the architecture reads}
    protected abstract TinySource tiny();

    /// {@return the keys, without the architecture, that it cannot do without, beside those of every decoder}
    protected abstract Set<String> ownKeys();

    @Override
    protected final Map<String, GgufValue> metadata() {
        return tiny().source().metadata().values();
    }

    @Override
    protected final Map<String, List<Long>> tensors() {
        Map<String, List<Long>> shapes = new LinkedHashMap<>();
        for (TensorInfo tensor : tiny().source().tensors().values()) {
            shapes.put(tensor.name(), tensor.shape());
        }
        return shapes;
    }

    @Override
    protected final Set<String> requiredKeys() {
        Set<String> names = new HashSet<>(ownKeys());
        String layerNorm = "attention.layer_norm_epsilon";
        boolean layerNorms = metadata().containsKey(architecture().id() + "." + layerNorm);
        names.addAll(Set.of(
                "block_count",
                "context_length",
                "embedding_length",
                layerNorms ? layerNorm : "attention.layer_norm_rms_epsilon"));
        String heads = "attention.head_count";
        if (metadata().containsKey(architecture().id() + "." + heads)) {
            names.add(heads);
        }
        Set<String> keys = new HashSet<>(Set.of("general.architecture"));
        names.forEach(name -> keys.add(architecture().id() + "." + name));
        return keys;
    }
}
