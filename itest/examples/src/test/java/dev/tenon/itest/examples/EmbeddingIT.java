package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The Spring Boot program of `docs/embedding.md`, as one jar with jars in it: built with the page's dependency and
/// class, started with the page's command. Takes Spring Boot from Maven Central, or from the local repository.
class EmbeddingIT {
    private static final Path DISTRIBUTION = Path.of(System.getProperty("tenon.distribution"));

    /// What `spring-boot-starter` and our jars bring of others.
    private static final Pattern LIBRARIES =
            Pattern.compile("(spring|jackson|slf4j-api|jul-to-slf4j|logback|log4j|micrometer"
                    + "|jspecify|snakeyaml|jakarta\\.annotation|commons-logging).*");

    @TempDir
    Path folder;

    private static String block(String page, String marker) {
        Matcher block = Pattern.compile("<!-- " + marker + " -->\n```\\w+\n(.*?\n)```\n", Pattern.DOTALL)
                .matcher(page);
        assertTrue(block.find(), "the page has no block after " + marker);
        return block.group(1);
    }

    /// {@return the artifacts of ours that a module needs, but for its tests}
    private static List<String> dependencies(String module) throws IOException {
        return Pattern.compile("<artifactId>(tenon-[^<]*)</artifactId>(?!\\s*<scope>test)")
                .matcher(
                        Files.readString(Path.of("../..", module, "pom.xml")).replaceFirst("(?s).*?<dependencies>", ""))
                .results()
                .map(dependency -> dependency.group(1))
                .toList();
    }

    private record Ended(int status, String output) {}

    private Ended run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("TENON_") || name.startsWith("MAVEN_"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().merge("PATH", System.getProperty("java.home") + "/bin", (old, bin) -> bin + ":" + old);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        return new Ended(process.waitFor(), output);
    }

    /// @param version of Spring Boot
    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.0"})
    void theJarOfSpringBootTellsAStory(String version) throws Exception {
        String page = Files.readString(Path.of("../../docs/embedding.md"));
        String main = "src/main/java/com/example/boot/StoryApplication.java";
        Files.createDirectories(folder.resolve(main).getParent());
        Files.writeString(folder.resolve(main), block(page, "file: " + main));
        Files.writeString(
                folder.resolve("pom.xml"),
                Files.readString(Path.of("src/it/embedding/pom.xml"))
                        .replace("@version.of.spring.boot@", version)
                        .replace("<!-- dependency of docs/embedding.md -->", block(page, "maven")));
        build();
        Path jar = folder.resolve("target/story-1.0.jar");
        List<String> nested = new ArrayList<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            file.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.matches("BOOT-INF/lib/.*\\.jar"))
                    .map(name -> name.replaceFirst(".*/", "").replaceFirst("-[0-9.]+jar", ""))
                    .forEach(nested::add);
        }
        Set<String> ours = new TreeSet<>(Set.of("tenon"));
        ours.addAll(dependencies("integrations/java"));
        ours.remove("tenon-models"); // a pom, of whose families each is a jar
        ours.addAll(dependencies("models/all"));
        assertEquals(
                ours,
                nested.stream()
                        .filter(name -> !LIBRARIES.matcher(name).matches())
                        .collect(Collectors.toCollection(TreeSet::new)));
        assertEquals(nested.size(), new HashSet<>(nested).size(), "each once: " + nested);

        Files.createSymbolicLink(folder.resolve("tenon-0.1.0"), DISTRIBUTION);
        Files.createSymbolicLink(folder.resolve("model.gguf"), DISTRIBUTION.resolve("models/story-qwen3-q4_k_m.gguf"));
        try {
            Ended story = run(List.of("/bin/sh", "-e", "-c", block(page, "boot")));
            assertEquals(0, story.status(), story.output());
            assertTrue(
                    story.output()
                                    .replaceFirst("(?s).*Started StoryApplication[^\n]*\n", "")
                                    .length()
                            > 100,
                    story.output());
            assertTrue(!story.output().replace("WARNING: Using incubator", "").contains("WARN"), story.output());
        } finally {
            Files.delete(folder.resolve("tenon-0.1.0")); // not to be followed when the folder is deleted
            Files.delete(folder.resolve("model.gguf"));
        }
    }

    private void build() throws Exception {
        Path settings = Files.writeString(
                folder.resolve("settings.xml"),
                Files.readString(Path.of("src/it/settings.xml"))
                        .replace(
                                "@localRepositoryUrl@",
                                Path.of(System.getProperty("tenon.repository.around"))
                                        .toUri()
                                        .toString()));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("tenon.maven"), "bin/mvn").toString(),
                "-B",
                "-ntp",
                "-q",
                "-s",
                settings.toString(),
                "-Dmaven.repo.local=" + System.getProperty("tenon.repository")));
        if (System.getProperty("tenon.offline").endsWith("true")) {
            command.addAll(List.of("-o", "-Daether.offline.protocols=file"));
        }
        command.add("package");
        Ended built = run(command);
        String missing = built.output()
                .lines()
                .filter(line -> line.matches(".*(Cannot access|Could not transfer|Could not find).*"))
                .findFirst()
                .orElse("");
        assumeTrue(
                missing.isEmpty() || missing.contains("dev.tenon:"),
                () -> "Spring Boot is neither in the local repository nor to be had from Maven Central: " + missing);
        assertEquals(0, built.status(), built.output());
    }
}
