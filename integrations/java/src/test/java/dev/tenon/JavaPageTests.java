package dev.tenon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.TenonException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The pieces of Java of `docs/java.md` compile and run, with the embedded model for the one that they load.
class JavaPageTests {
    private static final Path PAGE = Path.of("../../docs/java.md");
    private static final Pattern PIECE = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);
    private static final Path ENCODERS = Path.of("../../itest/golden/src/test/resources/golden/models-more");
    private static final String IMPORTS = """
            import dev.tenon.*;
            import dev.tenon.api.chat.*;
            import java.nio.file.*;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.stream.*;
            """;

    private static Model model;

    @TempDir
    Path folder;

    @BeforeAll
    static void load() {
        model = Story.load();
    }

    @AfterAll
    static void close() {
        model.close();
    }

    private static List<String> pieces() throws IOException {
        Matcher pieces = PIECE.matcher(Files.readString(PAGE));
        return pieces.results().map(piece -> piece.group(1)).toList();
    }

    static Stream<Integer> numbers() throws IOException {
        int count = pieces().size();
        assertTrue(count > 8, count + " pieces");
        return IntStream.range(0, count).boxed();
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void aPieceOfThePageRuns(int number) throws Exception {
        Seeing.picture(folder.resolve("cat.png"), 0x808080);
        Path seeing = Seeing.write(folder.resolve("seeing.gguf"));
        String piece = pieces().get(number)
                .replace("models/story.gguf", text(Story.FILE))
                .replace("models/encoder.gguf", text(ENCODERS.resolve("bert.q8_0.gguf")))
                .replace("models/reranker.gguf", text(ENCODERS.resolve("bert-rerank.q8_0.gguf")))
                .replace("models/seeing.gguf", text(seeing))
                .replace("models/mmproj.gguf", text(Seeing.COMPANION))
                .replace("cat.png", text(folder.resolve("cat.png")))
                .replace("chat.json", text(folder.resolve("chat.json")))
                .replace(".maxNewTokens(", ".seed(7).maxNewTokens(");
        String parameter = piece.contains("Model model =") ? "Model given" : "Model model";
        Path source = Files.writeString(
                folder.resolve("Piece.java"),
                IMPORTS + "public class Piece {\npublic static void run(" + parameter + ") throws Exception {\n" + piece
                        + "\n}\n}\n");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        messages,
                        messages,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        folder.toString(),
                        source.toString());
        assertEquals(0, status, () -> piece + "\n" + messages);
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, Model.class.getClassLoader())) {
            loader.loadClass("Piece").getMethod("run", Model.class).invoke(null, model);
        } catch (InvocationTargetException e) {
            // The small model may write a text without an end where a value has one.
            if (!(e.getCause() instanceof TenonException cut) || !cut.code().equals("JAVA-002")) {
                throw new AssertionError(piece, e.getCause());
            }
        }
    }

    private static String text(Path path) {
        return path.toString().replace("\\", "/");
    }
}
