package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// How arrays are written.
final class ArrayTexts {
    /// So many different items may come in any order; more of them as the schema lists them.
    private static final int MOST_IN_ANY_ORDER = 8;

    private final ExprPool pool;
    private final JsonText json;
    private final SchemaCompiler compiler;

    ArrayTexts(ExprPool pool, JsonText json, SchemaCompiler compiler) {
        this.pool = pool;
        this.json = json;
        this.compiler = compiler;
    }

    Expr array(Assertions a) {
        if (a.minItems > a.maxItems) {
            return pool.nothing();
        }
        if (a.unique && a.maxItems > 1) {
            return unique(a);
        }
        return a.containing.isEmpty() ? plain(a) : containing(a);
    }

    private Expr plain(Assertions a) {
        int prefix = prefix(a);
        boolean closed = a.nodes.stream().anyMatch(node -> rest(node).is(false));
        Expr after = pool.empty();
        int rest = Math.max(0, a.maxItems == Integer.MAX_VALUE ? Integer.MAX_VALUE : a.maxItems - prefix);
        if (rest > 0) {
            Expr item = pool.concat(json.comma, compiler.value(rest(a)));
            after = pool.repeat(item, Math.max(0, a.minItems - prefix), rest);
        }
        if (prefix == 0 && rest > 0) {
            Expr item = compiler.value(rest(a));
            Expr more = pool.concat(json.comma, item);
            after = pool.concat(
                    item, pool.repeat(more, Math.max(0, a.minItems - 1), rest == Integer.MAX_VALUE ? rest : rest - 1));
        }
        for (int i = Math.min(prefix, a.maxItems) - 1; i >= 0; i--) {
            Expr item = compiler.value(schemas(a, i, null));
            Expr from = pool.concat(i == 0 ? pool.empty() : json.comma, item, after);
            after = i > 0 && i >= a.minItems ? pool.optional(from) : from;
        }
        if (closed && a.minItems > prefix) {
            return pool.nothing();
        }
        return json.bracketed("[", after, a.minItems == 0, "]");
    }

    /// {@return arrays of items that differ, out of those that a schema lists}
    private Expr unique(Assertions a) {
        List<Expr> values = prefix(a) > 0 || !a.containing.isEmpty() ? null : compiler.listed(rest(a));
        if (values == null) {
            throw a.nodes
                    .getFirst()
                    .unsupported(
                            "uniqueItems",
                            "Equal items cannot be excluded unless 'enum' or 'const' lists them. Leave it out.");
        }
        int most = Math.min(a.maxItems, values.size());
        Expr content = a.minItems > most || most == 0
                ? pool.nothing()
                : values.size() <= MOST_IN_ANY_ORDER ? inAnyOrder(a, values, most) : inOrder(a, values, most);
        return json.bracketed("[", content, a.minItems == 0, "]");
    }

    private Expr inAnyOrder(Assertions a, List<Expr> values, int most) {
        Expr[] after = new Expr[1 << values.size()]; // by the set of those that were written
        for (int written = after.length - 1; written >= 0; written--) {
            int count = Integer.bitCount(written);
            List<Expr> ways = new ArrayList<>();
            ways.add(end(a, count));
            for (int i = 0; count < most && i < values.size(); i++) {
                if ((written >>> i & 1) == 0) {
                    ways.add(pool.concat(separator(count), values.get(i), after[written | 1 << i]));
                }
            }
            after[written] = pool.or(ways);
        }
        return after[0];
    }

    private Expr inOrder(Assertions a, List<Expr> values, int most) {
        boolean bounded = most < values.size();
        int counted = bounded ? most : Math.max(1, a.minItems); // beyond it, the count does not matter
        pool.limits().checkTable("array's different items", (values.size() + 1L) * (counted + 1L));
        Expr[] after = new Expr[counted + 1]; // by how many were written
        for (int count = 0; count <= counted; count++) {
            after[count] = end(a, count);
        }
        for (Expr value : values.reversed()) {
            for (int count = 0; count <= counted; count++) { // `after[count + 1]` is still that of the next value
                Expr item = pool.concat(separator(count), value);
                if (count < counted) {
                    after[count] = pool.or(after[count], pool.concat(item, after[count + 1]));
                } else if (!bounded) {
                    after[count] = pool.concat(pool.optional(item), after[count]);
                }
            }
        }
        return after[0];
    }

    private Expr end(Assertions a, int count) {
        return count > 0 && count >= a.minItems ? pool.empty() : pool.nothing();
    }

    private Expr separator(int count) {
        return count == 0 ? pool.empty() : json.comma;
    }

    /// {@return arrays of which so many items satisfy the schema of `contains`}
    private Expr containing(Assertions a) {
        SchemaNode node = a.containing.getFirst();
        if (a.containing.size() > 1) {
            throw node.unsupported("contains", "Only one of them is enforced for an array.");
        }
        int least = node.has("minContains") ? node.count("minContains") : 1;
        boolean most = node.has("maxContains");
        if (least == 0 && !most) {
            return plain(a);
        }
        SchemaNode wanted = node.child("contains");
        if (most && !Negation.isPossible(wanted)) {
            throw node.unsupported("contains", "Whether an item satisfies it is not known; leave out 'maxContains'.");
        }
        SchemaNode unwanted = most ? wanted.made(Map.of("not", wanted.schema()), "not") : null;
        int counted = most ? node.count("maxContains") : least;
        boolean bounded = a.maxItems < Integer.MAX_VALUE;
        int length = bounded ? a.maxItems : Math.max(1, Math.max(a.minItems, prefix(a)));
        pool.limits().checkTable("array's counted items", (length + 1L) * (counted + 1L));
        Expr[] after = null; // by how many were wanted of those before
        for (int i = length; i >= 0; i--) {
            Expr other = compiler.value(schemas(a, i, unwanted));
            Expr one = compiler.value(schemas(a, i, wanted));
            Expr[] from = new Expr[counted + 1];
            for (int count = counted; count >= 0; count--) {
                Expr end = count >= least ? end(a, i) : pool.nothing();
                boolean open = i < length;
                Expr[] next = open ? after : from;
                Expr more = count == counted || i == length && bounded
                        ? pool.nothing()
                        : pool.concat(separator(i), one, next[count + 1]);
                if (open) {
                    from[count] = pool.or(end, more, pool.concat(separator(i), other, after[count]));
                } else {
                    Expr others =
                            bounded ? pool.empty() : pool.repeat(pool.concat(json.comma, other), 0, Expr.UNBOUNDED);
                    from[count] = pool.concat(others, pool.or(end, more));
                }
            }
            after = from;
        }
        return json.bracketed("[", after[0], a.minItems == 0 && least == 0, "]");
    }

    private static List<SchemaNode> schemas(Assertions a, int index, SchemaNode more) {
        List<SchemaNode> schemas = new ArrayList<>();
        a.nodes.forEach(node -> schemas.add(item(node, index)));
        if (more != null) {
            schemas.add(more);
        }
        return schemas;
    }

    private static int prefix(Assertions a) {
        return a.nodes.stream().mapToInt(node -> tuple(node).size()).max().orElse(0);
    }

    private static List<SchemaNode> rest(Assertions a) {
        return a.nodes.stream().map(ArrayTexts::rest).toList();
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
}
