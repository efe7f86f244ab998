package dev.tenon.platform.templates;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Jinja2's tests, the names after `is`.
final class TestFunctions {
    private static final Map<String, Callable> TESTS = Map.ofEntries(
            Map.entry("defined", (f, a) -> !(a.need(0, "value") instanceof Undefined)),
            Map.entry("undefined", (f, a) -> a.need(0, "value") instanceof Undefined),
            Map.entry("none", (f, a) -> a.need(0, "value") == None.NONE),
            Map.entry("None", (f, a) -> a.need(0, "value") == None.NONE),
            Map.entry("boolean", (f, a) -> a.need(0, "value") instanceof Boolean),
            Map.entry("true", (f, a) -> a.need(0, "value").equals(true)),
            Map.entry("false", (f, a) -> a.need(0, "value").equals(false)),
            Map.entry("True", (f, a) -> a.need(0, "value").equals(true)),
            Map.entry("False", (f, a) -> a.need(0, "value").equals(false)),
            Map.entry("string", (f, a) -> a.need(0, "value") instanceof String),
            Map.entry("number", (f, a) -> PyOps.isNumber(a.need(0, "value"))),
            Map.entry("integer", (f, a) -> a.need(0, "value") instanceof Long),
            Map.entry("float", (f, a) -> a.need(0, "value") instanceof Double),
            Map.entry("mapping", (f, a) -> a.need(0, "value") instanceof Map),
            Map.entry("sequence", (f, a) -> sequence(a.need(0, "value"))),
            Map.entry("iterable", (f, a) -> sequence(a.need(0, "value")) || a.need(0, "value") instanceof LoopState),
            Map.entry("callable", (f, a) -> a.need(0, "value") instanceof Callable),
            Map.entry("odd", (f, a) -> modulo(a, 2) == 1),
            Map.entry("even", (f, a) -> modulo(a, 2) == 0),
            Map.entry("divisibleby", (f, a) -> modulo(a, PyOps.integerArgument(a.need(1, "num"), "num")) == 0),
            Map.entry("lower", (f, a) -> text(f, a).equals(text(f, a).toLowerCase(Locale.ROOT)) && cased(text(f, a))),
            Map.entry("upper", (f, a) -> text(f, a).equals(text(f, a).toUpperCase(Locale.ROOT)) && cased(text(f, a))),
            Map.entry("in", (f, a) -> PyOps.contains(f, a.need(1, "seq"), a.need(0, "value"))),
            Map.entry("sameas", (f, a) -> same(a.need(0, "value"), a.need(1, "other"))),
            Map.entry("filter", (f, a) -> Filters.get(text(f, a)) != null),
            Map.entry("test", (f, a) -> get(text(f, a)) != null),
            Map.entry("==", compare("==")),
            Map.entry("eq", compare("==")),
            Map.entry("equalto", compare("==")),
            Map.entry("!=", compare("!=")),
            Map.entry("ne", compare("!=")),
            Map.entry("<", compare("<")),
            Map.entry("lt", compare("<")),
            Map.entry("lessthan", compare("<")),
            Map.entry("<=", compare("<=")),
            Map.entry("le", compare("<=")),
            Map.entry(">", compare(">")),
            Map.entry("gt", compare(">")),
            Map.entry("greaterthan", compare(">")),
            Map.entry(">=", compare(">=")),
            Map.entry("ge", compare(">=")));

    private TestFunctions() {}

    /// {@return a test, or null}
    ///
    /// @param name its name
    static Callable get(String name) {
        return TESTS.get(name);
    }

    private static Callable compare(String operator) {
        return (f, a) -> PyOps.compare(f, operator, a.need(0, "value"), a.need(1, "other"));
    }

    private static boolean sequence(Object value) {
        return value instanceof String || value instanceof List || value instanceof Map || value instanceof Undefined;
    }

    private static long modulo(Callable.Args args, long by) {
        Object value = args.need(0, "value");
        PyOps.used(value);
        if (!PyOps.isNumber(value) || by == 0) {
            throw new TemplateFailure("not all arguments are whole numbers above 0");
        }
        return Math.floorMod((long) PyOps.number(value), by);
    }

    private static String text(Frame frame, Callable.Args args) {
        return PyText.str(frame, args.need(0, "value"));
    }

    private static boolean cased(String s) {
        return s.codePoints().anyMatch(c -> Character.isUpperCase(c) || Character.isLowerCase(c));
    }

    private static boolean same(Object a, Object b) {
        return a == b || (a.equals(b) && (a instanceof Boolean || a instanceof Long || a instanceof String));
    }
}
