package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Map;

/// Arguments of a call.
///
/// @param positional by position
/// @param named by name, in order
public record Arguments(List<Object> positional, Map<String, Object> named) {
    /// No arguments.
    public static final Arguments NONE = new Arguments(List.of(), Map.of());

    /// {@return an argument by position or name, or null if it is absent}
    ///
    /// @param index its position
    /// @param name its name
    Object get(int index, String name) {
        return index < positional.size() ? positional.get(index) : named.get(name);
    }

    /// {@return an argument by position or name, or a default}
    ///
    /// @param index its position
    /// @param name its name
    /// @param otherwise the default
    Object get(int index, String name, Object otherwise) {
        Object value = get(index, name);
        return value == null ? otherwise : value;
    }

    /// {@return an argument that must be there}
    ///
    /// @param index its position
    /// @param name its name
    public Object need(int index, String name) {
        Object value = get(index, name);
        if (value == null) {
            throw new TemplateFailure("a call lacks its argument '" + name + "'");
        }
        return value;
    }

    /// {@return an argument that must be a string}
    ///
    /// @param index its position
    /// @param name its name
    String text(int index, String name) {
        return Text.need(need(index, name), name);
    }

    /// {@return an argument that is true or false}
    ///
    /// @param index its position
    /// @param name its name
    /// @param otherwise the default
    boolean flag(int index, String name, boolean otherwise) {
        Object value = get(index, name);
        return value == null ? otherwise : Values.truth(value);
    }

    /// {@return an argument that must be a whole number; `None` stands for the default}
    ///
    /// @param index its position
    /// @param name its name
    /// @param otherwise the default
    int integer(int index, String name, int otherwise) {
        Object value = get(index, name);
        return value == null || value == None.NONE ? otherwise : Numbers.integerArgument(value, name);
    }

    /// {@return the arguments from a position on}
    ///
    /// @param from first position to keep
    Arguments from(int from) {
        return new Arguments(positional.subList(Math.min(from, positional.size()), positional.size()), named);
    }
}
