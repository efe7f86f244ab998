package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Map;
import java.util.Set;

/// Jinja2's tests: what stands after `is`.
public final class Tests {
    /// The names; the symbols only for `select` and its kind.
    static final Set<String> NAMES =
            Set.of(("!= < <= == > >= False None True boolean callable defined divisibleby eq equalto even false "
                            + "filter float ge greaterthan gt in integer iterable le lessthan lower lt mapping ne none number "
                            + "odd sameas sequence string test true undefined upper")
                    .split(" "));

    private Tests() {}

    /// {@return the name of a test, which must exist}
    public static String named(String name) {
        return Filters.known(NAMES, "test", name);
    }

    /// {@return whether a value passes a test}
    public static boolean holds(Budget budget, String name, Object v, Arguments args) {
        return switch (name) {
            case "boolean" -> v instanceof Boolean;
            case "callable" -> v instanceof Callable || v instanceof Undefined;
            case "defined" -> !(v instanceof Undefined);
            case "divisibleby" -> modulo(budget, v, args.need(0, "num")) == 0;
            case "eq", "equalto", "==" -> Operators.compare(budget, "==", v, args.need(0, "other"));
            case "even" -> modulo(budget, v, 2L) == 0;
            case "false", "False" -> v.equals(false);
            case "filter" -> v instanceof String s && Filters.NAMES.contains(s);
            case "float" -> v instanceof Double;
            case "ge", ">=" -> Operators.compare(budget, ">=", v, args.need(0, "other"));
            case "gt", "greaterthan", ">" -> Operators.compare(budget, ">", v, args.need(0, "other"));
            case "in" -> Operators.compare(budget, "in", v, args.need(0, "seq"));
            case "integer" -> v instanceof Long;
            case "iterable", "sequence" ->
                v instanceof String || v instanceof List || v instanceof Map || v instanceof Undefined;
            case "le", "<=" -> Operators.compare(budget, "<=", v, args.need(0, "other"));
            case "lower" -> Text.isCase(Text.str(budget, v), false);
            case "lt", "lessthan", "<" -> Operators.compare(budget, "<", v, args.need(0, "other"));
            case "mapping" -> v instanceof Map;
            case "ne", "!=" -> Operators.compare(budget, "!=", v, args.need(0, "other"));
            case "none", "None" -> v == Values.NONE;
            case "number" -> Values.isNumber(v);
            case "odd" -> modulo(budget, v, 2L) == 1;
            case "sameas" -> same(v, args.need(0, "other"));
            case "string" -> v instanceof String;
            case "test" -> v instanceof String s && NAMES.contains(s);
            case "true", "True" -> v.equals(true);
            case "undefined" -> v instanceof Undefined;
            case "upper" -> Text.isCase(Text.str(budget, v), true);
            default -> throw new TemplateFailure("there is no test '" + name + "'");
        };
    }

    private static double modulo(Budget budget, Object value, Object by) {
        return Values.toDouble(Operators.binary(budget, "%", value instanceof String ? Values.NONE : value, by));
    }

    private static boolean same(Object a, Object b) {
        return a == b || (a.equals(b) && (a instanceof Boolean || a instanceof Long || a instanceof String));
    }
}
