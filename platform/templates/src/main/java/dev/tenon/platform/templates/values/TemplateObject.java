package dev.tenon.platform.templates.values;

/// A value of the engine's own with attributes, such as a namespace or a loop.
public interface TemplateObject {
    /// {@return an attribute, or null if it has none of this name}
    Object attribute(String name);
}
