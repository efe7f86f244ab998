package dev.tenon.platform.core.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/// Files that only their owner can read. Where a file system knows no such permissions, those of the folder count.
public final class OwnerOnly {
    private OwnerOnly() {}

    /// Makes a folder, and those above it, unless it is there.
    ///
    /// @param folder the folder
    /// @throws IOException if it cannot be made
    public static void folder(Path folder) throws IOException {
        Files.createDirectories(folder, attributes(folder, "rwx------"));
    }

    /// {@return what a file is created with}
    ///
    /// @param file the file
    public static FileAttribute<?>[] file(Path file) {
        return attributes(file, "rw-------");
    }

    private static FileAttribute<?>[] attributes(Path path, String permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }
}
