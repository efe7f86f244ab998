package dev.tenon.platform.hub;

import dev.tenon.platform.core.gguf.CompanionFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// A model in the folder of pulled ones.
///
/// @param name what `-m` takes
/// @param files the file, or all parts of a split one in order
public record Pulled(String name, List<Path> files) {
    /// {@return its size}
    ///
    /// @throws UncheckedIOException if a file cannot be read
    public long bytes() {
        long bytes = 0;
        for (Path file : files) {
            try {
                bytes += Files.size(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return bytes;
    }

    /// {@return its companion, if it is a model that sees or hears and has one beside it}
    public Optional<CompanionFile> companion() {
        return CompanionFile.of(files.getFirst());
    }

    /// {@return when its first file was written}
    ///
    /// @throws UncheckedIOException if the file cannot be read
    public Instant date() {
        try {
            return Files.getLastModifiedTime(files.getFirst()).toInstant();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
