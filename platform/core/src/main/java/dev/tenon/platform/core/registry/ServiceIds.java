package dev.tenon.platform.core.registry;

import dev.tenon.api.device.Backend;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.util.List;

/// The ids by which a service is looked up, of which each may be offered once.
///
/// They are read once, when the service comes: it cannot take another one's later.
///
/// @param kind such as `format`
/// @param name the id
/// @param all what nobody else may have, as messages call it: kind and id, and a format's type number
/// @param flaw why nobody may have these ids, or null
record ServiceIds(String kind, String name, List<String> all, String flaw) {
    /// {@return the ids of a service; none for kernels, of which each op takes the best}
    static ServiceIds of(Object service) {
        return switch (service) {
            case QuantFormat format -> of(format);
            case ModelArchitecture architecture -> of("architecture", architecture.id());
            case Backend backend -> of("backend", backend.id());
            case TokenizerProvider tokenizer -> of("tokenizer", tokenizer.model());
            case EndpointProvider endpoints -> of("endpoint", endpoints.id());
            case SamplerProvider sampler -> only("sampler");
            case ChatTemplateEngine engine -> only("template");
            default -> new ServiceIds("", "", List.of(), null);
        };
    }

    private static ServiceIds of(String kind, String name) {
        return new ServiceIds(kind, name, List.of(kind + " " + name), null);
    }

    /// The ids of a kind of which one is used: the kind itself.
    private static ServiceIds only(String kind) {
        return new ServiceIds(kind, "", List.of("the " + kind), null);
    }

    private static ServiceIds of(QuantFormat format) {
        TensorType type = TensorType.of(format);
        String flaw = TensorTypes.standard()
                .find(type.number())
                .filter(known -> !known.equals(type))
                .map(known -> "format " + type.name() + " claims tensor type number " + type.number()
                        + ", which ggml has given to " + known.name())
                .orElse(null);
        return new ServiceIds(
                "format", type.name(), List.of("format " + type.name(), "tensor type number " + type.number()), flaw);
    }

    /// {@return the setting that names the one to offer where several bundles have the id}
    String setting() {
        return name.isEmpty() ? kind : kind + "." + name;
    }
}
