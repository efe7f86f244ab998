package dev.tenon.platform.templates.values;

/// Python's `None`; Java's null never appears among a template's values.
public enum None {
    /// The only value.
    NONE
}
