package dev.tenon.platform.core.control;

import java.util.List;

/// One selection that placing a model makes, with all candidates.
///
/// @param kind what is selected: `architecture`, `format`, `template`, `sampler`, `chat`, `model` (only if
///     the architecture refuses it), `backend`, `device`, `tuned` (only if something was tuned), `kernel` or `cache`
/// @param subject for what, such as a tensor's or an op's name
/// @param candidates what there is to select from; unmodifiable
public record Selection(String kind, String subject, List<Candidate> candidates) {
    /// Copies the list.
    public Selection {
        candidates = List.copyOf(candidates);
    }

    /// Something that could be selected.
    ///
    /// @param name its id or name
    /// @param origin the object's class, by which a bundle can be found; null for what is wanted and not there
    /// @param taken whether it is selected
    /// @param reason why it is selected, or why not
    public record Candidate(String name, Class<?> origin, boolean taken, String reason) {}
}
