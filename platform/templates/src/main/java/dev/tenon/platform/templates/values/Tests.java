package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Map;

/// Jinja2's tests: what stands after `is`.
public final class Tests {
    /// The names; the symbols only for `select` and its kind.
    private static final Map<String, List<String>> NAMES = Signatures.of("""
            boolean,callable,defined,escaped,even,false,filter,float,integer,iterable,lower,mapping,none,number,odd
            sequence,string,test,true,undefined,upper
            divisibleby num
            !=,<,<=,==,>,>=,eq,equalto,ge,greaterthan,gt,le,lessthan,lt,ne,sameas other
            in seq""");

    private Tests() {}

    /// {@return whether there is a test of this name}
    public static boolean exists(String name) {
        return NAMES.containsKey(name);
    }

    /// {@return whether a value passes a test}
    public static boolean holds(Budget budget, String name, Object v, Arguments args) {
        if (!exists(name)) {
            throw new TemplateFailure("No test named '" + name + "'.");
        }
        args.require("the test '" + name + "'", NAMES.get(name));
        return switch (name) {
            case "boolean" -> v instanceof Boolean;
            case "callable" -> v instanceof Callable || v instanceof Undefined;
            case "defined" -> !(v instanceof Undefined);
            case "divisibleby" -> modulo(budget, v, args.need(0, "num")) == 0;
            case "eq", "equalto", "==" -> Operators.compare(budget, "==", v, args.need(0, "other"));
            case "escaped" -> false;
            case "even" -> modulo(budget, v, 2L) == 0;
            case "false" -> v.equals(false);
            case "filter" -> v instanceof Text s && Filters.exists(s.toString());
            case "float" -> v instanceof Double;
            case "ge", ">=" -> Operators.compare(budget, ">=", v, args.need(0, "other"));
            case "gt", "greaterthan", ">" -> Operators.compare(budget, ">", v, args.need(0, "other"));
            case "in" -> Operators.compare(budget, "in", v, args.need(0, "seq"));
            case "integer" -> v instanceof Long;
            case "iterable" -> v instanceof Generator || v instanceof View || isSequence(v);
            case "sequence" -> isSequence(v);
            case "le", "<=" -> Operators.compare(budget, "<=", v, args.need(0, "other"));
            case "lower" -> Strings.isCase(Text.str(budget, v).toString(), false);
            case "lt", "lessthan", "<" -> Operators.compare(budget, "<", v, args.need(0, "other"));
            case "mapping" -> v instanceof Map;
            case "ne", "!=" -> Operators.compare(budget, "!=", v, args.need(0, "other"));
            case "none" -> v == Values.NONE;
            case "number" -> Values.isNumber(v);
            case "odd" -> modulo(budget, v, 2L) == 1;
            case "sameas" -> same(v, args.need(0, "other"));
            case "string" -> v instanceof Text;
            case "test" -> v instanceof Text s && exists(s.toString());
            case "true" -> v.equals(true);
            case "undefined" -> v instanceof Undefined;
            default -> Strings.isCase(Text.str(budget, v).toString(), true);
        };
    }

    private static boolean isSequence(Object v) {
        return v instanceof Text || v instanceof List || v instanceof Map || v instanceof Undefined;
    }

    private static double modulo(Budget budget, Object value, Object by) {
        return Values.toDouble(Operators.binary(budget, "%", value instanceof Text ? Values.NONE : value, by));
    }

    private static boolean same(Object a, Object b) {
        return a == b || (a.equals(b) && (a instanceof Boolean || a instanceof Long || a instanceof Text));
    }
}
