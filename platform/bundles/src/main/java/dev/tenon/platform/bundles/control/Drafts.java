package dev.tenon.platform.bundles.control;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Files that are written next to their target and moved to it, so that others see the complete
/// file or none.
///
/// A draft is called `.NAME.PID.part`: the number shows whether the process that wrote it still
/// runs.
final class Drafts {
    private static final Logger LOG = LoggerFactory.getLogger(Drafts.class);

    private Drafts() {}

    /// {@return where this process writes a file before it is moved to its place}
    ///
    /// @param target its place
    static Path of(Path target) {
        return target.resolveSibling(
                "." + target.getFileName() + "." + ProcessHandle.current().pid() + ".part");
    }

    /// Removes the drafts of processes that no longer run. What cannot be removed is logged and
    /// left.
    ///
    /// @param folder where to look, not below it; need not be there
    static void sweep(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (DirectoryStream<Path> drafts = Files.newDirectoryStream(folder, ".*.[0-9]*.part")) {
            for (Path draft : drafts) {
                String[] parts = draft.getFileName().toString().split("\\.");
                String pid = parts[parts.length - 2];
                if (pid.matches("[0-9]{1,18}") && !runs(Long.parseLong(pid))) {
                    Files.deleteIfExists(draft);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("Drafts of earlier processes stay in {}", folder, e);
        }
    }

    /// {@return whether there is such a process}
    ///
    /// @param pid its number
    static boolean runs(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
    }
}
