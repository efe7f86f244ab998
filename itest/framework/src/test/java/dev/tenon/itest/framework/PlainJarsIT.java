package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.media.encoder.MediaEncoder;
import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// The same jars without any framework: on the plain class path, and as named modules.
class PlainJarsIT {
    /// The command line's library fills private fields of command classes.
    private static final Set<String> OPEN = Set.of(
            "dev.tenon.platform.contracts",
            "dev.tenon.itest.nv.tegra",
            "dev.tenon.backend.nv.rm",
            "dev.tenon.platform.cli",
            "dev.tenon.platform.bundles",
            "dev.tenon.platform.tools",
            "dev.tenon.platform.bench",
            "dev.tenon.platform.serve");

    /// Starts a framework, so it needs the framework's api.
    private static final String LAUNCHER = "dev.tenon.platform.launcher";

    private static final String SEPARATOR = File.pathSeparator;

    @Test
    void onTheClassPathTheServiceLoaderFindsEverything() throws Exception {
        ChildJvm.Result result = ChildJvm.run(
                ChildJvm.testClasses() + SEPARATOR + path(Jars.ours()) + SEPARATOR + path(Jars.libraries()),
                List.of("--add-modules", "jdk.incubator.vector"),
                ListServices.class.getName());
        assertEquals(0, result.exitStatus(), result.output());
        findsEverything(result, BundlesIT.BACKENDS);
        assertEquals(Set.of("null"), Set.copyOf(result.lines("backend-module")), result.output());
        assertEquals(List.of(), result.lines("module"), result.output());
    }

    @Test
    void onTheClassPathWithoutTheVectorModuleTheRestIsStillFound() throws Exception {
        List<String> jars = new ArrayList<>();
        jars.add(ChildJvm.testClasses().toString());
        Stream.of("api", "quant-formats", "models-llama", "models-qwen3")
                .forEach(name -> jars.add(Jars.ours(name).toString()));
        ChildJvm.Result result = ChildJvm.run(String.join(SEPARATOR, jars), List.of(), ListServices.class.getName());
        assertEquals(0, result.exitStatus(), result.output());
        assertEquals(BundlesIT.FORMATS, new TreeSet<>(result.lines("format")), result.output());
        assertTrue(result.lines("architecture").containsAll(List.of("llama", "qwen3")), result.output());
        assertEquals(List.of(), result.lines("backend"), result.output());
    }

    @Test
    void asModulesTheServiceLoaderFindsEverything() throws Exception {
        List<String> names =
                Jars.ours().stream().map(jar -> descriptor(jar).name()).sorted().toList();
        ChildJvm.Result result = modules(path(Jars.ours()) + SEPARATOR + path(Jars.libraries()), names);
        findsEverything(result, BundlesIT.BACKENDS);
        assertEquals(
                Set.of(
                        "dev.tenon.backend.cpu.vector",
                        "dev.tenon.backend.cuda",
                        "dev.tenon.backend.nv.rm",
                        "dev.tenon.backend.nv.tegra"),
                new TreeSet<>(result.lines("backend-module")),
                result.output());
        assertEquals(names, result.lines("module"), result.output());
    }

    @Test
    void askingForTheEngineAloneBringsTheProvidersIn() throws Exception {
        List<Path> embedded = Stream.of("api", "quant-formats", "backend-cpu-vector", "platform-core")
                .map(Jars::ours)
                .collect(Collectors.toCollection(ArrayList::new));
        embedded.addAll(Jars.models());
        int ours = embedded.size();
        Jars.libraries().stream()
                .filter(jar -> jar.getFileName().toString().startsWith("slf4j-api"))
                .forEach(embedded::add);
        ChildJvm.Result result = modules(path(embedded), List.of("dev.tenon.platform.core"));
        findsEverything(result, Set.of("cpu-vector"));
        assertEquals(ours, result.lines("module").size(), result.output());
    }

    /// Runs with a module path and without `--add-modules jdk.incubator.vector`: the backend's
    /// module asks for it.
    private static ChildJvm.Result modules(String modulePath, List<String> roots) throws Exception {
        ChildJvm.Result result = ChildJvm.java(List.of(
                "-p",
                modulePath,
                "--add-modules",
                String.join(",", roots),
                "-cp",
                ChildJvm.testClasses().toString(),
                ListServices.class.getName()));
        assertEquals(0, result.exitStatus(), result.output());
        return result;
    }

    @Test
    void inTheSingleJarEverythingIsFound() throws Exception {
        ChildJvm.Result result = ChildJvm.run(
                ChildJvm.testClasses() + SEPARATOR + Jars.single(),
                List.of("--add-modules", "jdk.incubator.vector"),
                ListServices.class.getName());
        assertEquals(0, result.exitStatus(), result.output());
        findsEverything(result, Set.of("cpu-vector"));
        try (JarFile single = new JarFile(Jars.single().toFile())) {
            assertTrue(single.isMultiRelease(), "libraries in it have classes for several versions of Java");
            assertEquals(
                    providers(List.of(Jars.single())),
                    providers(Jars.ours()).stream()
                            .filter(line ->
                                    single.getEntry(line.replaceFirst(".* ", "").replace('.', '/') + ".class") != null)
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
    }

    @Test
    void theSingleJarRunsAFile() throws Exception {
        ChildJvm.Result result = ChildJvm.java(List.of(
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                Jars.single().toString(),
                "../../examples/Hello.java",
                Jars.model().toString()));
        assertEquals(0, result.exitStatus(), result.output());
        int written = result.output()
                .lines()
                .filter(line -> !line.startsWith("WARNING") && !line.startsWith("SLF4J"))
                .mapToInt(String::length)
                .sum();
        assertTrue(written > 100, result.output()); // a story of 50 tokens, perhaps in several paragraphs
    }

    /// {@return what files of services of ours in jars name: service and provider}
    private static Set<String> providers(List<Path> jars) throws IOException {
        Set<String> lines = new TreeSet<>();
        for (Path jar : jars) {
            try (JarFile file = new JarFile(jar.toFile())) {
                for (JarEntry entry : file.stream().toList()) {
                    if (entry.getName().startsWith("META-INF/services/dev.tenon.")) {
                        new String(file.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8)
                                .lines()
                                .filter(line -> line.matches("[a-z].*"))
                                .forEach(line -> lines.add(entry.getName() + " " + line));
                    }
                }
            }
        }
        return lines;
    }

    private static void findsEverything(ChildJvm.Result result, Set<String> backends) {
        assertEquals(BundlesIT.FORMATS, new TreeSet<>(result.lines("format")), result.output());
        assertEquals(BundlesIT.FORMATS.size(), result.lines("format").size(), "each format once");
        assertEquals(BundlesIT.ARCHITECTURES, new TreeSet<>(result.lines("architecture")), result.output());
        assertEquals(backends, new TreeSet<>(result.lines("backend")), result.output());
        assertEquals(backends.size(), result.lines("backend").size(), "each backend once");
        // The CPU backend works everywhere; others depend on the machine.
        assertTrue(result.lines("probe").contains("true"), result.output());
    }

    private static String path(List<Path> jars) {
        return jars.stream().map(Path::toString).collect(Collectors.joining(SEPARATOR));
    }

    // --- module descriptors

    @TestFactory
    Stream<DynamicTest> everyJarIsANamedModuleOfOurs() {
        return allOurs()
                .map(jar -> DynamicTest.dynamicTest(jar.getFileName().toString(), () -> {
                    ModuleDescriptor module = descriptor(jar);
                    assertFalse(module.isAutomatic(), jar + " has no module-info");
                    assertEquals(
                            OPEN.contains(module.name()), module.isOpen(), jar + " is an open module, or should be");
                    assertTrue(module.name().matches("dev\\.tenon(\\..*)?"), module.name());
                    String symbolicName = Jars.attributes(jar).getValue("Bundle-SymbolicName");
                    assertEquals(symbolicName, module.name(), "module and bundle have one name");
                    for (ModuleDescriptor.Requires requires : module.requires()) {
                        boolean annotations = requires.name().matches("(org\\.osgi|osgi|biz\\.aQute|aQute).*");
                        boolean optional = requires.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC);
                        assertTrue(
                                !annotations || optional || module.name().equals(LAUNCHER),
                                jar + " needs " + requires + " at run time");
                    }
                }));
    }

    /// The descriptors are part of what others build on: a change shows up here, on purpose.
    @TestFactory
    Stream<DynamicTest> everyDescriptorIsAsExpected() throws Exception {
        List<String> expected;
        try (var in = PlainJarsIT.class.getResourceAsStream("/modules.txt")) {
            expected = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        }
        List<String> actual = allOurs()
                .filter(jar -> !Jars.models().contains(jar))
                .flatMap(jar -> describe(descriptor(jar)).stream())
                .toList();
        Files.writeString(Path.of("target", "modules.txt"), String.join("\n", actual) + "\n");
        Set<String> modules = new TreeSet<>();
        Stream.concat(expected.stream(), actual.stream()).forEach(line -> modules.add(line.split(" ")[0]));
        return modules.stream()
                .map(
                        module -> DynamicTest.dynamicTest(
                                module,
                                () -> assertEquals(
                                        ofModule(expected, module),
                                        ofModule(actual, module),
                                        "if the change is wanted, copy it from target/modules.txt to src/test/resources/modules.txt")));
    }

    @TestFactory
    Stream<DynamicTest> aFamilyOfModelsNeedsTheApiAndProvidesArchitecturesAndTheirEncoders() {
        return Jars.models().stream()
                .map(jar -> DynamicTest.dynamicTest(jar.getFileName().toString(), () -> {
                    ModuleDescriptor module = descriptor(jar);
                    List<String> others = describe(module).stream()
                            .map(line -> line.replaceFirst(" with .*", ""))
                            .filter(line -> !line.equals(module.name() + " provides " + MediaEncoder.class.getName()))
                            .distinct()
                            .toList();
                    assertEquals(
                            List.of(
                                    module.name() + " provides " + BundlesIT.ARCHITECTURE,
                                    module.name() + " requires dev.tenon.api"),
                            others);
                }));
    }

    private static String ofModule(List<String> lines, String module) {
        return lines.stream().filter(l -> l.startsWith(module + " ")).sorted().collect(Collectors.joining("\n"));
    }

    private static List<String> describe(ModuleDescriptor module) {
        List<String> lines = new ArrayList<>();
        module.exports().forEach(e -> lines.add(module.name() + " exports " + e.source()));
        module.requires().stream()
                .filter(r -> !r.name().equals("java.base"))
                .forEach(r -> lines.add(module.name() + " requires "
                        + r.modifiers().stream()
                                .map(m -> m.name().toLowerCase(java.util.Locale.ROOT) + " ")
                                .sorted()
                                .collect(Collectors.joining())
                        + r.name()));
        module.uses().forEach(u -> lines.add(module.name() + " uses " + u));
        module.provides()
                .forEach(p -> p.providers()
                        .forEach(provider ->
                                lines.add(module.name() + " provides " + p.service() + " with " + provider)));
        lines.sort(null);
        return lines;
    }

    private static Stream<Path> allOurs() {
        return Stream.of(Jars.oursAndLauncher(), Jars.published()).flatMap(List::stream);
    }

    private static ModuleDescriptor descriptor(Path jar) {
        Set<ModuleReference> all = ModuleFinder.of(jar).findAll();
        assertEquals(1, all.size(), jar.toString());
        return all.iterator().next().descriptor();
    }
}
