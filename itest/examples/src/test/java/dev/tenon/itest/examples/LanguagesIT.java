package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Model;
import dev.tenon.Tenon;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The programs of `docs/java.md` in other languages of the JVM compile, and do what Java does.
@Tag("long")
class LanguagesIT {
    private static final Path MODEL = Path.of("../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf")
            .toAbsolutePath();
    private static final String CLASSES = System.getProperty("java.class.path");

    @TempDir
    Path folder;

    private record Ended(int status, String output) {}

    private Ended run(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                folder + java.io.File.pathSeparator + CLASSES));
        command.addAll(arguments);
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(folder.resolve("errors.txt").toFile())
                .redirectOutput(output.toFile())
                .start();
        int status = process.waitFor();
        return new Ended(status, Files.readString(output) + Files.readString(folder.resolve("errors.txt")));
    }

    private Ended kotlin(Path source) throws IOException, InterruptedException {
        return run(List.of(
                "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                "-no-stdlib",
                "-no-reflect",
                "-jvm-target",
                "25",
                "-cp",
                CLASSES,
                "-d",
                folder.toString(),
                source.toString()));
    }

    /// Writes the page's program of a language, with the embedded model and a seed.
    private Path program(String language, String file) throws IOException {
        Matcher piece = Pattern.compile("```" + language + "\nimport dev.tenon(.*?)\n```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../../docs/java.md")));
        assertTrue(piece.find(), "the page has no program in " + language);
        return Files.writeString(
                folder.resolve(file),
                "import dev.tenon"
                        + piece.group(1)
                                .replace("models/story.gguf", MODEL.toString())
                                .replace(".maxNewTokens(", ".seed(7).maxNewTokens("));
    }

    /// The text as a whole, as a stream and as it comes, then answers.
    private static void assertTellsTheStory(Ended program) {
        String story;
        try (Model model = Tenon.load(MODEL.toString())) {
            story = model.completion("Once upon a time")
                    .seed(7)
                    .maxNewTokens(20)
                    .text();
        }
        assertTrue(program.output().startsWith(story + System.lineSeparator() + story + story), program.output());
        // The small model may write a text without an end where a value has one.
        assertTrue(program.status() == 0 || program.output().contains("[JAVA-002]"), program.output());
    }

    @Test
    void kotlinTellsTheStory() throws Exception {
        Ended compiled = kotlin(program("kotlin", "Story.kt"));
        assertEquals(0, compiled.status(), compiled.output());
        assertTellsTheStory(run(List.of("StoryKt")));
    }

    @Test
    void kotlinRefusesNullWhereItIsNotTaken() throws Exception {
        Path source = Files.writeString(folder.resolve("Wrong.kt"), """
                import dev.tenon.*
                import dev.tenon.api.chat.ChatTurn

                fun load() = Tenon.load(null)
                fun length(turn: ChatTurn) = turn.reasoning().length
                """);
        Ended compiled = kotlin(source);
        assertNotEquals(0, compiled.status());
        assertTrue(compiled.output().contains("Wrong.kt:4:25: error: "), compiled.output());
        assertTrue(compiled.output().contains("Wrong.kt:5:46: error: "), compiled.output());
    }

    @Test
    void groovyTellsTheStory() throws Exception {
        Path script = program("groovy", "story.groovy");
        assertTellsTheStory(run(List.of("groovy.ui.GroovyMain", script.toString())));
    }

    @Test
    void scalaTellsTheStory() throws Exception {
        Path source = program("scala", "Story.scala");
        Ended compiled = run(
                List.of("dotty.tools.dotc.Main", "-classpath", CLASSES, "-d", folder.toString(), source.toString()));
        assertEquals(0, compiled.status(), compiled.output());
        assertTellsTheStory(run(List.of("story")));
    }
}
