package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.itest.framework.Osgi.Kind;
import dev.tenon.platform.boot.BundleTrust;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;

/// A jar that is exchanged between its check and its installation.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class SwappedJarIT {
    private static final String NAME = "org.example.quiet";

    @TempDir
    Path folder;

    /// Trusts every jar, and has the file exchanged at that moment.
    private record Swap(Path file, Path other) implements BundleTrust {
        @Override
        public Verdict look(Path jar) {
            return Verdict.NONE;
        }

        @Override
        public Verdict installed(String location) {
            return Verdict.NONE;
        }

        @Override
        public Verdict admit(String location, Path jar) {
            try {
                Files.copy(other, file, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return Verdict.NONE;
        }
    }

    private Path quiet(String version) throws IOException {
        Map<String, String> headers =
                Map.of("Bundle-SymbolicName", NAME, "Bundle-Version", version, "Service-Component", "");
        return Jars.patched(Jars.ours("models-qwen3"), folder.resolve(version + ".jar"), headers);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theBytesThatWereCheckedAreThoseThatRun(Kind kind) throws Exception {
        Path checked = quiet("1.0.0");
        Path other = quiet("6.6.6");
        Path link = Files.createSymbolicLink(folder.resolve("link.jar"), checked);
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.bundles()
                    .getFirst()
                    .getBundleContext()
                    .registerService(BundleTrust.class, new Swap(checked, other), null);
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            String done = manager.apply(link);
            assertEquals(NAME + " 1.0.0 was installed", done);
            assertEquals(-1, Files.mismatch(checked, other), "the file was exchanged");
            Bundle bundle = manager.bundles(NAME).getFirst();
            assertEquals("1.0.0", bundle.getVersion().toString());
            assertTrue(bundle.getState() == Bundle.ACTIVE, () -> Osgi.state(bundle));
        }
    }
}
