package dev.tenon.api.chat;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A tool that a model may call. Immutable, if nobody changes values inside of the schema.
///
/// @param name what the model calls it; never null
/// @param description what it is for; empty if that is not said; never null
/// @param parameters JSON Schema of its arguments as strings, numbers, booleans, null, lists and maps
///     with string keys, whose order is kept; null for a tool without arguments; copied
public record Tool(
        String name, String description, @Nullable Map<String, @Nullable Object> parameters) {
    /// Checks and copies.
    public Tool {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(description, "description");
        parameters = Collections.unmodifiableMap(parameters == null ? none() : new LinkedHashMap<>(parameters));
    }

    private static Map<String, @Nullable Object> none() {
        Map<String, @Nullable Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", Map.of());
        return schema;
    }
}
