package dev.tenon.api.error;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A model file is sound, but no installed bundle can run it.
///
/// All reasons are reported at once, as [#issues()].
public class UnsupportedModelException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final transient List<Issue> issues;

    /// Creates an error for a single reason.
    ///
    /// @param code error code
    /// @param text what, where, found and expected, what to do
    public UnsupportedModelException(String code, String text) {
        super(code, text);
        this.issues = List.of(new Issue(Issue.Severity.ERROR, code, text, ""));
    }

    /// Creates an error for one or more reasons; the first one gives the code.
    ///
    /// @param what the sentence in front of the list, such as `a.gguf cannot be loaded`
    /// @param issues the reasons; at least one
    public UnsupportedModelException(String what, List<Issue> issues) {
        this(what, issues, null);
    }

    /// Creates an error for one or more reasons with a cause; the first reason gives the code.
    ///
    /// @param what the sentence in front of the list, such as `a.gguf cannot be loaded`
    /// @param issues the reasons; at least one
    /// @param cause what led to it, or null
    public UnsupportedModelException(String what, List<Issue> issues, @Nullable Throwable cause) {
        super(issues.getFirst().code(), text(what, issues), cause);
        this.issues = List.copyOf(issues);
    }

    /// {@return the reasons, at least one; unmodifiable}
    public final List<Issue> issues() {
        return issues;
    }

    private static String text(String what, List<Issue> issues) {
        return what + ": " + issues.stream().limit(8).map(Issue::message).collect(Collectors.joining("; "))
                + (issues.size() > 8 ? "; and " + (issues.size() - 8) + " more" : "");
    }
}
