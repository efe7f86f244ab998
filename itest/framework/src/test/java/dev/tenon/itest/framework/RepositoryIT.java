package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.itest.framework.Installation.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Bundles from a repository, in the whole distribution.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RepositoryIT {
    private static final String MODELS = "dev.tenon.models.qwen3";

    @TempDir
    Path folder;

    private static void publish(Path repository, String version, Path jar) throws Exception {
        Path target = repository.resolve("org/example/models/" + version + "/models-" + version + ".jar");
        Files.createDirectories(target.getParent());
        Files.copy(jar, target, StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void coordinatesAreFetchedTriedAndKeptAndAnotherApiIsRefusedBeforeAnythingIsReplaced() throws Exception {
        Path repository = folder.resolve("repository");
        publish(repository, "1.0", Manager.version(MODELS, "0.5.0", folder));
        String imports = Jars.attributes(Jars.ours("models-qwen3")).getValue("Import-Package");
        publish(
                repository,
                "2.0",
                Jars.patched(
                        Jars.ours("models-qwen3"),
                        folder.resolve("later.jar"),
                        Map.of(
                                "Bundle-Version",
                                "0.6.0",
                                "Import-Package",
                                imports.replaceFirst(
                                        "(dev\\.tenon\\.api\\.model;version=)\"[^\"]*\"", "$1\"[7.0,8)\""))));
        Installation installation = Installation.copy(folder).with("TENON_BUNDLES_REPOSITORIES", repository.toString());

        Result installed = installation.tenon("bundles", "install", "--offline", "org.example:models:1.0");
        assertEquals(0, installed.code(), installed::toString);
        assertTrue(
                installed.out().contains(MODELS + " 0.1.0 was replaced by " + MODELS + " 0.5.0"), installed::toString);
        assertTrue(Files.exists(installation.home().resolve("deploy/" + MODELS + "-0.5.0.jar")));

        Result later = installation.tenon("bundles", "install", "--offline", "org.example:models:2.0");
        assertEquals(1, later.code(), later::toString);
        assertTrue(later.err().contains("was built for another version of the api"), later::toString);
        assertTrue(later.err().contains("this platform offers dev.tenon.api.model 1."), later::toString);
        assertTrue(later.err().contains(MODELS + " 0.5.0 stays in use"), later::toString);
        assertTrue(later.err().contains("[BUNDLE-002]"), later::toString);

        Result none = installation.tenon("bundles", "update", "--offline", "org.example:models:3.0");
        assertEquals(1, none.code(), none::toString);
        assertTrue(none.err().contains("[BUNDLE-006]"), none::toString);
    }
}
