package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.framework.Osgi.Kind;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.Version;

/// The finished bundles in real frameworks: they start, offer their services, come and go.
class BundlesIT {
    static final String FORMAT = "dev.tenon.api.quant.QuantFormat";
    static final String ARCHITECTURE = "dev.tenon.api.model.ModelArchitecture";
    static final String BACKEND = "dev.tenon.api.device.Backend";
    static final String ENGINE = "dev.tenon.api.engine.Engine";
    /// The backends of the distribution.
    static final Set<String> BACKENDS = Set.of("cpu-vector", "cuda", "nv", "nv-tegra");

    /// What the classes of the bundles serve, whatever they say to frameworks and the `ServiceLoader`.
    static final Set<String> ARCHITECTURES = Jars.implementations(ModelArchitecture.class, Jars.models()).stream()
            .map(ModelArchitecture::id)
            .collect(Collectors.toCollection(TreeSet::new));

    static final Set<String> FORMATS =
            Jars.implementations(QuantFormat.class, List.of(Jars.ours("quant-formats"))).stream()
                    .map(QuantFormat::id)
                    .collect(Collectors.toCollection(TreeSet::new));

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Kind.class)
    void allBundlesResolveAndStart(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
            for (Bundle bundle : osgi.startEverything()) {
                String state = Osgi.state(bundle);
                boolean fragment = bundle.getHeaders().get("Fragment-Host") != null;
                assertEquals(fragment ? "RESOLVED" : "ACTIVE", state, bundle.getSymbolicName());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void servicesAreRegisteredWithTheirProperties(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
            osgi.startEverything();
            assertEquals(FORMATS, osgi.properties(FORMAT, "quant.format"));
            assertEquals(ARCHITECTURES, osgi.properties(ARCHITECTURE, "model.architecture"));
            assertEquals(BACKENDS, osgi.properties(BACKEND, "backend.id"));
            assertEquals(1, osgi.references(ENGINE, null).size(), "engines");
            assertEquals(FORMATS.size(), osgi.references(FORMAT, null).size(), "formats, each once");
            assertTrue(
                    !osgi.references("dev.tenon.api.text.TokenizerProvider", null)
                            .isEmpty(),
                    "tokenizers");
            assertTrue(
                    !osgi.references("dev.tenon.api.text.ChatTemplateEngine", null)
                            .isEmpty(),
                    "chat templates");
            assertTrue(
                    !osgi.references("dev.tenon.api.text.SamplerProvider", null).isEmpty(), "samplers");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void servicesAnswerAndTheirPropertyIsTheirId(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
            osgi.startEverything();
            Map<String, String> properties =
                    Map.of(FORMAT, "quant.format", ARCHITECTURE, "model.architecture", BACKEND, "backend.id");
            for (Map.Entry<String, String> entry : properties.entrySet()) {
                for (ServiceReference<?> reference : osgi.references(entry.getKey(), null)) {
                    Object id = reference.getProperty(entry.getValue());
                    Object service = osgi.service(entry.getKey(), "(" + entry.getValue() + "=" + id + ")");
                    assertEquals(id, call(entry.getKey(), service, "id"));
                }
            }
            Object backend = osgi.service(BACKEND, "(backend.id=cpu-vector)");
            Object probe = call(BACKEND, backend, "probe");
            assertEquals(true, call("dev.tenon.api.device.Probe", probe, "available"), probe.toString());
        }
    }

    /// So that it goes with the framework's folder, whoever is killed meanwhile.
    @ParameterizedTest
    @EnumSource(Kind.class)
    void commandsKeepTheirFilesInTheFrameworksFolder(Kind kind) throws Exception {
        Path storage = folder.resolve("cache");
        try (Osgi osgi = new Osgi(kind, storage, false)) {
            osgi.startEverything();
            Class<?> type = osgi.bundle("dev.tenon.platform.cli").loadClass("dev.tenon.platform.cli.WorkFolder");
            Path work = (Path) type.getMethod("path").invoke(null);
            assertTrue(Files.isDirectory(work) && work.startsWith(storage.toAbsolutePath()), work.toString());
        }
    }

    /// Calls a method of an api type that the test's own class path has another copy of.
    private static Object call(String type, Object object, String method) throws ReflectiveOperationException {
        ClassLoader loader = object.getClass().getClassLoader();
        return Class.forName(type, false, loader).getMethod(method).invoke(object);
    }

    private record Piece(Path jar, String type, String property) {
        @Override
        public String toString() {
            return jar.getFileName().toString();
        }
    }

    static Stream<Arguments> pieces() {
        List<Piece> pieces = List.of(
                new Piece(Jars.ours("quant-formats"), FORMAT, "quant.format"),
                new Piece(Jars.models().getFirst(), ARCHITECTURE, "model.architecture"),
                new Piece(Jars.ours("backend-cpu-vector"), BACKEND, "backend.id"));
        return Stream.of(Kind.values()).flatMap(k -> pieces.stream().map(p -> Arguments.of(k, p)));
    }

    @ParameterizedTest
    @MethodSource("pieces")
    void aBundleCanBeStoppedUpdatedUninstalledAndInstalledAgain(Kind kind, Piece piece) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
            osgi.startEverything();
            Set<String> all = osgi.properties(piece.type(), piece.property());
            Bundle bundle = osgi.bundle(Jars.attributes(piece.jar()).getValue("Bundle-SymbolicName"));
            Set<String> own = new TreeSet<>();
            for (ServiceReference<?> reference : osgi.references(piece.type(), null)) {
                if (reference.getBundle().equals(bundle)) {
                    own.add((String) reference.getProperty(piece.property()));
                }
            }
            assertNotEquals(Set.of(), own, "services of " + piece);
            Set<String> others = new TreeSet<>(all);
            others.removeAll(own);

            bundle.stop();
            assertEquals(others, osgi.properties(piece.type(), piece.property()), "after stop");
            assertEquals(1, osgi.references(ENGINE, null).size(), "the engine outlives the bundle");

            bundle.start();
            Osgi.await(
                    "services are back after start", () -> all.equals(osgi.properties(piece.type(), piece.property())));

            Path next = Jars.patched(piece.jar(), folder.resolve("next.jar"), Map.of("Bundle-Version", "0.2.0"));
            try (InputStream in = Files.newInputStream(next)) {
                bundle.update(in);
            }
            assertEquals(new Version(0, 2, 0), bundle.getVersion());
            assertEquals("ACTIVE", Osgi.state(bundle), "after update");
            Osgi.await(
                    "services are back after update",
                    () -> all.equals(osgi.properties(piece.type(), piece.property())));

            bundle.uninstall();
            assertEquals(others, osgi.properties(piece.type(), piece.property()), "after uninstall");
            assertEquals("UNINSTALLED", Osgi.state(bundle));

            osgi.install(piece.jar()).start();
            Osgi.await(
                    "services are back after install",
                    () -> all.equals(osgi.properties(piece.type(), piece.property())));
            for (Bundle each : osgi.bundles()) {
                boolean fragment = each.getHeaders().get("Fragment-Host") != null;
                assertTrue(fragment || each.getState() == Bundle.ACTIVE, each + " is " + Osgi.state(each));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theFrameworkStopsAndStartsAgainWithThem(Kind kind) throws Exception {
        for (int round = 0; round < 2; round++) {
            try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
                osgi.startEverything();
                assertEquals(FORMATS, osgi.properties(FORMAT, "quant.format"), "round " + round);
            }
        }
    }
}
