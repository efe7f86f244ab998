package dev.tenon.platform.cli.chat;

import dev.tenon.platform.core.control.UserFolders;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/// The file that keeps what a user typed in chats. Only its owner can read it.
final class HistoryFile {
    private HistoryFile() {}

    /// {@return where the file lies by default: in the user's folder for state}
    ///
    /// @param environment environment variables
    static Path standard(Map<String, String> environment) {
        return UserFolders.state(environment).resolve("history");
    }

    /// Creates the file if it is missing, and closes it to others.
    ///
    /// @param file the file
    /// @throws IOException if it cannot be made
    static void prepare(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        boolean posix = Files.getFileAttributeView(file, PosixFileAttributeView.class) != null;
        try {
            if (posix) {
                Files.createFile(
                        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } else {
                Files.createFile(file);
            }
        } catch (FileAlreadyExistsException e) {
            if (posix && Files.isRegularFile(file)) {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            }
        }
    }
}
