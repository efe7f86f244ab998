package dev.tenon.platform.core.registry;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.control.ServiceKind;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.util.List;

/// The ids by which a service is looked up, of which each may be offered once.
///
/// They are read once, when the service comes: it cannot take another one's later.
///
/// @param kind such as `format`
/// @param name the id; empty where one of a kind is used, or all are
/// @param all what nobody else may have, as messages call it: kind and id, and a format's type number
/// @param flaw why nobody may have these ids, or null
record ServiceIds(String kind, String name, List<String> all, String flaw) {
    /// {@return the ids of a service; none where all of its kind are used, such as kernels}
    static ServiceIds of(ServiceKind kind, Object service) {
        String name = kind.id(service);
        return switch (kind.use()) {
            case ALL -> new ServiceIds(kind.word(), name, List.of(), null);
            case BEST, FIRST_FOR_EACH_ID, BEST_FOR_EACH_ID ->
                service instanceof QuantFormat format
                        ? of(format)
                        : new ServiceIds(
                                kind.word(),
                                name,
                                List.of(name.isEmpty() ? "the " + kind.word() : kind.word() + " " + name),
                                null);
        };
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
