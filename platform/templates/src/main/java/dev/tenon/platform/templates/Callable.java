package dev.tenon.platform.templates;

import java.util.List;
import java.util.Map;

/// Something that a template may call: a global function, a method, a macro, a filter's or a test's code.
@FunctionalInterface
interface Callable {
    /// Calls it.
    ///
    /// @param frame the rendering
    /// @param args positional and named arguments
    /// @return its value; never null
    Object call(Frame frame, Args args);

    /// Arguments of a call.
    ///
    /// @param positional by position
    /// @param named by name, in order
    record Args(List<Object> positional, Map<String, Object> named) {
        /// No arguments.
        static final Args EMPTY = new Args(List.of(), Map.of());

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
        Object need(int index, String name) {
            Object value = get(index, name);
            if (value == null) {
                throw new TemplateFailure("a call lacks its argument '" + name + "'");
            }
            return value;
        }

        /// {@return the arguments from a position on}
        ///
        /// @param from first position to keep
        Args from(int from) {
            return new Args(positional.subList(Math.min(from, positional.size()), positional.size()), named);
        }
    }
}
