package dev.tenon;

/// Hears how far a download is.
@FunctionalInterface
public interface Progress {
    /// Hears how far it is.
    ///
    /// @param file the file's name, or `checksum` while it is checked
    /// @param done bytes that are done
    /// @param total how many there are; -1 while that is not known
    void at(String file, long done, long total);
}
