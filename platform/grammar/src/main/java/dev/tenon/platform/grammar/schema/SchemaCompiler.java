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
    private static final Set<String> RAW =
            Set.of("type", "enum", "const", "minLength", "maxLength", "pattern", "format");

    private final ExprPool pool;
    private final JsonText json;
    private final NumberTexts numbers;
    private final Flattening flattening;
    private final Disjointness disjointness;
    private final ObjectTexts objects;
    private final Map<List<String>, Rule> rules = new HashMap<>();
    private int alternatives;
    private int depth;

    private SchemaCompiler(ExprPool pool, SchemaNode root) {
        this.pool = pool;
        this.json = new JsonText(pool);
        this.numbers = new NumberTexts(pool);
        this.flattening = new Flattening(root);
        this.disjointness = new Disjointness(flattening);
        this.objects = new ObjectTexts(pool, json, this);
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
            if (!RAW.contains(keyword) && !Flattening.isNote(keyword)) {
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
            parts.add(pool.or(a.values.stream()
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
            return values(a);
        }
        List<Expr> exprs = new ArrayList<>();
        for (Type type : a.types) {
            exprs.add(
                    switch (type) {
                        case NULL -> pool.literal("null");
                        case BOOLEAN -> pool.or(pool.literal("true"), pool.literal("false"));
                        case STRING -> string(a);
                        case INTEGER -> a.types.contains(Type.FRACTION) ? pool.nothing() : number(a, true);
                        case FRACTION -> {
                            if (!a.types.contains(Type.INTEGER)) {
                                throw a.nodes.getFirst().unsupported("not", "Integers cannot be excluded.");
                            }
                            yield number(a, false);
                        }
                        case ARRAY -> array(a);
                        case OBJECT -> objects.object(a);
                    });
        }
        return pool.or(exprs);
    }

    /// {@return those of the allowed values that satisfy the rest}
    private Expr values(Assertions a) {
        List<Expr> exprs = new ArrayList<>();
        for (Object value : a.values) {
            Type type = Assertions.typeOf(value);
            if (!a.types.contains(type)) {
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
        return pool.or(exprs);
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
                "maxItems")) {
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
        if (a.patterns.isEmpty() && a.formats.isEmpty() && a.values == null) {
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
        return pool.and(parts.toArray(Expr[]::new));
    }

    /// {@return the strings in which a pattern matches, without their quotes}
    Expr pattern(SchemaNode node, String keyword, String pattern) {
        try {
            return Regex.search(pool, pattern, json::character);
        } catch (GrammarException e) {
            throw GrammarException.unsupported(e.getMessage(), keyword, node.pointer());
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
        parts.add(integer ? numbers.integer() : parts.isEmpty() ? numbers.any() : numbers.decimal());
        return pool.and(parts.toArray(Expr[]::new));
    }

    private Expr array(Assertions a) {
        int prefix = 0;
        boolean closed = false;
        for (SchemaNode node : a.nodes) {
            prefix = Math.max(prefix, tuple(node).size());
            closed |= rest(node).is(false);
        }
        Expr after = pool.empty();
        int rest = Math.max(0, a.maxItems == Integer.MAX_VALUE ? Integer.MAX_VALUE : a.maxItems - prefix);
        if (rest > 0) {
            Expr item = pool.concat(
                    json.comma, value(a.nodes.stream().map(SchemaCompiler::rest).toList()));
            after = pool.repeat(item, Math.max(0, a.minItems - prefix), rest);
        }
        if (prefix == 0 && rest > 0) {
            Expr item = value(a.nodes.stream().map(SchemaCompiler::rest).toList());
            Expr more = pool.concat(json.comma, item);
            after = pool.concat(
                    item, pool.repeat(more, Math.max(0, a.minItems - 1), rest == Integer.MAX_VALUE ? rest : rest - 1));
        }
        for (int i = Math.min(prefix, a.maxItems) - 1; i >= 0; i--) {
            int at = i;
            Expr item = value(a.nodes.stream().map(node -> item(node, at)).toList());
            Expr from = pool.concat(i == 0 ? pool.empty() : json.comma, item, after);
            after = i > 0 && i >= a.minItems ? pool.optional(from) : from;
        }
        if (a.minItems > a.maxItems || closed && a.minItems > prefix) {
            return pool.nothing();
        }
        return json.bracketed("[", after, a.minItems == 0, "]");
    }

    /// {@return the schemas of the first items}
    private static List<SchemaNode> tuple(SchemaNode node) {
        return node.has("prefixItems")
                ? node.list("prefixItems")
                : node.get("items") instanceof List<?> ? node.list("items") : List.of();
    }

    /// {@return the schema of the other items}
    private static SchemaNode rest(SchemaNode node) {
        boolean list = node.get("items") instanceof List<?>;
        String keyword = list ? "additionalItems" : "items";
        return node.has(keyword) ? node.child(keyword) : new SchemaNode(true, "");
    }

    private static SchemaNode item(SchemaNode node, int index) {
        List<SchemaNode> tuple = tuple(node);
        return index < tuple.size() ? tuple.get(index) : rest(node);
    }

    Flat flatten(List<SchemaNode> nodes) {
        return flattening.flatten(nodes);
    }
}
