package dev.tenon.platform.templates;

/// A parsed expression.
@FunctionalInterface
interface Eval {
    /// {@return its value; never null}
    ///
    /// @param frame the rendering
    Object eval(Frame frame);
}
