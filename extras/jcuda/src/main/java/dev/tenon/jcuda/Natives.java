package dev.tenon.jcuda;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Why a native library of JCuda was not loaded.
final class Natives {
    private static final Map<String, String> REASONS = new ConcurrentHashMap<>();

    private Natives() {}

    /// {@return why a library was not loaded, in one line: JCuda's own message has dozens, and only the first attempt
    ///     to load it throws that}
    ///
    /// @param library its name
    /// @param error what the attempt threw
    static String reason(String library, LinkageError error) {
        return REASONS.computeIfAbsent(library, l -> {
            List<String> lines = String.valueOf(error.getMessage())
                    .lines()
                    .map(String::strip)
                    .toList();
            return lines.stream()
                    .filter(line -> line.contains("cannot open shared object"))
                    .findFirst()
                    .orElse(lines.getFirst())
                    .replaceFirst("^(java\\.lang\\.\\w+: )?(/\\S+: )?", "");
        });
    }
}
