package dev.tenon.backend.cpu.vector;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/// What the operating system reports about the processor and its memory.
final class CpuFacts {
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");
    private static final Path MEMORY_INFO = Path.of("/proc/meminfo");

    private CpuFacts() {}

    /// {@return the processor's name, or the architecture where it is not known}
    static String processorName() {
        return field(CPU_INFO, "model name").orElse(System.getProperty("os.arch", "unknown"));
    }

    /// {@return memory of the machine in bytes; 0 when unknown}
    static long memoryBytes() {
        String digits = field(MEMORY_INFO, "MemTotal").orElse("").replaceAll("[^0-9]", "");
        return digits.isEmpty() ? 0 : Long.parseLong(digits) * 1024;
    }

    /// {@return processors that the JVM may use}
    static int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    /// {@return the first value of a `name : value` file; empty when there is no such file or name}
    private static Optional<String> field(Path file, String name) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name) && line.contains(":"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .filter(value -> !value.isEmpty())
                    .findFirst();
        } catch (IOException | UncheckedIOException | SecurityException e) {
            // Not Linux, or not readable in this container: the name is for people only.
            return Optional.empty();
        }
    }
}
