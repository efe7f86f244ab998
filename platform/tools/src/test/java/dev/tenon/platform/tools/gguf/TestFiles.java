package dev.tenon.platform.tools.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/// Finds golden data.
final class TestFiles {
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

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

    /// Checks that this process maps no file whose path contains `part`, where that can be told.
    static void assertNotMapped(String part) {
        Path maps = Path.of("/proc/self/maps");
        if (Files.exists(maps)) {
            try (Stream<String> lines = Files.lines(maps)) {
                assertEquals(
                        List.of(), lines.filter(line -> line.contains(part)).toList());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
