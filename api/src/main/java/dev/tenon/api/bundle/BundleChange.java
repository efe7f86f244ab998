package dev.tenon.api.bundle;

import java.util.Objects;

/// Something that happened to a bundle.
///
/// @param kind what
/// @param name symbolic name of the bundle; of one that an engine without a framework has, the names
///     of its jars
/// @param version the version that came, that went ([Kind#REMOVED]), or that was refused; empty where
///     there is no framework
/// @param oldVersion the version that was there before an update, or that stays in use because the
///     new one was refused; else empty
/// @param text what was done, or why it was refused; a line for people
public record BundleChange(Kind kind, String name, String version, String oldVersion, String text) {
    /// What happened.
    public enum Kind {
        /// The bundle came; nothing of its name was there.
        INSTALLED,
        /// The bundle took the place of another version of it, which may have been the higher one.
        UPDATED,
        /// The bundle went.
        REMOVED,
        /// The bundle was not taken, and nothing has changed.
        REFUSED
    }

    /// Checks that nothing is null.
    public BundleChange {
        Objects.requireNonNull(kind);
        Objects.requireNonNull(name);
        Objects.requireNonNull(version);
        Objects.requireNonNull(oldVersion);
        Objects.requireNonNull(text);
    }
}
