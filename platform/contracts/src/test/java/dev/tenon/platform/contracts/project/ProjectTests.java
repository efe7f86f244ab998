package dev.tenon.platform.contracts.project;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Names, templates and the local repository of `tenon new`.
class ProjectTests {
    @TempDir
    Path folder;

    private static Map<String, byte[]> archetype(ProjectKind kind) throws Exception {
        Path root = resource("/META-INF/archetypes/" + kind.word() + "/src/main/resources");
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                files.put(root.relativize(path).toString().replace('\\', '/'), Files.readAllBytes(path));
            }
        }
        return files;
    }

    private static Path resource(String name) throws URISyntaxException {
        return Path.of(ProjectTests.class.getResource(name).toURI());
    }

    private static ProjectNames names(ProjectKind kind, String name) {
        return ProjectNames.of(kind, name, "com.example", null, null);
    }

    @ParameterizedTest
    @CsvSource({
        "FORMAT, my-format, com.example.myformat, MyFormat, MY_FORMAT",
        "MODEL, my-model, com.example.mymodel, MyModel, mymodel",
        "MODEL, qwen2, com.example.qwen2, Qwen2, qwen2",
        "ENCODER, my-encoder, com.example.myencoder, MyEncoder, my-encoder",
        "BACKEND, native, com.example.native_, Native, native",
        "BACKEND, my-gpu-2, com.example.mygpu2, MyGpu2, my-gpu-2",
        "TOKENIZER, my-tokenizer, com.example.mytokenizer, MyTokenizer, my-tokenizer",
        "SAMPLER, my-sampler, com.example.mysampler, MySampler, my-sampler",
        "COMMAND, my-command, com.example.mycommand, MyCommand, my-command",
        "ENDPOINT, my-endpoint, com.example.myendpoint, MyEndpoint, my-endpoint"
    })
    void allNamesFollowFromOne(ProjectKind kind, String name, String packageName, String className, String id) {
        ProjectNames names = names(kind, name);
        assertEquals(packageName, names.packageName());
        assertEquals(className, names.className());
        assertEquals(id, names.id());
    }

    @Test
    void theNumberFollowsFromTheIdAndIsBeyondThoseOfGgml() {
        int number = Integer.parseInt(names(ProjectKind.FORMAT, "my-format").number());
        assertEquals(
                String.valueOf(number), names(ProjectKind.FORMAT, "my-format").number());
        assertTrue(number >= 100_000 && number < 1_000_000, "number " + number);
        assertFalse(names(ProjectKind.FORMAT, "your-format").number().equals(String.valueOf(number)));
        assertEquals(
                "34",
                ProjectNames.of(ProjectKind.FORMAT, "tq1", "com.example", "TQ1_0", 34)
                        .number());
    }

    @ParameterizedTest
    @ValueSource(strings = {"My", "1st", "my_format", "my--format", "my-", "my.format", "../my", ""})
    void whatIsNoNameIsRefused(String name) {
        TenonException e = assertThrows(TenonException.class, () -> names(ProjectKind.FORMAT, name));
        assertEquals(ErrorCode.USAGE, e.code());
        assertTrue(e.getMessage().contains("'" + name + "'"), e.getMessage());
    }

    @Test
    void whatIsNoGroupOrKindIsRefused() {
        assertEquals(
                ErrorCode.USAGE,
                assertThrows(
                                TenonException.class,
                                () -> ProjectNames.of(ProjectKind.MODEL, "my", "com.example-x", null, null))
                        .code());
        assertEquals(
                ErrorCode.USAGE,
                assertThrows(TenonException.class, () -> ProjectKind.of("fromat"))
                        .code());
    }

    @ParameterizedTest
    @EnumSource(ProjectKind.class)
    void theTemplateIsFilledIn(ProjectKind kind) throws Exception {
        ProjectTemplate template = new ProjectTemplate(archetype(kind));
        Map<String, String> values = template.values(names(kind, "one-two").properties("1.2.3"));
        Map<String, byte[]> made = template.make(values);
        Set<String> expected = Set.of(
                "pom.xml",
                "README.md",
                "src/main/java/com/example/onetwo/OneTwo.java",
                "src/test/java/com/example/onetwo/OneTwoTests.java");
        assertTrue(made.keySet().containsAll(expected), made.keySet().toString());
        made.forEach((path, content) -> {
            String text = new String(content, StandardCharsets.UTF_8);
            assertFalse(path.contains("__"), path);
            for (String key : values.keySet()) {
                assertFalse(text.contains("${" + key + "}"), path + " holds " + key);
            }
        });
        String pom = new String(made.get("pom.xml"), StandardCharsets.UTF_8);
        assertTrue(pom.contains("<version>1.0.0</version>"), pom);
        assertTrue(pom.contains("<tenon.version>1.2.3</tenon.version>"), pom);
        assertTrue(pom.contains("version=${project.version}"), "Maven's own names stay: " + pom);
    }

    /// Otherwise the archetype plugin would make something else of them.
    @ParameterizedTest
    @EnumSource(ProjectKind.class)
    void theTemplatesHoldNoInstructionOfVelocityButReferences(ProjectKind kind) throws Exception {
        archetype(kind).forEach((path, content) -> {
            String text = new String(content, StandardCharsets.UTF_8);
            assertFalse(
                    text.matches("(?s).*(##|#\\*|#\\[\\[|#(set|if|else|end|foreach|macro|parse|include|define)\\b"
                            + "|\\$!|\\$\\w|\\\\\\$).*"),
                    path);
        });
    }

    @Test
    void aValueThatTheArchetypeRefusesIsNamed() throws Exception {
        ProjectTemplate template = new ProjectTemplate(archetype(ProjectKind.FORMAT));
        TenonException e = assertThrows(TenonException.class, () -> template.values(Map.of("id", "a b")));
        assertEquals(ErrorCode.USAGE, e.code());
        assertTrue(e.getMessage().startsWith("id cannot be 'a b'"), e.getMessage());
    }

    @Test
    void theRepositoryIsTheOneThatMavenUses() throws Exception {
        assertEquals(folder.resolve(".m2/repository"), find(Map.of()));
        Path settings = Files.createDirectories(folder.resolve(".m2")).resolve("settings.xml");
        Files.writeString(settings, "<settings>\n <localRepository> ${user.home}/mine </localRepository>\n</settings>");
        assertEquals(folder.resolve("mine"), find(Map.of()));
        assertEquals(Path.of("/o"), find(Map.of("MAVEN_OPTS", "-Xmx1g -Dmaven.repo.local=/o -ea")));
        assertEquals(
                Path.of("/a"),
                find(Map.of("MAVEN_OPTS", "-Dmaven.repo.local=/o", "MAVEN_ARGS", "-Dmaven.repo.local=/a")));
    }

    private Path find(Map<String, String> environment) {
        return LocalRepository.find(environment, folder).folder();
    }

    @Test
    void whatProjectsAreCompiledAgainstIsInstalledOnce() throws Exception {
        String version = LocalRepository.version();
        Path api = Files.createDirectories(folder.resolve("home/bundles")).resolve("tenon-api-" + version + ".jar");
        Files.writeString(api, "the api");
        Files.writeString(api.resolveSibling("tenon-platform-cli-" + version + ".jar"), "the command line");
        LocalRepository repository = new LocalRepository(folder.resolve("m2"));
        Function<String, Map<String, byte[]>> sources =
                artifact -> Map.of("A.java", ("class of " + artifact).getBytes(StandardCharsets.UTF_8));
        assertTrue(repository.install(folder.resolve("home"), sources));
        assertFalse(repository.install(folder.resolve("home"), sources), "all is there");
        Path ours = folder.resolve("m2/dev/tenon");
        String name = "tenon-api/" + version + "/tenon-api-" + version;
        assertEquals("the api", Files.readString(ours.resolve(name + ".jar")));
        assertTrue(Files.readString(ours.resolve(name + ".pom")).contains("<artifactId>tenon-api</artifactId>"));
        String testkit = "tenon-itest-testkit/" + version + "/tenon-itest-testkit-" + version;
        assertEquals(-1, Files.mismatch(ours.resolve(testkit + ".jar"), resource("/itest-lib/testkit.jar")));
        assertTrue(Files.exists(ours.resolve(testkit + ".pom")));
        String cli = "tenon-platform-cli/" + version + "/tenon-platform-cli-" + version;
        assertEquals("the command line", Files.readString(ours.resolve(cli + ".jar")));
        assertTrue(Files.exists(ours.resolve(cli + ".pom")));
        try (ZipFile zip = new ZipFile(ours.resolve(cli + "-sources.jar").toFile())) {
            String text = new String(zip.getInputStream(zip.getEntry("A.java")).readAllBytes(), StandardCharsets.UTF_8);
            assertEquals("class of tenon-platform-cli", text);
        }
        assertTrue(Files.exists(ours.resolve("tenon-parent/" + version + "/tenon-parent-" + version + ".pom")));
        Files.writeString(api, "a later api");
        assertTrue(repository.install(folder.resolve("home"), sources));
        assertEquals("a later api", Files.readString(ours.resolve(name + ".jar")));
    }
}
