package dev.tenon.api.media;

/// What a model can take beside text.
public enum MediaKind {
    /// Pictures.
    PICTURE,
    /// Sounds.
    SOUND
}
