package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.schema.Assertions.Type;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// Proves that no value satisfies two schemas. What it cannot prove may be so all the same.
final class Disjointness {
    private static final int DEEPEST = 4;

    private final Flattening flattening;

    Disjointness(Flattening flattening) {
        this.flattening = flattening;
    }

    /// {@return whether it is certain that no value satisfies both}
    boolean proved(List<SchemaNode> a, List<SchemaNode> b) {
        return proved(a, b, 0);
    }

    private boolean proved(List<SchemaNode> first, List<SchemaNode> second, int depth) {
        Flattening.Flat flatA = flattening.flatten(first);
        Flattening.Flat flatB = flattening.flatten(second);
        if (flatA.impossible || flatB.impossible) {
            return true;
        }
        Assertions a = new Assertions(flatA.nodes);
        Assertions b = new Assertions(flatB.nodes);
        if (a.values != null && b.values != null && Collections.disjoint(a.values.keySet(), b.values.keySet())) {
            return true;
        }
        for (Type type : types(a)) {
            if (types(b).contains(type) && !proved(type, a, b, depth)) {
                return false;
            }
        }
        return true;
    }

    private static Set<Type> types(Assertions of) {
        Set<Type> types = EnumSet.copyOf(EnumSet.allOf(Type.class));
        types.retainAll(of.types);
        if (of.values != null) {
            Set<Type> found = EnumSet.noneOf(Type.class);
            of.values.values().forEach(each -> found.add(Assertions.typeOf(each)));
            types.retainAll(found);
        }
        return types;
    }

    private boolean proved(Type type, Assertions a, Assertions b, int depth) {
        return switch (type) {
            case NULL, BOOLEAN -> false;
            case STRING -> a.maxLength < b.minLength || b.maxLength < a.minLength;
            case INTEGER, FRACTION -> below(a, b) || below(b, a);
            case ARRAY -> a.maxItems < b.minItems || b.maxItems < a.minItems;
            case OBJECT -> depth < DEEPEST && (byProperty(a, b, depth) || byProperty(b, a, depth));
        };
    }

    private static boolean below(Assertions a, Assertions b) {
        BigDecimal most = a.maximum;
        BigDecimal least = b.minimum;
        if (most == null || least == null) {
            return false;
        }
        int order = most.compareTo(least);
        return order < 0 || order == 0 && (a.belowMaximum || b.aboveMinimum);
    }

    /// {@return whether a property that the first ones require cannot satisfy both}
    private boolean byProperty(Assertions a, Assertions b, int depth) {
        for (String name : a.required) {
            List<SchemaNode> inA = new ArrayList<>();
            List<SchemaNode> inB = new ArrayList<>();
            collect(a, name, inA);
            collect(b, name, inB);
            if (proved(inA, inB, depth + 1)) {
                return true;
            }
        }
        return false;
    }

    private static void collect(Assertions of, String name, List<SchemaNode> into) {
        for (SchemaNode node : of.nodes) {
            SchemaNode property = node.named("properties").get(name);
            if (property != null) {
                into.add(property);
            } else if (node.has("additionalProperties") && !node.has("patternProperties")) {
                into.add(node.child("additionalProperties"));
            }
        }
    }
}
