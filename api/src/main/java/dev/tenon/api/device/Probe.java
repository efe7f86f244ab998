package dev.tenon.api.device;

import dev.tenon.api.error.Issue;
import java.util.List;
import java.util.Objects;

/// The outcome of looking for a backend's hardware.
///
/// @param available whether [Backend#open] can work
/// @param reason one line for people: what was found, or what is missing and how to get it
/// @param issues findings that do not prevent it, such as a missing JVM flag that makes it slow;
///     unmodifiable
public record Probe(boolean available, String reason, List<Issue> issues) {
    /// Copies the list.
    public Probe {
        Objects.requireNonNull(reason, "reason");
        issues = List.copyOf(issues);
    }
}
