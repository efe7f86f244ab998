package dev.tenon.platform.hub;

import java.nio.file.Path;
import org.osgi.annotation.versioning.ConsumerType;

/// Hears how a download goes, and decides what it may do. Called on the thread that downloads.
@ConsumerType
public interface PullListener {
    /// Hears that a task begins.
    ///
    /// @param name the file's name, or `checksum`
    /// @param bytes how many there are; -1 when unknown
    /// @return hears how far it is; closed at its end
    Task begin(String name, long bytes);

    /// Hears a remark.
    ///
    /// @param text one line
    default void note(String text) {}

    /// Hears that a request failed and is sent again.
    ///
    /// @param reason why, without a full stop
    default void retries(String reason) {}

    /// Hears that a file is there.
    ///
    /// @param file the file
    default void stored(Path file) {}

    /// {@return whether a file may be replaced that is another one}
    ///
    /// @param file the file
    default boolean mayReplace(Path file) {
        return false;
    }

    /// Hears how far a task is.
    @ConsumerType
    @FunctionalInterface
    interface Task extends AutoCloseable {
        /// Hears how far it is.
        ///
        /// @param done bytes that are done
        /// @param total how many there are; -1 when unknown
        void to(long done, long total);

        @Override
        default void close() {}
    }
}
