package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The page `docs/embedding.md` works as it stands: its files are written, its commands run, in an empty folder
/// that has the distribution and a model.
class EmbeddingPageIT {
    private static final Pattern FILE = Pattern.compile("<!-- file: (\\S+) -->\n```java\n(.*?\n)```\n", Pattern.DOTALL);
    private static final Pattern COMMANDS = Pattern.compile("(?<!-->\n)```sh\n(.*?\n)```\n", Pattern.DOTALL);
    private static final Pattern FRAGMENT = Pattern.compile("(?<!-->\n)```java\n(.*?\n)```\n", Pattern.DOTALL);

    private static final Map<String, Path> LINKS = Map.of(
            "tenon-0.1.0", Jars.distribution(),
            "model.gguf", Jars.model(),
            "my-kernels.jar", Jars.ours("backend-cpu-vector"));

    @TempDir
    Path folder;

    private String page;

    @BeforeEach
    void emptyFolderWithTheDistribution() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "the page's commands are for bash, which is not here");
        page = Files.readString(Path.of("../../docs/embedding.md"));
        for (Map.Entry<String, Path> link : LINKS.entrySet()) {
            Files.createSymbolicLink(folder.resolve(link.getKey()), link.getValue());
        }
        for (MatchResult file : found(FILE)) {
            Path target = folder.resolve(file.group(1));
            Files.createDirectories(target.getParent());
            Files.writeString(target, file.group(2));
        }
        run("tenon-{api");
    }

    @AfterEach
    void unlink() throws IOException {
        for (String link : LINKS.keySet()) {
            Files.deleteIfExists(folder.resolve(link));
        }
    }

    private List<MatchResult> found(Pattern pattern) {
        return pattern.matcher(page).results().toList();
    }

    /// Runs the only block of commands that contains a text.
    ///
    /// @return what it printed, but for what the JVM and SLF4J print at each start
    private String run(String part) throws IOException {
        List<String> blocks = found(COMMANDS).stream()
                .map(block -> block.group(1))
                .filter(block -> block.contains(part))
                .toList();
        assertEquals(1, blocks.size(), "blocks with " + part);
        ProcessBuilder builder = new ProcessBuilder("/bin/bash", "-e", "-c", blocks.getFirst())
                .directory(folder.toFile())
                .redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("TENON_"));
        builder.environment()
                .merge("PATH", System.getProperty("java.home") + "/bin", (old, bin) -> bin + File.pathSeparator + old);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        try {
            assertEquals(0, process.waitFor(), () -> blocks.getFirst() + output);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(blocks.getFirst(), e);
        }
        return output.lines()
                .filter(line -> !line.startsWith("SLF4J(W)") && !line.contains("Using incubator modules"))
                .collect(Collectors.joining("\n"));
    }

    private static void tellsAStory(String output) {
        assertTrue(output.length() > 100, output);
        assertTrue(!output.contains("WARNING") && !output.contains("Exception"), output);
    }

    @Test
    void onTheClassPath() throws IOException {
        tellsAStory(run("-cp \"jars/*:classes\""));
    }

    @Test
    void withAStartUpCache() throws IOException {
        run("-cp \"jars/*:classes\"");
        String output = run("-XX:AOTCache=story.aot");
        tellsAStory(output);
        // After the run that records, the JVM has nothing to say about the cache.
        String afterRecording = output.substring(output.indexOf("Removed temporary AOT configuration file"));
        tellsAStory(afterRecording);
        assertTrue(!afterRecording.contains("][aot"), output);
    }

    @Test
    void asAModule() throws IOException {
        tellsAStory(run("-p jars:modules"));
    }

    @Test
    void theJarsAreThoseOfTheDependency() throws IOException {
        try (Stream<Path> jars = Files.list(folder.resolve("jars"))) {
            Set<String> names = jars.map(jar -> jar.getFileName().toString().replaceFirst("-[0-9.]+jar", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> expected = new TreeSet<>(Set.of( // tenon-platform-core and tenon-platform-chat bring these
                    "slf4j-api",
                    "tenon-api",
                    "tenon-platform-media",
                    "jackson-annotations",
                    "jackson-core",
                    "jackson-databind"));
            expected.addAll(dependencies("integrations/java"));
            assertTrue(expected.remove("tenon-models"));
            expected.addAll(dependencies("models/all"));
            assertEquals(expected, names);
        }
    }

    private static List<String> dependencies(String module) throws IOException {
        return Pom.read(Path.of("../..", module, "pom.xml")).all("dependencies/dependency").stream()
                .filter(dependency -> !dependency.text("scope").equals("test"))
                .map(dependency -> dependency.text("artifactId"))
                .filter(artifact -> artifact.startsWith("tenon-"))
                .toList();
    }

    @Test
    void optionsOfKernelsArePrinted() throws IOException {
        run("KernelOptions");
        assertTrue(Files.readString(folder.resolve("my.options")).contains("-XX:CompileCommand=inline,dev.tenon."));
    }

    /// What an embedding program and the launcher tell the JVM of Tenon's code is the same.
    @Test
    void kernelsAreCompiledAsInTheLauncher() throws IOException {
        Path lib = Jars.distribution().resolve("lib");
        assertEquals(ofTenon(lib.resolve("launcher.options")), ofTenon(lib.resolve("tenon.options")));
    }

    private static List<String> ofTenon(Path options) throws IOException {
        List<String> own = Files.readAllLines(options).stream()
                .filter(line -> line.startsWith("-XX:CompileCommand=") && line.contains(",dev.tenon."))
                .toList();
        assertTrue(own.size() > 10, own.toString());
        return own;
    }

    @Test
    void theRuntimeHasTheModulesThatTheScriptAsksFor() throws IOException {
        Matcher modules = Pattern.compile("tenon_modules=\"([^\"]*)\"")
                .matcher(Files.readString(Jars.distribution().resolve("bin/find-java.sh")));
        assertTrue(modules.find());
        assertTrue(page.contains("jlink --add-modules " + modules.group(1).replace(' ', ',') + " "), modules.group(1));
    }

    @Test
    void fragmentsCompile() throws IOException {
        List<MatchResult> fragments = found(FRAGMENT);
        assertEquals(5, fragments.size());
        StringBuilder methods = new StringBuilder();
        for (int i = 0; i < fragments.size(); i++) {
            methods.append("void run" + i + "() {\n")
                    .append(fragments.get(i).group(1))
                    .append("}\n");
        }
        Path file = folder.resolve("Fragment.java");
        Files.writeString(
                file,
                "import dev.tenon.api.chat.*;\nimport dev.tenon.api.engine.*;\nimport dev.tenon.api.text.*;\n"
                        + "import dev.tenon.platform.chat.*;\nimport java.time.*;\n"
                        + "import dev.tenon.platform.core.*;\nimport java.nio.file.*;\nimport java.util.*;\n"
                        + "class Fragment {\nStandaloneEngine engine;\nLoadedModel model;\nSession session;\nPath file;\n"
                        + methods + "}\n");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        messages,
                        messages,
                        "-cp",
                        classPath(null),
                        "-d",
                        folder.resolve("fragments").toString(),
                        file.toString());
        assertEquals(0, status, messages::toString);
    }

    @Test
    void bundlesComeAndGoWhileItRuns() throws Exception {
        Path qwen3 = Jars.ours("models-qwen3");
        Path next = Jars.patched(qwen3, folder.resolve("next.jar"), Map.of("Bundle-Version", "9.9.9"));
        ChildJvm.Result result = ChildJvm.run(
                ChildJvm.testClasses() + File.pathSeparator + classPath(qwen3.getFileName()),
                List.of("@" + Jars.distribution().resolve("lib/tenon.options")),
                InstallingProgram.class.getName(),
                Jars.model().toString(),
                qwen3.toString(),
                next.toString());
        assertEquals(0, result.exitStatus(), result.output());
        assertEquals(
                List.of("without it: MODEL-003", "a second one: CFG-002", "removed: BACKEND-004", "again: 5 tokens"),
                result.lines("program"),
                result.output());
        assertEquals(3, result.lines("text").size(), result.output());
        assertEquals(1, Set.copyOf(result.lines("text")).size(), result.output());
        assertTrue(result.lines("moved").getFirst().contains(qwen3.getFileName() + " was replaced by next.jar"));
    }

    private String classPath(Path without) throws IOException {
        try (Stream<Path> jars = Files.list(folder.resolve("jars"))) {
            return jars.filter(jar -> !jar.getFileName().equals(without))
                    .map(Path::toString)
                    .collect(Collectors.joining(File.pathSeparator));
        }
    }
}
