package dev.tenon.platform.templates;

/// Python's view of a name that has no value: prints as nothing, is false and empty, and fails when used
/// further.
///
/// @param what what is missing, for the error message
record Undefined(String what) {
    /// {@return the error of using it}
    TemplateFailure use() {
        return new TemplateFailure(what);
    }
}
