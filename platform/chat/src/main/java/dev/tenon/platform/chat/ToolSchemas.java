package dev.tenon.platform.chat;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What the parameters of tools are.
final class ToolSchemas {
    /// Keywords beside which `additionalProperties` means something else, or may contradict.
    private static final Set<String> COMBINING = Set.of(
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "allOf",
            "anyOf",
            "oneOf",
            "$ref",
            "$dynamicRef",
            "if",
            "dependentSchemas",
            "dependentRequired");

    private static final String NAMESPACE = "functions.";

    private final Map<String, Map<String, Object>> byName = new LinkedHashMap<>();

    /// @param tools the tools, as OpenAI describes them
    @SuppressWarnings("unchecked") // JSON
    ToolSchemas(List<Map<String, Object>> tools) {
        for (Map<String, Object> tool : tools) {
            Map<String, Object> function = (Map<String, Object>) tool.get("function");
            Object parameters = function.get("parameters");
            byName.put(
                    String.valueOf(function.get("name")),
                    parameters instanceof Map<?, ?> ? (Map<String, Object>) parameters : Map.of("type", "object"));
        }
    }

    Set<String> names() {
        return byName.keySet();
    }

    /// {@return the tool that a call means, which may name the tools' common namespace; null if none was offered}
    ///
    /// @param name the name in the call
    String offered(String name) {
        if (byName.containsKey(name)) {
            return name;
        }
        String inner = name.startsWith(NAMESPACE) ? name.substring(NAMESPACE.length()) : name;
        return byName.containsKey(inner) ? inner : null;
    }

    /// {@return the schema of a tool's arguments for a forced call: only the parameters that it names, where that is
    /// among what it allows}
    ///
    /// @param name a tool
    Map<String, Object> forced(String name) {
        Map<String, Object> schema = byName.get(name);
        boolean open = !(schema.get("properties") instanceof Map<?, ?> named)
                || schema.get("required") instanceof List<?> required
                        && !named.keySet().containsAll(required)
                || schema.keySet().stream().anyMatch(COMBINING::contains);
        if (open) {
            return schema;
        }
        Map<String, Object> closed = new HashMap<>(schema);
        closed.put("additionalProperties", false);
        return closed;
    }

    /// {@return the parameters of a tool and their schemas, with the definitions that they may refer to}
    @SuppressWarnings("unchecked") // JSON
    Map<String, Object> parameters(String name) {
        Map<String, Object> schema = byName.getOrDefault(name, Map.of());
        Map<String, Object> parameters = new LinkedHashMap<>();
        if (schema.get("properties") instanceof Map<?, ?> named) {
            named.forEach((key, value) -> {
                Object part = value;
                for (String defs : List.of("$defs", "definitions")) {
                    if (part instanceof Map<?, ?> map && schema.containsKey(defs)) {
                        Map<String, Object> with = new LinkedHashMap<>((Map<String, Object>) map);
                        with.putIfAbsent(defs, schema.get(defs));
                        part = with;
                    }
                }
                parameters.put((String) key, part);
            });
        }
        return parameters;
    }

    /// {@return the parameters that a call needs}
    ///
    /// @param name a tool
    List<?> required(String name) {
        return byName.get(name).get("required") instanceof List<?> list ? list : List.of();
    }

    /// {@return what a parameter may be}
    ///
    /// @param name a tool
    /// @param key a parameter
    ParameterType type(String name, String key) {
        Map<String, Object> schema = byName.getOrDefault(name, Map.of());
        return ParameterType.of(schema.get("properties") instanceof Map<?, ?> named ? named.get(key) : null, schema);
    }

    /// {@return whether a schema is that of strings}
    static boolean isText(Object schema) {
        if (!(schema instanceof Map<?, ?> map)) {
            return false;
        }
        return "string".equals(map.get("type"))
                || !map.containsKey("type")
                        && map.get("enum") instanceof List<?> values
                        && values.stream().allMatch(String.class::isInstance);
    }
}
