package dev.tenon.platform.templates.values;

/// Something that a template may call: a global function, a bound method, a macro, a recursive loop.
@FunctionalInterface
public interface Callable {
    /// Calls it.
    ///
    /// @param budget the rendering's limits
    /// @param arguments positional and named arguments
    /// @return its value; never null
    Object call(Budget budget, Arguments arguments);
}
