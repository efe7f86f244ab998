package dev.tenon.platform.templates.values;

/// Something that a template may call: a function, a bound method, a macro, a recursive loop.
@FunctionalInterface
public interface Callable {
    /// {@return what a call with arguments gives; never null}
    Object call(Budget budget, Arguments arguments);

    /// {@return an attribute, or null if it has none of this name}
    default Object attribute(String name) {
        return null;
    }
}
