package dev.tenon.platform.templates.values;

import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A function of chat templates, or `self`, which has no attributes here.
///
/// @param clock what time it is
/// @param name its name
public record Builtin(Clock clock, String name) implements Callable {
    private static final Map<String, List<String>> FUNCTIONS = Signatures.of("""
            cycler,dict,namespace *
            joiner sep?
            lipsum n? html? min? max?
            raise_exception message
            range start stop? step?
            self *
            strftime_now format""");

    /// What `namespace()` makes: attributes that `set` may change from inner scopes, in place.
    public record Namespace(Map<Object, Object> attributes) {}

    /// {@return a function, or null if there is none of this name}
    public static Object function(String name, Clock clock) {
        return FUNCTIONS.containsKey(name) ? new Builtin(clock, name) : null;
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        args.require(name + "()", FUNCTIONS.get(name));
        return switch (name) {
            case "cycler" -> cycler(args.positional());
            case "dict" -> merged(budget, args);
            case "joiner" -> joiner(args.get(0, "sep", Text.of(", ")));
            case "namespace" -> new Namespace(merged(budget, args));
            case "range" -> range(budget, args);
            case "strftime_now" -> {
                Text format = args.text(0, "format");
                yield Text.madeOf(Strftime.format(budget, format.toString(), clock), format);
            }
            case "raise_exception" ->
                throw new TemplateFailure(
                        Text.str(budget, args.need(0, "message")).toString());
            case "self" -> throw new TemplateFailure("'TemplateReference' object is not callable");
            default -> throw new TemplateFailure("lipsum() writes random text; it is not part of chat templates");
        };
    }

    private static Object range(Budget budget, Arguments args) {
        boolean one = args.get(1, "stop", Values.NONE) == Values.NONE;
        long start = one ? 0 : args.integer(0, "start", 0);
        long stop = args.integer(one ? 0 : 1, one ? "start" : "stop", 0);
        Range range = new Range(start, stop, args.integer(2, "step", 1));
        budget.step(range.size());
        return range;
    }

    private static Map<Object, Object> merged(Budget budget, Arguments args) {
        if (args.positional().size() > 1) {
            throw new TemplateFailure("dict() takes at most one mapping");
        }
        Map<Object, Object> all = new LinkedHashMap<>();
        for (Object arg : args.positional()) {
            for (Object pair : arg instanceof Map ? Values.items(budget, arg) : Values.iterate(budget, arg)) {
                if (!(pair instanceof List<?> two) || two.size() != 2) {
                    throw new TemplateFailure("dict() needs pairs");
                }
                all.put(Values.key(two.get(0)), two.get(1));
            }
        }
        all.putAll(Values.mapping(args.named()));
        return all;
    }

    /// Something with attributes, some of which may be called.
    private interface Attributes extends Callable {
        @Override
        Object attribute(String name);

        @Override
        default Object call(Budget budget, Arguments args) {
            throw new TemplateFailure("'Cycler' object is not callable");
        }
    }

    private static Object cycler(List<Object> items) {
        if (items.isEmpty()) {
            throw new TemplateFailure("at least one item has to be provided");
        }
        int[] at = {0};
        return (Attributes) attribute -> switch (attribute) {
            case "current" -> items.get(at[0]);
            case "next" ->
                (Callable) (budget, args) -> {
                    Object item = items.get(at[0]);
                    at[0] = (at[0] + 1) % items.size();
                    return item;
                };
            case "reset" ->
                (Callable) (budget, args) -> {
                    at[0] = 0;
                    return Values.NONE;
                };
            default -> null;
        };
    }

    private static Callable joiner(Object separator) {
        boolean[] used = {false};
        return (budget, args) -> {
            Object text = used[0] ? separator : Text.EMPTY;
            used[0] = true;
            return text;
        };
    }
}
