package dev.tenon.platform.templates.values;

/// Jinja's view of a name that has no value: prints as nothing, is false and empty, and fails when used further.
///
/// @param what what is missing, for the error message
public record Undefined(String what) {}
