package dev.tenon.platform.grammar.schema;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Schemas of the values that do not satisfy another one: alternatives, one for each way to fail.
final class Negation {
    /// Of each bound, the type that it holds for, the opposite one, and by how much that differs.
    private static final Map<String, Bound> BOUNDS = Map.ofEntries(
            Map.entry("minimum", new Bound("number", "exclusiveMaximum", 0)),
            Map.entry("exclusiveMinimum", new Bound("number", "maximum", 0)),
            Map.entry("maximum", new Bound("number", "exclusiveMinimum", 0)),
            Map.entry("exclusiveMaximum", new Bound("number", "minimum", 0)),
            Map.entry("minLength", new Bound("string", "maxLength", -1)),
            Map.entry("maxLength", new Bound("string", "minLength", 1)),
            Map.entry("minItems", new Bound("array", "maxItems", -1)),
            Map.entry("maxItems", new Bound("array", "minItems", 1)),
            Map.entry("minProperties", new Bound("object", "maxProperties", -1)),
            Map.entry("maxProperties", new Bound("object", "minProperties", 1)));

    private record Bound(String type, String opposite, int more) {}

    private Negation() {}

    /// {@return whether a schema says nothing but which types or values are allowed, which can be excluded}
    static boolean isBasic(SchemaNode node) {
        return node.value() instanceof Map<?, ?>
                && node.keywords().stream()
                                .filter(each -> !Keywords.isNote(each))
                                .count()
                        == 1
                && (node.has("type") || node.has("const") || node.has("enum"));
    }

    /// {@return whether [#of] has an answer, also for the schemas inside}
    static boolean isPossible(SchemaNode node) {
        if (node.schema() instanceof Boolean) {
            return true;
        }
        return node.keywords().stream().allMatch(keyword -> switch (keyword) {
            case "type", "const", "enum", "required", "not", "$ref" -> true;
            case "properties" -> node.named(keyword).values().stream().allMatch(Negation::isPossible);
            case "allOf", "anyOf" -> node.list(keyword).stream().allMatch(Negation::isPossible);
            default -> BOUNDS.containsKey(keyword) || Keywords.isNote(keyword);
        });
    }

    /// {@return the schemas, of which a value satisfies at least one if it does not satisfy this one}
    ///
    /// @param node a schema that is no boolean, and [possible][#isPossible]
    /// @param ref what its `$ref` refers to; null without one
    static List<SchemaNode> of(SchemaNode node, SchemaNode ref) {
        List<SchemaNode> ways = new ArrayList<>();
        for (String keyword : node.keywords()) {
            Bound bound = BOUNDS.get(keyword);
            if (bound != null) {
                BigDecimal limit = node.number(keyword).add(BigDecimal.valueOf(bound.more()));
                if (bound.more() >= 0 || limit.signum() >= 0) {
                    ways.add(node.made(Map.of("type", bound.type(), bound.opposite(), limit), keyword));
                }
                continue;
            }
            switch (keyword) {
                case "type", "const", "enum" -> {
                    Map<String, Object> only = new HashMap<>();
                    only.put(keyword, node.get(keyword));
                    ways.add(node.made(Map.of("not", only), keyword));
                }
                case "required" ->
                    node.strings(keyword)
                            .forEach(name -> ways.add(node.made(
                                    Map.of("type", "object", "properties", Map.of(name, false)), keyword, name)));
                case "properties" ->
                    node.named(keyword)
                            .forEach((name, each) -> ways.add(node.made(
                                    Map.of(
                                            "type",
                                            "object",
                                            "required",
                                            List.of(name),
                                            "properties",
                                            Map.of(name, Map.of("not", each.schema()))),
                                    keyword,
                                    name)));
                case "allOf" -> node.list(keyword).forEach(each -> ways.add(each.made(not(each), "not")));
                case "anyOf" ->
                    ways.add(node.made(
                            Map.of(
                                    "allOf",
                                    node.list(keyword).stream()
                                            .map(Negation::not)
                                            .toList()),
                            keyword));
                case "not" -> ways.add(node.child(keyword));
                case "$ref" -> ways.add(ref.made(not(ref), "not"));
                default -> {} // a note
            }
        }
        return ways;
    }

    private static Map<String, Object> not(SchemaNode node) {
        return Map.of("not", node.schema());
    }
}
