package dev.tenon.platform.media;

/// What a file of a sound may ask for; checked before anything is decoded.
///
/// @param maxBytes most bytes of the file
/// @param maxSeconds most seconds of the sound
public record SoundBudget(long maxBytes, double maxSeconds) {
    /// {@return 128 MiB and ten minutes}
    public static SoundBudget defaults() {
        return new SoundBudget(128 << 20, 600);
    }

    void checkBytes(String what, long bytes) {
        if (bytes > maxBytes) {
            throw MediaException.budget(what, bytes + " bytes", maxBytes + "", "Cut it");
        }
    }

    void checkSeconds(String what, double seconds) {
        if (seconds > maxSeconds) {
            throw MediaException.budget(what, seconds + " seconds", maxSeconds + "", "Cut it");
        }
    }
}
