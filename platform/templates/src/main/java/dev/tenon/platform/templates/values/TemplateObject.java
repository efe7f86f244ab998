package dev.tenon.platform.templates.values;

/// A value of the engine's own with attributes, such as a namespace, a loop or a macro.
public interface TemplateObject {
    /// {@return its type's name in messages}
    String type();

    /// {@return an attribute, or null if it has none of this name}
    ///
    /// @param name the attribute's name
    Object attribute(String name);
}
