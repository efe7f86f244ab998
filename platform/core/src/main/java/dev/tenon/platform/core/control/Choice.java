package dev.tenon.platform.core.control;

import java.util.List;

/// One choice that placing a model takes, with all candidates.
///
/// @param kind what is chosen: `architecture`, `format`, `model` (only if the architecture refuses it),
///     `backend`, `device` or `kernel`
/// @param subject for what, such as a tensor's or an op's name
/// @param candidates what there is to choose from; unmodifiable
public record Choice(String kind, String subject, List<Candidate> candidates) {
    /// Copies the list.
    public Choice {
        candidates = List.copyOf(candidates);
    }

    /// Something that could be chosen.
    ///
    /// @param name its id or name
    /// @param origin the object's class, by which a bundle can be found; null for what is wanted and not there
    /// @param taken whether it is chosen
    /// @param reason why it is chosen, or why not
    public record Candidate(String name, Class<?> origin, boolean taken, String reason) {}
}
