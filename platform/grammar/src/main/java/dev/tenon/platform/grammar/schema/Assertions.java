package dev.tenon.platform.grammar.schema;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What several schemas together demand of a value, but for its properties and items.
final class Assertions {
    /// The types of values; numbers are integers or have a fraction.
    enum Type {
        NULL,
        BOOLEAN,
        STRING,
        INTEGER,
        FRACTION,
        ARRAY,
        OBJECT
    }

    /// The schemas.
    final List<SchemaNode> nodes;

    final Set<Type> types = EnumSet.allOf(Type.class);
    /// The values that are allowed, by their [keys][#key]; null if that is not restricted.
    Map<Object, Object> values;
    /// Those that are not, too.
    final Map<Object, Object> excluded = new LinkedHashMap<>();

    BigDecimal minimum;
    boolean aboveMinimum;
    BigDecimal maximum;
    boolean belowMaximum;
    /// The schemas that have `multipleOf`, `pattern`, `format`.
    final List<SchemaNode> multiples = new ArrayList<>();

    final List<SchemaNode> patterns = new ArrayList<>();
    final List<SchemaNode> formats = new ArrayList<>();
    int minLength;
    int maxLength = Integer.MAX_VALUE;
    int minItems;
    int maxItems = Integer.MAX_VALUE;
    int minProperties;
    int maxProperties = Integer.MAX_VALUE;
    final Set<String> required = new LinkedHashSet<>();
    /// Whether no two items are equal, and the schemas that have `contains`.
    boolean unique;

    final List<SchemaNode> containing = new ArrayList<>();

    Assertions(List<SchemaNode> nodes) {
        this.nodes = nodes;
        nodes.forEach(this::add);
    }

    private void add(SchemaNode node) {
        for (String keyword : node.keywords()) {
            switch (keyword) {
                case "type" -> types.retainAll(types(node));
                case "not" -> exclude(node.child("not"));
                case "const", "enum" -> allow(listed(node, keyword));
                case "minimum" -> atLeast(node.number(keyword), false);
                case "exclusiveMinimum" -> atLeast(node.number(keyword), true);
                case "maximum" -> atMost(node.number(keyword), false);
                case "exclusiveMaximum" -> atMost(node.number(keyword), true);
                case "multipleOf" -> multiples.add(node);
                case "pattern" -> patterns.add(node);
                case "format" -> {
                    if (!Formats.isNote(node.string(keyword))) {
                        formats.add(node);
                    }
                }
                case "minLength" -> minLength = Math.max(minLength, node.count(keyword));
                case "maxLength" -> maxLength = Math.min(maxLength, node.count(keyword));
                case "minItems" -> minItems = Math.max(minItems, node.count(keyword));
                case "maxItems" -> maxItems = Math.min(maxItems, node.count(keyword));
                case "minProperties" -> minProperties = Math.max(minProperties, node.count(keyword));
                case "maxProperties" -> maxProperties = Math.min(maxProperties, node.count(keyword));
                case "required" -> required.addAll(node.strings(keyword));
                case "uniqueItems" -> unique |= !Boolean.FALSE.equals(node.get(keyword));
                case "contains" -> containing.add(node);
                default -> {} // of properties and items, or a mere note: Flattening has refused the others
            }
        }
    }

    private static Map<Object, Object> listed(SchemaNode node, String keyword) {
        Map<Object, Object> values = new LinkedHashMap<>();
        if (keyword.equals("const")) {
            values.put(key(node.get(keyword)), node.get(keyword));
        } else if (node.get(keyword) instanceof List<?> list) {
            list.forEach(each -> values.put(key(each), each));
        } else {
            throw node.bad(keyword, "expected an array");
        }
        return values;
    }

    private void exclude(SchemaNode not) {
        if (!Negation.isBasic(not)) {
            return; // Flattening has made alternatives of it
        }
        if (not.has("type")) {
            types.removeAll(types(not));
        } else {
            excluded.putAll(listed(not, not.has("const") ? "const" : "enum"));
        }
    }

    private static Set<Type> types(SchemaNode node) {
        List<String> names = node.get("type") instanceof String one ? List.of(one) : node.strings("type");
        Set<Type> types = EnumSet.noneOf(Type.class);
        for (String name : names) {
            switch (name) {
                case "null", "boolean", "string", "integer", "array", "object" ->
                    types.add(Type.valueOf(name.toUpperCase(java.util.Locale.ROOT)));
                case "number" -> types.addAll(EnumSet.of(Type.INTEGER, Type.FRACTION));
                default -> throw node.bad("type", "found '" + name + "', which is no type");
            }
        }
        return types;
    }

    private void allow(Map<Object, Object> allowed) {
        if (values == null) {
            values = allowed;
        } else {
            values.keySet().retainAll(allowed.keySet());
        }
    }

    /// {@return what equal values have in common: numbers are by what they amount to}
    static Object key(Object value) {
        return switch (value) {
            case BigDecimal number -> number.stripTrailingZeros();
            case List<?> list -> list.stream().map(Assertions::key).toList();
            case Map<?, ?> map -> {
                Map<Object, Object> keys = new HashMap<>();
                map.forEach((name, each) -> keys.put(name, key(each)));
                yield keys;
            }
            case null -> null;
            default -> value;
        };
    }

    /// {@return the type of a value}
    static Type typeOf(Object value) {
        return switch (value) {
            case null -> Type.NULL;
            case Boolean b -> Type.BOOLEAN;
            case String s -> Type.STRING;
            case BigDecimal n -> n.stripTrailingZeros().scale() <= 0 ? Type.INTEGER : Type.FRACTION;
            case List<?> l -> Type.ARRAY;
            default -> Type.OBJECT;
        };
    }

    private void atLeast(BigDecimal bound, boolean more) {
        int order = minimum == null ? 1 : bound.compareTo(minimum);
        aboveMinimum = order > 0 ? more : order == 0 ? aboveMinimum || more : aboveMinimum;
        minimum = order > 0 ? bound : minimum;
    }

    private void atMost(BigDecimal bound, boolean less) {
        int order = maximum == null ? -1 : bound.compareTo(maximum);
        belowMaximum = order < 0 ? less : order == 0 ? belowMaximum || less : belowMaximum;
        maximum = order < 0 ? bound : maximum;
    }

    /// {@return whether some schema has one of the keywords}
    boolean anyHas(String... keywords) {
        for (SchemaNode node : nodes) {
            for (String keyword : keywords) {
                if (node.has(keyword)) {
                    return true;
                }
            }
        }
        return false;
    }
}
