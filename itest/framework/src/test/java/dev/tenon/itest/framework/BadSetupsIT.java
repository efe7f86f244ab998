package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.framework.Osgi.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;

/// Wrong set-ups fail readably, and only where they are wrong.
class BadSetupsIT {
    /// What the bundle of llama models serves.
    private static final Set<String> LLAMA =
            Jars.implementations(ModelArchitecture.class, List.of(Jars.ours("models-llama"))).stream()
                    .map(ModelArchitecture::id)
                    .collect(Collectors.toSet());

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Kind.class)
    void withoutTheVectorModuleOnlyTheCpuBackendStaysOut(Kind kind) throws Exception {
        ChildJvm.Result result = ChildJvm.run(
                ChildJvm.testClassPath(),
                List.of(
                        "-Dtenon.distribution=" + System.getProperty("tenon.distribution"),
                        "-Dtenon.jars=" + System.getProperty("tenon.jars"),
                        "--sun-misc-unsafe-memory-access=allow"),
                WithoutVectorModule.class.getName(),
                kind.name(),
                folder.resolve("cache").toString());
        assertEquals(0, result.exitStatus(), result.output());
        assertTrue(result.output().contains("dev.tenon.backend.cpu.vector INSTALLED"), result.output());
        assertTrue(result.output().contains("jdk.incubator.vector"), result.output());
        for (String bundle : new String[] {
            "dev.tenon.api",
            "dev.tenon.quant.formats",
            "dev.tenon.models.llama",
            "dev.tenon.models.qwen3",
            "dev.tenon.platform.core"
        }) {
            assertTrue(result.output().contains(bundle + " ACTIVE"), bundle + " in " + result.output());
        }
        assertTrue(result.output().contains("formats=" + BundlesIT.FORMATS.size()), result.output());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void anApiVersionOutOfRangeIsNamedByTheResolver(Kind kind) throws Exception {
        for (String range : new String[] {"[9,10)", "[0.1,0.2)"}) {
            String imports = Jars.attributes(Jars.ours("quant-formats")).getValue("Import-Package");
            String patched =
                    imports.replaceAll("(dev\\.tenon\\.api\\.quant;version=)\"[^\"]*\"", "$1\"" + range + "\"");
            assertTrue(!patched.equals(imports), "nothing to patch in " + imports);
            Path jar = Jars.patched(
                    Jars.ours("quant-formats"), folder.resolve("old.jar"), Map.of("Import-Package", patched));
            try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
                osgi.start(List.of(Jars.ours("api"), Jars.ours("models-llama")));
                Bundle bundle = osgi.install(jar);
                BundleException e = assertThrows(BundleException.class, bundle::start);
                assertTrue(e.getMessage().contains("dev.tenon.api.quant"), e.getMessage());
                assertEquals("INSTALLED", Osgi.state(bundle));
                assertEquals("ACTIVE", Osgi.state(osgi.bundle("dev.tenon.models.llama")));
                assertEquals(LLAMA, osgi.properties(BundlesIT.ARCHITECTURE, "model.architecture"));
                assertEquals(Set.of(), osgi.properties(BundlesIT.FORMAT, "quant.format"));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aTruncatedJarIsRefusedAndTheOthersRun(Kind kind) throws Exception {
        byte[] whole = Files.readAllBytes(Jars.ours("quant-formats"));
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
            osgi.start(List.of(Jars.ours("api"), Jars.ours("models-llama")));
            int before = osgi.bundles().size();
            for (int length : new int[] {0, 10, whole.length / 2, whole.length - 30}) {
                Path jar = folder.resolve("short-" + length + ".jar");
                Files.write(jar, Arrays.copyOf(whole, length));
                assertThrows(BundleException.class, () -> osgi.install(jar).start(), length + " bytes");
            }
            assertEquals(LLAMA, osgi.properties(BundlesIT.ARCHITECTURE, "model.architecture"));
            assertEquals(Set.of(), osgi.properties(BundlesIT.FORMAT, "quant.format"));
            osgi.install(Jars.ours("quant-formats")).start();
            Osgi.await(
                    "the whole jar works",
                    () -> BundlesIT.FORMATS.equals(osgi.properties(BundlesIT.FORMAT, "quant.format")));
            assertTrue(osgi.bundles().size() >= before + 1, "bundles");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aTruncatedUpdateLeavesTheOldBundleUsable(Kind kind) throws Exception {
        byte[] whole = Files.readAllBytes(Jars.ours("models-llama"));
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), false)) {
            osgi.start(List.of(Jars.ours("api"), Jars.ours("models-llama")));
            Bundle bundle = osgi.bundle("dev.tenon.models.llama");
            byte[] half = Arrays.copyOf(whole, whole.length / 2);
            assertThrows(BundleException.class, () -> bundle.update(new java.io.ByteArrayInputStream(half)));
            bundle.start();
            Osgi.await(
                    "the old bundle offers its service",
                    () -> LLAMA.equals(osgi.properties(BundlesIT.ARCHITECTURE, "model.architecture")));
        }
    }

    static Stream<Arguments> duplicates() {
        return Stream.of(Kind.values())
                .flatMap(kind -> Stream.of("quant-formats", "models-llama", "backend-cpu-vector")
                        .map(jar -> Arguments.of(kind, jar)));
    }

    @ParameterizedTest
    @MethodSource("duplicates")
    void theSecondOfTwoBundlesWithOneIdIsReportedAndHindersNobody(Kind kind, String jar) throws Exception {
        Path model = TinyModels.write("llama", folder.resolve("tiny.gguf"));
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.startEverything();
            Engine engine = osgi.service(Engine.class);
            try (LoadedModel loaded = engine.load(LoadRequest.of(model))) {
                assertEquals("cpu-vector", loaded.backend());
                assertEquals(TinyModels.VOCAB, loaded.config().vocabularySize());
            }
            String name = Jars.attributes(Jars.ours(jar)).getValue("Bundle-SymbolicName");
            Path copy = Jars.patched(
                    Jars.ours(jar), folder.resolve("copy.jar"), Map.of("Bundle-SymbolicName", name + ".copy"));
            Bundle second = osgi.install(copy);
            second.start();
            assertEquals("ACTIVE", Osgi.state(second));

            String title = name + ".copy " + second.getVersion();
            Manager manager = new Manager(osgi);
            String lines = manager.takenIds().toString();
            assertTrue(lines.startsWith("[" + title + " is not used in full: "), lines);
            assertTrue(lines.contains(" is offered by " + name + " " + second.getVersion() + " already"), lines);
            try (LoadedModel loaded = engine.load(LoadRequest.of(model))) {
                assertEquals("cpu-vector", loaded.backend(), "beside the copy");
            }
            Bundle first = osgi.bundle(name);
            first.stop();
            assertEquals(List.of(), manager.takenIds());
            try (LoadedModel loaded = engine.load(LoadRequest.of(model))) {
                assertEquals("cpu-vector", loaded.backend(), "with the copy alone");
            }
            first.start();
            assertEquals(1, manager.takenIds().size(), "who comes later waits");
            second.uninstall();
            try (LoadedModel loaded = engine.load(LoadRequest.of(model))) {
                assertEquals("cpu-vector", loaded.backend(), "after the copy is gone");
            }
        }
    }
}
