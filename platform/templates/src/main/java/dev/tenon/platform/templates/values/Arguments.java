package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Map;

/// Arguments of a call, by position and, in order, by name. Each is asked for by both.
public record Arguments(List<Object> positional, Map<String, Object> named) {
    /// No arguments.
    public static final Arguments NONE = new Arguments(List.of(), Map.of());

    /// Fails unless the arguments fit.
    ///
    /// @param what is called, for the message
    /// @param parameters their names, those that may be left out with `?`; a last `*` stands for
    ///     any more
    void require(String what, List<String> parameters) {
        boolean more = !parameters.isEmpty() && parameters.getLast().equals("*");
        if (positional.size() > parameters.size() && !more) {
            throw new TemplateFailure(what + " takes at most " + parameters.size() + " argument(s)");
        }
        for (String name : named.keySet()) {
            int at = Math.max(parameters.indexOf(name), parameters.indexOf(name + "?"));
            if (!more && at < positional.size()) {
                throw new TemplateFailure(
                        what + (at < 0 ? " has no argument '" : " has two values for '") + name + "'");
            }
        }
        for (int i = positional.size(); i < parameters.size(); i++) {
            String name = parameters.get(i);
            if (!name.endsWith("?") && !name.equals("*") && !named.containsKey(name)) {
                throw new TemplateFailure(what + " lacks its argument '" + name + "'");
            }
        }
    }

    /// {@return an argument that must be there}
    public Object need(int index, String name) {
        Object value = get(index, name, null);
        if (value == null) {
            throw new TemplateFailure("a call lacks its argument '" + name + "'");
        }
        return value;
    }

    Object get(int index, String name, Object otherwise) {
        Object value = index < positional.size() ? positional.get(index) : named.get(name);
        return value == null ? otherwise : value;
    }

    Text text(int index, String name) {
        return Text.need(need(index, name), name);
    }

    boolean flag(int index, String name) {
        return Values.truth(get(index, name, false));
    }

    /// {@return a whole number, limited to 32 bits; `None` stands for the default}
    int integer(int index, String name, int otherwise) {
        Object value = get(index, name, Values.NONE);
        Values.used(value);
        if (value != Values.NONE && !Values.isInteger(value)) {
            throw new TemplateFailure("'" + name + "' must be an integer, not " + Values.type(value));
        }
        return value == Values.NONE ? otherwise : (int) Math.clamp(Values.toLong(value), -1L << 31, (1L << 31) - 1);
    }

    /// {@return the arguments from a position on}
    Arguments from(int first) {
        return new Arguments(positional.subList(Math.min(first, positional.size()), positional.size()), named);
    }
}
