package dev.tenon;

/// Codes of errors that only Java programs meet.
final class JavaErrors {
    /// A request did not end in its time.
    static final String TIMEOUT = "JAVA-001";
    /// An answer ended before it was a whole value.
    static final String INCOMPLETE = "JAVA-002";
    /// A model called tools again and again.
    static final String TOOL_ROUNDS = "JAVA-003";

    private JavaErrors() {}
}
