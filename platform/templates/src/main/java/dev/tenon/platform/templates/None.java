package dev.tenon.platform.templates;

/// Python's `None`; Java's null never appears among a template's values.
enum None {
    /// The only value.
    NONE
}
