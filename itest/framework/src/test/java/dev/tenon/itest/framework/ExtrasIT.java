package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The bundles that are not part of the distribution: an archive of their own, installed when they are wanted.
class ExtrasIT {
    private static final String EMULATOR = "tenon-backend-nv-tegra-emulator-0.1.0.jar";

    private static final String SERVER_GPU = "tenon-backend-nv-rm-0.1.0.jar";

    private static final String JCUDA = "tenon-jcuda-0.1.0.jar";

    @TempDir
    Path folder;

    @Test
    void theTwoArchivesTogetherHoldWhatTheSourceTreeRuns() throws IOException {
        Path built = Jars.distribution();
        Set<String> distribution = jars(built.resolveSibling("tenon-0.1.0.zip"));
        Set<String> extras = jars(built.resolveSibling("tenon-extras-0.1.0.zip"));

        assertTrue(
                extras.containsAll(Set.of(
                        "bundles/extras/" + EMULATOR, "bundles/extras/" + SERVER_GPU, "bundles/extras/" + JCUDA)),
                extras::toString);
        assertTrue(extras.stream().allMatch(jar -> jar.startsWith("bundles/extras/")), extras::toString);
        assertTrue(distribution.stream().noneMatch(jar -> jar.contains("extras")), distribution::toString);
        assertTrue(
                distribution.stream().noneMatch(jar -> jar.matches(".*(emulator|nv-rm|jcuda).*")),
                distribution::toString);
        try (Stream<Path> files = Files.walk(built)) {
            Set<String> all = files.map(file -> built.relativize(file).toString())
                    .filter(file -> file.endsWith(".jar") && !file.startsWith("deploy"))
                    .collect(Collectors.toCollection(TreeSet::new));
            distribution.addAll(extras);
            assertEquals(all, distribution);
        }
    }

    @Test
    void theServersGpuIsABackendWhereItsBundleIsInstalled() throws Exception {
        Installation tenon = Installation.copy(folder);
        Path bundle = tenon.home().resolve("bundles/extras").resolve(SERVER_GPU);
        Path jar = Files.move(bundle, folder.resolve(SERVER_GPU));
        String[] run = {"run", "--backend", "nv", "-p", "Once", "-n", "1"};

        Installation.Result without = tenon.tenon(run);
        assertEquals(1, without.code(), without::toString);
        assertTrue(without.err().contains("Backend 'nv' is not installed"), without::toString);

        Installation.Result install = tenon.tenon("bundles", "install", jar.toString());
        assertEquals(0, install.code(), install::toString);
        Installation.Result with = tenon.tenon(run);
        assertEquals(1, with.code(), with::toString);
        assertTrue(with.err().contains("nv.rm=on") || with.err().contains("/dev/nvidiactl"), with::toString);
    }

    @Test
    void theEmulatorsCommandComesAndGoesWithItsBundle() throws Exception {
        Installation tenon = Installation.copy(folder);
        Path extras = tenon.home().resolve("bundles/extras");
        Path emulator = Files.move(extras.resolve(EMULATOR), folder.resolve(EMULATOR));
        Path noStream = Files.writeString(folder.resolve("story.txt"), "Once upon a time there was a file.");
        List<String> dump = List.of("nv", "dump", noStream.toString());

        Installation.Result without = tenon.tenon(dump.toArray(String[]::new));
        assertEquals(2, without.code(), without::toString);

        Installation.Result install = tenon.tenon("bundles", "install", emulator.toString());
        assertEquals(0, install.code(), install::toString);
        Installation.Result with = tenon.tenon(dump.toArray(String[]::new));
        assertEquals(1, with.code(), with::toString);
        assertTrue(with.err().contains("no command stream"), with::toString);
    }

    private static Set<String> jars(Path archive) throws IOException {
        try (ZipFile zip = new ZipFile(archive.toFile())) {
            return zip.stream()
                    .map(Object::toString)
                    .filter(name -> name.endsWith(".jar"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
