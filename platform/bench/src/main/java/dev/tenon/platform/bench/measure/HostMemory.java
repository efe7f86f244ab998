package dev.tenon.platform.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The machine's memory, as Linux tells it; 0 on other systems.
public final class HostMemory {
    private HostMemory() {}

    /// {@return bytes that a new program may take without anything being swapped out; 0 if unknown}
    public static long availableBytes() {
        return field(Path.of("/proc/meminfo"), "MemAvailable:");
    }

    /// {@return bytes of memory; 0 if unknown}
    public static long totalBytes() {
        return field(Path.of("/proc/meminfo"), "MemTotal:");
    }

    /// {@return bytes of a process that are in memory, those of mapped files too; 0 if unknown}
    ///
    /// @param pid the process
    public static long residentBytes(long pid) {
        return field(Path.of("/proc/" + pid + "/status"), "VmRSS:");
    }

    private static long field(Path file, String name) {
        if (!Files.isReadable(file)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (IOException | java.io.UncheckedIOException | NumberFormatException e) {
            return 0; // as good as a system without this file
        }
    }
}
