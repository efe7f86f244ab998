package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.CodePoints;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.Rule;
import dev.tenon.platform.grammar.expr.Utf8;
import dev.tenon.platform.grammar.json.JsonReader;
import dev.tenon.platform.grammar.regex.Regex;
import dev.tenon.platform.grammar.schema.Assertions.Type;
import dev.tenon.platform.grammar.schema.Flattening.Flat;
import dev.tenon.platform.grammar.schema.Flattening.Group;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/// Makes an expression of the JSON texts that satisfy a schema. What cannot be enforced is refused,
/// so that no other text belongs to it; texts that write a value in another way, such as with its
/// properties in another order, may not belong to it.
///
/// Schemas that apply to the same value are compiled together, and once: each set of them is a
/// rule, so that schemas may refer to themselves.
public final class SchemaCompiler {
    private static final int MOST_ALTERNATIVES = 2000;
    /// Of proving that no value satisfies two schemas.
    private static final long WORK_OF_A_PAIR = 100;
    private static final Set<String> RAW =
            Set.of("type", "enum", "const", "minLength", "maxLength", "pattern", "format");

    private final ExprPool pool;
    private final JsonText json;
    private final NumberTexts numbers;
    private final Flattening flattening;
    private final Disjointness disjointness;
    private final ObjectTexts objects;
    private final ArrayTexts arrays;
    private final Map<List<String>, Rule> rules = new HashMap<>();
    private int alternatives;
    private int depth;

    private SchemaCompiler(ExprPool pool, SchemaNode root) {
        this.pool = pool;
        this.json = new JsonText(pool);
        this.numbers = new NumberTexts(pool);
        this.flattening = new Flattening(root, pool.limits());
        this.disjointness = new Disjointness(flattening);
        this.objects = new ObjectTexts(pool, json, this);
        this.arrays = new ArrayTexts(pool, json, this);
    }

    /// {@return the JSON texts that satisfy a schema}
    ///
    /// @param pool makes the expressions
    /// @param schema the schema
    /// @throws GrammarException (`GRAMMAR-001`) if it is no schema, (`GRAMMAR-002`) if it cannot be
    ///     enforced, (`GRAMMAR-003`) if it exceeds a limit
    public static Expr compile(ExprPool pool, String schema) {
        SchemaNode root = new SchemaNode(JsonReader.read(schema, pool.limits()), "");
        if (!root.is(true) && !root.is(false)) {
            root.keywords(); // fails if it is no schema
        }
        return new SchemaCompiler(pool, root).value(List.of(root));
    }

    /// {@return the strings that satisfy a schema, as they are}
    ///
    /// @param pool makes the expressions
    /// @param schema the schema of strings alone, without parts
    /// @throws GrammarException as above
    public static Expr rawString(ExprPool pool, String schema) {
        SchemaNode node = new SchemaNode(JsonReader.read(schema, pool.limits()), "");
        for (String keyword : node.keywords()) {
            if (!RAW.contains(keyword) && !Keywords.isNote(keyword)) {
                throw node.unsupported(keyword, "It is not enforced in strings that are written without quotes.");
            }
        }
        Assertions a = new Assertions(List.of(node));
        Function<CodePoints, Expr> encoding = set -> Utf8.of(pool, set);
        if (!a.types.equals(Set.of(Type.STRING))) {
            throw node.unsupported("type", "Only strings are written without quotes.");
        }
        if (a.minLength > a.maxLength) {
            return pool.nothing();
        }
        List<Expr> parts = new ArrayList<>();
        parts.add(pool.repeat(encoding.apply(CodePoints.ALL), a.minLength, a.maxLength));
        for (SchemaNode each : a.patterns) {
            parts.add(Regex.search(pool, each.string("pattern"), encoding));
        }
        for (SchemaNode each : a.formats) {
            parts.add(Regex.search(pool, format(each), encoding));
        }
        if (a.values != null) {
            parts.add(pool.or(a.values.values().stream()
                    .filter(String.class::isInstance)
                    .map(each -> pool.literal((String) each))
                    .toList()));
        }
        return pool.and(parts.toArray(Expr[]::new));
    }

    private static String format(SchemaNode node) {
        String pattern = Formats.pattern(node.string("format"));
        if (pattern == null) {
            throw node.unsupported("format", "'" + node.string("format") + "' is none of " + Formats.names() + ".");
        }
        return pattern;
    }

    /// {@return the texts of the values that satisfy all schemas}
    Expr value(List<SchemaNode> nodes) {
        List<String> key = List.copyOf(new TreeSet<>(nodes.stream()
                .filter(each -> !each.is(true))
                .map(SchemaNode::pointer)
                .toList()));
        Rule rule = rules.get(key);
        if (rule == null) {
            pool.limits().checkNesting("schema, with what it refers to,", ++depth);
            rule = pool.rule(key.isEmpty() ? "any value" : "#" + String.join(" and #", key));
            rules.put(key, rule);
            rule.define(alternatives(flattening.flatten(nodes)));
            depth--;
        }
        return pool.call(rule);
    }

    private Expr alternatives(Flat flat) {
        if (flat.impossible) {
            return pool.nothing();
        }
        if (++alternatives > MOST_ALTERNATIVES) {
            throw GrammarException.limit(
                    "The schema's 'anyOf' and 'oneOf' have more than " + MOST_ALTERNATIVES + " combinations.");
        }
        if (flat.groups.isEmpty()) {
            return asserted(new Assertions(flat.nodes));
        }
        Group group = flat.groups.getFirst();
        if (group.one()) {
            requireExclusive(group, flat.nodes);
        }
        List<Expr> exprs = new ArrayList<>();
        for (SchemaNode branch : group.branches()) {
            Flat with = flat.copy();
            with.groups.removeFirst();
            flattening.add(with, branch);
            exprs.add(alternatives(with));
        }
        return pool.or(exprs);
    }

    private void requireExclusive(Group group, List<SchemaNode> common) {
        List<SchemaNode> branches = group.branches();
        for (int i = 0; i < branches.size(); i++) {
            for (int j = 0; j < i; j++) {
                List<SchemaNode> a = new ArrayList<>(common);
                List<SchemaNode> b = new ArrayList<>(common);
                pool.work().add(WORK_OF_A_PAIR);
                a.add(branches.get(i));
                b.add(branches.get(j));
                if (!disjointness.proved(a, b)) {
                    throw group.owner()
                            .unsupported(
                                    "oneOf",
                                    "A value may satisfy the schemas " + j + " and " + i
                                            + " at once. Use 'anyOf', or give each a property with another 'const'.");
                }
            }
        }
    }

    private Expr asserted(Assertions a) {
        if (a.values != null) {
            return pool.or(values(a));
        }
        List<Expr> exprs = new ArrayList<>();
        for (Type type : a.types) {
            requireExcludable(a, type);
            exprs.add(
                    switch (type) {
                        case NULL -> literal(a, null);
                        case BOOLEAN -> pool.or(literal(a, true), literal(a, false));
                        case STRING -> string(a);
                        case INTEGER -> a.types.contains(Type.FRACTION) ? pool.nothing() : number(a, true);
                        case FRACTION -> {
                            if (!a.types.contains(Type.INTEGER)) {
                                throw a.nodes.getFirst().unsupported("not", "Integers cannot be excluded.");
                            }
                            yield number(a, false);
                        }
                        case ARRAY -> arrays.array(a);
                        case OBJECT -> objects.object(a);
                    });
        }
        return pool.or(exprs);
    }

    private Expr literal(Assertions a, Object value) {
        return a.excluded.containsKey(Assertions.key(value)) ? pool.nothing() : json.value(value);
    }

    private static void requireExcludable(Assertions a, Type type) {
        boolean whole = type == Type.ARRAY || type == Type.OBJECT;
        if (whole && a.excluded.values().stream().anyMatch(each -> Assertions.typeOf(each) == type)) {
            throw a.nodes.getFirst().unsupported("not", "Objects and arrays cannot be excluded as a whole.");
        }
    }

    /// {@return those of the allowed values that satisfy the rest}
    private List<Expr> values(Assertions a) {
        List<Expr> exprs = new ArrayList<>();
        for (Object value : a.values.values()) {
            Type type = Assertions.typeOf(value);
            if (!a.types.contains(type) || a.excluded.containsKey(Assertions.key(value))) {
                continue;
            }
            Expr expr = json.value(value);
            exprs.add(
                    switch (type) {
                        case NULL, BOOLEAN -> expr;
                        case STRING -> restricted(a) ? pool.and(expr, string(a)) : expr;
                        case INTEGER, FRACTION -> pool.and(expr, number(a, false));
                        case ARRAY, OBJECT -> {
                            requireFree(a);
                            yield expr;
                        }
                    });
        }
        return exprs;
    }

    /// {@return the values that satisfy all schemas, each as its text; null if they are not listed}
    List<Expr> listed(List<SchemaNode> nodes) {
        Flat flat = flattening.flatten(nodes);
        if (!flat.groups.isEmpty()) {
            return null;
        }
        Assertions a = new Assertions(flat.nodes);
        if (flat.impossible) {
            return List.of();
        }
        if (a.values == null && Set.of(Type.NULL, Type.BOOLEAN).containsAll(a.types)) {
            List<Expr> exprs = new ArrayList<>();
            a.types.forEach(type -> {
                if (type == Type.NULL) {
                    exprs.add(literal(a, null));
                } else {
                    exprs.add(literal(a, true));
                    exprs.add(literal(a, false));
                }
            });
            return exprs;
        }
        return a.values == null ? null : values(a);
    }

    private static void requireFree(Assertions a) {
        if (a.anyHas(
                "properties",
                "additionalProperties",
                "patternProperties",
                "propertyNames",
                "required",
                "minProperties",
                "maxProperties",
                "items",
                "prefixItems",
                "additionalItems",
                "minItems",
                "maxItems",
                "contains",
                "uniqueItems")) {
            throw a.nodes
                    .getFirst()
                    .unsupported(
                            "enum", "Objects and arrays in it are not checked by other keywords. Leave those out.");
        }
    }

    private static boolean restricted(Assertions a) {
        return a.minLength > 0 || a.maxLength < Integer.MAX_VALUE || !a.patterns.isEmpty() || !a.formats.isEmpty();
    }

    private Expr string(Assertions a) {
        if (a.patterns.isEmpty()
                && a.formats.isEmpty()
                && a.values == null
                && excluded(a).isEmpty()) {
            return a.minLength > a.maxLength ? pool.nothing() : json.freeString(a.minLength, a.maxLength);
        }
        return json.quoted(inner(a));
    }

    /// {@return strings without their quotes, each written in one way}
    Expr inner(Assertions a) {
        if (a.minLength > a.maxLength) {
            return pool.nothing();
        }
        List<Expr> parts = new ArrayList<>();
        boolean lengths = a.minLength > 0 || a.maxLength < Integer.MAX_VALUE;
        if (lengths || a.patterns.isEmpty() && a.formats.isEmpty()) {
            parts.add(json.characters(a.minLength, a.maxLength));
        }
        for (SchemaNode node : a.patterns) {
            parts.add(pattern(node, "pattern", node.string("pattern")));
        }
        for (SchemaNode node : a.formats) {
            parts.add(pattern(node, "format", format(node)));
        }
        List<Expr> excluded = excluded(a);
        if (!excluded.isEmpty()) {
            parts.add(pool.not(pool.or(excluded)));
        }
        return pool.and(parts.toArray(Expr[]::new));
    }

    /// {@return the strings that are excluded, without their quotes}
    private List<Expr> excluded(Assertions a) {
        return a.excluded.values().stream()
                .filter(String.class::isInstance)
                .map(each -> json.inner((String) each))
                .toList();
    }

    /// {@return the strings in which a pattern matches, without their quotes}
    Expr pattern(SchemaNode node, String keyword, String pattern) {
        try {
            return Regex.search(pool, pattern, json::character);
        } catch (GrammarException e) {
            throw e.of(keyword, node.pointer());
        }
    }

    private Expr number(Assertions a, boolean integer) {
        List<Expr> parts = new ArrayList<>();
        if (a.minimum != null) {
            parts.add(numbers.atLeast(a.minimum, a.aboveMinimum));
        }
        if (a.maximum != null) {
            parts.add(numbers.atMost(a.maximum, a.belowMaximum));
        }
        for (SchemaNode node : a.multiples) {
            Expr multiples = numbers.multipleOf(node.number("multipleOf"));
            if (multiples == null) {
                throw node.unsupported("multipleOf", "It is not positive, too large, or has too many decimals.");
            }
            parts.add(multiples);
        }
        for (Object each : a.excluded.values()) {
            if (each instanceof BigDecimal number) {
                parts.add(pool.not(numbers.equalTo(number)));
            }
        }
        parts.add(integer ? numbers.integer() : parts.isEmpty() ? numbers.any() : numbers.decimal());
        return pool.and(parts.toArray(Expr[]::new));
    }

    Flat flatten(List<SchemaNode> nodes) {
        return flattening.flatten(nodes);
    }
}
