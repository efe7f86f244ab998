package dev.tenon.itest.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// What this process holds of the system, to find what is not released.
///
/// @param threads Java threads
/// @param files open file descriptors, or -1 where the system does not tell
/// @param maps mappings of the address space, or -1 where the system does not tell
record ProcessUse(int threads, int files, int maps) {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path MAPS = Path.of("/proc/self/maps");

    /// {@return what is held now}
    static ProcessUse now() throws IOException {
        return new ProcessUse(Thread.getAllStackTraces().size(), descriptors(), mappings());
    }

    private static int descriptors() throws IOException {
        if (!Files.isDirectory(DESCRIPTORS)) {
            return -1;
        }
        try (Stream<Path> files = Files.list(DESCRIPTORS)) {
            return (int) files.count();
        }
    }

    private static int mappings() throws IOException {
        return Files.isReadable(MAPS) ? Files.readAllLines(MAPS).size() : -1;
    }
}
