package dev.tenon.platform.core.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/// Removes files that must not stay when work ends early. Safe for any thread.
public final class Leftovers {
    private static final String TEMPORARY = ".tmp";
    /// A file that was written to a moment ago may belong to a process of another machine.
    private static final Duration GRACE = Duration.ofMinutes(1);
    private static final System.Logger LOG = System.getLogger(Leftovers.class.getName());

    private Leftovers() {}

    /// Has something done when the process is told to end.
    ///
    /// @param hook what
    /// @throws IOException if it is ending already
    public static void atEnd(Thread hook) throws IOException {
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            throw new IOException("the process is ending", e);
        }
    }

    /// Takes [#atEnd] back.
    ///
    /// @param hook what was to be done
    public static void notAtEnd(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            LOG.log(System.Logger.Level.DEBUG, "The process is ending", e);
        }
    }

    /// {@return a name beside a file that no other process uses}
    ///
    /// @param target the file
    public static Path temporary(Path target) {
        return target.resolveSibling(target.getFileName() + "."
                + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime()) + TEMPORARY);
    }

    /// Removes what killed processes left that wrote the same target: such files can be large.
    ///
    /// @param target the file
    public static void sweep(Path target) {
        String start = target.getFileName() + ".";
        try (Stream<Path> files = Files.list(target.toAbsolutePath().getParent())) {
            List<Path> left = files.filter(f -> f.getFileName().toString().startsWith(start))
                    .toList();
            for (Path file : left) {
                String rest = file.getFileName().toString().substring(start.length());
                if (rest.matches("[0-9]{1,18}-[0-9a-f]+\\" + TEMPORARY)
                        && ProcessHandle.of(Long.parseLong(rest.substring(0, rest.indexOf('-'))))
                                .isEmpty()
                        && Files.getLastModifiedTime(file)
                                .toInstant()
                                .isBefore(Instant.now().minus(GRACE))) {
                    delete(file);
                }
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "Unfinished files stay beside " + target, e);
        }
    }

    /// Deletes a file, if it is there; says so in the log where that fails.
    ///
    /// @param file the file
    public static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "Left behind: " + file + ". Delete it.", e);
        }
    }
}
