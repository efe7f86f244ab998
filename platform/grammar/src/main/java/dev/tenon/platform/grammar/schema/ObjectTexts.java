package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.automaton.Automaton;
import dev.tenon.platform.grammar.expr.Derivatives;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.Utf8;
import dev.tenon.platform.grammar.regex.Regex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// How objects are written: the properties that schemas name, in the order in which they name them,
/// then others.
final class ObjectTexts {
    private final ExprPool pool;
    private final JsonText json;
    private final SchemaCompiler compiler;
    /// The names that patterns of names match.
    private final Map<String, Automaton> matching = new HashMap<>();

    ObjectTexts(ExprPool pool, JsonText json, SchemaCompiler compiler) {
        this.pool = pool;
        this.json = json;
        this.compiler = compiler;
    }

    /// A property that a schema names.
    ///
    /// @param text key and value
    /// @param required whether it is required
    private record Property(Expr text, boolean required) {}

    Expr object(Assertions a) {
        Set<String> names = new LinkedHashSet<>();
        Set<String> patterns = new LinkedHashSet<>();
        for (SchemaNode node : a.nodes) {
            names.addAll(node.named("properties").keySet());
            patterns.addAll(node.named("patternProperties").keySet());
        }
        names.addAll(a.required);
        requireDisjoint(a, patterns);
        Assertions allowed = allowed(a);
        Expr keys = allowed == null ? null : compiler.inner(allowed);
        boolean listed = allowed != null && allowed.values != null;
        if (listed) {
            List<String> list = allowed.values.values().stream()
                    .filter(String.class::isInstance)
                    .map(String.class::cast)
                    .toList();
            names.addAll(list);
            keys = pool.and(keys, pool.or(list.stream().map(json::inner).toList()));
        }
        List<Property> properties = new ArrayList<>();
        for (String name : names) {
            Expr key = keys == null ? json.inner(name) : pool.and(json.inner(name), keys);
            Expr text = impossible(a, name, patterns)
                    ? pool.nothing()
                    : pool.concat(json.quoted(key), json.colon, compiler.value(schemas(a, name, patterns)));
            properties.add(new Property(text, a.required.contains(name)));
        }
        Expr other = listed ? pool.nothing() : others(a, names, patterns, keys);
        return new Members(a, properties, other).object();
    }

    /// {@return which names are allowed; null if that is not restricted}
    private Assertions allowed(Assertions a) {
        List<SchemaNode> nodes = new ArrayList<>();
        for (SchemaNode node : a.nodes) {
            if (node.has("propertyNames")) {
                nodes.add(node.child("propertyNames"));
            }
        }
        Flattening.Flat flat = compiler.flatten(nodes);
        if (!flat.groups.isEmpty()) {
            throw flat.groups
                    .getFirst()
                    .owner()
                    .unsupported("propertyNames", "Alternatives of names are not enforced.");
        }
        if (flat.nodes.isEmpty() && !flat.impossible) {
            return null;
        }
        Assertions allowed = new Assertions(flat.nodes);
        if (flat.impossible || !allowed.types.contains(Assertions.Type.STRING)) {
            allowed.values = Map.of();
        }
        return allowed;
    }

    /// {@return the schemas that apply to a property}
    private List<SchemaNode> schemas(Assertions a, String name, Set<String> patterns) {
        Set<String> matching = new LinkedHashSet<>();
        for (String pattern : patterns) {
            if (matches(pattern, name)) {
                matching.add(pattern);
            }
        }
        List<SchemaNode> schemas = new ArrayList<>();
        for (SchemaNode node : a.nodes) {
            SchemaNode property = node.named("properties").get(name);
            if (property != null) {
                schemas.add(property);
            }
            boolean byPattern = false;
            for (String pattern : matching) {
                SchemaNode each = node.named("patternProperties").get(pattern);
                if (each != null) {
                    schemas.add(each);
                    byPattern = true;
                }
            }
            if (property == null && !byPattern && node.has("additionalProperties")) {
                schemas.add(node.child("additionalProperties"));
            }
        }
        return schemas;
    }

    private boolean impossible(Assertions a, String name, Set<String> patterns) {
        return schemas(a, name, patterns).stream().anyMatch(each -> each.is(false));
    }

    private boolean matches(String pattern, String name) {
        return matching.computeIfAbsent(pattern, this::automaton).matches(name);
    }

    private Automaton automaton(String pattern) {
        ExprPool other = new ExprPool(pool);
        Expr expr = Regex.search(other, pattern, set -> Utf8.of(other, set));
        return new Automaton(other, pool(other, expr));
    }

    /// {@return an expression that is never without any text, so that an automaton can be made}
    private static Expr pool(ExprPool other, Expr expr) {
        return other.or(expr, other.bytes(255, 255));
    }

    private void requireDisjoint(Assertions a, Set<String> patterns) {
        List<String> list = List.copyOf(patterns);
        for (SchemaNode node : a.nodes) {
            for (String pattern : node.named("patternProperties").keySet()) {
                compiler.pattern(node, "patternProperties", pattern); // fails, with its place, if it does not parse
            }
        }
        for (int i = 0; i < list.size(); i++) {
            for (int j = 0; j < i; j++) {
                ExprPool other = new ExprPool(pool);
                Expr both = other.and(
                        Regex.search(other, list.get(i), set -> Utf8.of(other, set)),
                        Regex.search(other, list.get(j), set -> Utf8.of(other, set)));
                if (new Derivatives(other, both).isAlive(both)) {
                    throw GrammarException.unsupported(
                            "A name may match '" + list.get(j) + "' and '" + list.get(i) + "' at once.",
                            "patternProperties",
                            a.nodes.getFirst().pointer());
                }
            }
        }
    }

    /// {@return key and value of the properties that no schema names}
    private Expr others(Assertions a, Set<String> names, Set<String> patterns, Expr keys) {
        List<Expr> excluded = new ArrayList<>();
        names.forEach(name -> excluded.add(json.inner(name)));
        Expr notNamed = pool.not(pool.or(excluded));
        Expr allowed = keys == null ? pool.all() : keys;
        List<Expr> members = new ArrayList<>();
        List<Expr> matched = new ArrayList<>();
        for (String pattern : patterns) {
            Expr matching = Regex.search(pool, pattern, json::character);
            matched.add(matching);
            List<SchemaNode> schemas = new ArrayList<>();
            for (SchemaNode node : a.nodes) {
                if (node.named("patternProperties").containsKey(pattern)) {
                    schemas.add(node.named("patternProperties").get(pattern));
                } else if (node.has("additionalProperties")) {
                    schemas.add(node.child("additionalProperties"));
                }
            }
            members.add(member(json.quoted(pool.and(matching, notNamed, allowed)), schemas));
        }
        List<SchemaNode> schemas = new ArrayList<>();
        for (SchemaNode node : a.nodes) {
            if (node.has("additionalProperties")) {
                schemas.add(node.child("additionalProperties"));
            }
        }
        boolean anyName = names.isEmpty() && patterns.isEmpty() && keys == null;
        Expr key = anyName
                ? json.freeString(0, Expr.UNBOUNDED)
                : json.quoted(
                        pool.and(json.characters(0, Expr.UNBOUNDED), notNamed, pool.not(pool.or(matched)), allowed));
        members.add(member(key, schemas));
        return pool.or(members);
    }

    private Expr member(Expr key, List<SchemaNode> schemas) {
        return schemas.stream().anyMatch(each -> each.is(false))
                ? pool.nothing()
                : pool.concat(key, json.colon, compiler.value(schemas));
    }

    /// The members of an object, by which property is next and how many there were, as far as that
    /// matters.
    private final class Members {
        private final Assertions a;
        private final List<Property> properties;
        private final Expr other;
        private final int most;
        private final Expr[][] known;

        Members(Assertions a, List<Property> properties, Expr other) {
            this.a = a;
            this.properties = properties;
            this.other = other;
            boolean bounded = a.maxProperties < Integer.MAX_VALUE;
            this.most = bounded ? Math.min(a.maxProperties, pool.limits().expressions()) : Math.max(1, a.minProperties);
            pool.limits().checkTable("object's counted properties", (long) (properties.size() + 1) * (most + 1L));
            this.known = new Expr[properties.size() + 1][most + 1];
        }

        Expr object() {
            long fixed = properties.size() + (other.isNothing() ? 0 : 1);
            if (a.minProperties > fixed && !other.isNothing()) {
                throw a.nodes
                        .getFirst()
                        .unsupported(
                                "minProperties",
                                "More than one property without a name in the schema cannot be required.");
            }
            boolean mayBeEmpty = a.minProperties == 0 && a.required.isEmpty();
            for (int i = properties.size(); i >= 0; i--) {
                for (int count = most; count >= 0; count--) {
                    known[i][count] = rest(i, count);
                }
            }
            return json.bracketed("{", known[0][0], mayBeEmpty, "}");
        }

        /// {@return what follows after so many members, from a property on; of an object that is
        ///     still empty, not nothing}
        private Expr rest(int i, int count) {
            Expr comma = count == 0 ? pool.empty() : json.comma;
            if (i == properties.size()) {
                return last(count, comma);
            }
            Property property = properties.get(i);
            Expr without = property.required() ? pool.nothing() : known[i + 1][count];
            boolean full = count == a.maxProperties;
            int then = Math.min(count + 1, most);
            if (!full && then == count && !property.required()) {
                return pool.concat(pool.optional(pool.concat(comma, property.text())), without);
            }
            Expr with = full ? pool.nothing() : pool.concat(comma, property.text(), known[i + 1][then]);
            return pool.or(with, without);
        }

        /// Others may have equal names, so that they count as one where a number is required.
        private Expr last(int count, Expr comma) {
            int left = a.maxProperties == Integer.MAX_VALUE ? Integer.MAX_VALUE : a.maxProperties - count;
            int needed = Math.max(0, a.minProperties - count);
            Expr none = count > 0 && needed == 0 ? pool.empty() : pool.nothing();
            if (other.isNothing() || left == 0 || needed > 1) {
                return none;
            }
            Expr more = pool.repeat(pool.concat(json.comma, other), 0, left == Integer.MAX_VALUE ? left : left - 1);
            return pool.or(none, pool.concat(comma, other, more));
        }
    }
}
