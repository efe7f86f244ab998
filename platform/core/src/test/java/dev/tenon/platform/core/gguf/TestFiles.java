package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.gguf.GgufFile;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/// Finds golden data, and counts mappings.
final class TestFiles {
    private TestFiles() {}

    /// A file of the malformed collection, which is in the test resources.
    static Path malformed(String name) {
        try {
            return Path.of(Objects.requireNonNull(TestFiles.class.getResource("/golden/malformed/" + name), name)
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A file of the shared golden data, which is not part of the project; the test is skipped where it is
    /// missing.
    static Path shared(String name) {
        String setting = Optional.ofNullable(System.getProperty("TENON_SHARED"))
                .or(() -> Optional.ofNullable(System.getenv("TENON_SHARED")))
                .orElse("../shared");
        Path root = Path.of("").toAbsolutePath();
        while (root.getParent() != null && !Files.exists(root.resolve("mvnw"))) {
            root = root.getParent();
        }
        Path file = root.resolve(setting).normalize().resolve(name);
        assumeTrue(Files.exists(file), () -> "golden data is missing (set TENON_SHARED): " + file);
        return file;
    }

    static GgufFile open(Path path) {
        return GgufReader.open(path, TensorTypes.standard());
    }

    /// How many mappings of files whose path contains `part` this process holds; -1 where that cannot be
    /// told.
    static long mappings(String part) {
        if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")) {
            return -1;
        }
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(part)).count();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void assertNotMapped(String part) {
        long count = mappings(part);
        assertTrue(count <= 0, () -> count + " mappings of " + part + " are left");
    }
}
