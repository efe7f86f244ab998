package dev.tenon.platform.cli.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Pictures on the command line of `encode` and `logits`, and which encoder is loaded.
class MediaCommandTests {
    @TempDir
    Path folder;

    private TestCli cli;
    private Path picture;
    private Path small;
    private Path out;

    @BeforeEach
    void setUp() throws IOException {
        cli = new TestCli(folder);
        picture = picture(folder.resolve("fox.png"), 3, 2);
        small = picture(folder.resolve("small.png"), 1, 2);
        out = folder.resolve("out");
    }

    /// A picture whose pixels count from 0 in red, and from 100 in blue.
    private static Path picture(Path file, int width, int height) throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < width * height; i++) {
            image.setRGB(i % width, i / width, i << 16 | 100 + i);
        }
        assertTrue(ImageIO.write(image, "png", file.toFile()));
        return file;
    }

    private static float[] floats(Path file) throws IOException {
        FloatBuffer floats = ByteBuffer.wrap(Files.readAllBytes(file))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();
        float[] values = new float[floats.remaining()];
        floats.get(values);
        return values;
    }

    private TestCli.Result run(String... args) {
        return cli.run(args);
    }

    @Test
    void rowsAndPixelsAreWrittenInTheOrderOfTheCommandLine() throws IOException {
        Path pixels = folder.resolve("pixels.u8");
        TestCli.Result result = run(
                "encode",
                "--mmproj",
                "eyes.gguf",
                "--image",
                "" + small,
                "--image",
                "" + picture,
                "--pixels",
                "" + pixels,
                "-o",
                "" + out);
        assertEquals(0, result.status(), result.err());
        assertArrayEquals(new float[] {0, 2, 0, 2, 1, 2, 2, 2}, floats(out));
        byte[] samples = Files.readAllBytes(pixels);
        assertEquals(3 * (1 * 2 + 3 * 2), samples.length);
        assertArrayEquals(new byte[] {0, 0, 100, 1, 0, 101, 0, 0, 100}, Arrays.copyOf(samples, 9));
        List<String> lines = result.err().lines().toList();
        assertTrue(lines.get(0).startsWith(small + ": 1 x 2 pixels -> 1 rows of 2 in 1 tokens, "), result.err());
        assertTrue(lines.get(1).startsWith(picture + ": 3 x 2 pixels -> 3 rows of 2 in 3 tokens, "), result.err());
    }

    @Test
    void whatIsNoPictureIsRefusedAndNothingIsLeft() throws IOException {
        Path text = Files.writeString(folder.resolve("text.png"), "no picture");
        TestCli.Result result = run("encode", "--mmproj", "eyes.gguf", "--image", "" + text, "-o", "" + out);
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[MEDIA-001]\n"), result.err());
        assertFalse(Files.exists(out));
        result = run("encode", "-o", "" + out);
        assertEquals(2, result.status(), result.err());
    }

    @Test
    void picturesStandWhereTheTextHasTheirPlaces() throws IOException {
        cli.engine.logits = token -> {
            float[] row = new float[FakeTokenizer.SIZE];
            row[0] = token;
            return row;
        };
        String text = "a<__media__>b<__media__>c";
        String[] files = {"--image", "" + picture, "--image", "" + small};
        TestCli.Result result = run(
                "logits", "--mmproj", "eyes.gguf", files[0], files[1], files[2], files[3], "-p", text, "-o", "" + out);
        assertEquals(0, result.status(), result.err());
        assertArrayEquals(new int[] {'a', -3, -3, -3, 'b', -1, 'c'}, cli.engine.evaluated.getLast());
        assertEquals(2, cli.engine.given.getLast().size());
        assertEquals('c', floats(out)[0]);
    }

    @Test
    void asManyPlacesAsFilesAreExpected() {
        for (String text : List.of("no place", "<__media__> and <__media__>")) {
            TestCli.Result result =
                    run("logits", "--mmproj", "eyes.gguf", "--image", "" + picture, "-p", text, "-o", "" + out);
            assertEquals(2, result.status(), result.err());
            assertTrue(result.err().contains("<__media__>"), result.err());
        }
        assertEquals(
                2,
                run("logits", "--image", "" + picture, "--ids", "1", "-o", "" + out)
                        .status());
        assertEquals(0, cli.engine.loads.size(), "nothing is loaded before that is known");
    }

    @Test
    void picturesAreEmbeddedWithTextsOrAlone() {
        List<String> embed = List.of(
                "embed", "--mmproj", "eyes.gguf", "--prefix", "x", "--image", "" + picture, "--image", "" + small);
        TestCli.Result result = run(with(embed, "a<__media__>", "b", "<__media__>c"));
        assertEquals(0, result.status(), result.err());
        EmbeddingRequest request = cli.engine.embeddings.getLast();
        assertArrayEquals(new int[] {'x', 'a', -3, -3, -3}, request.texts().get(0));
        assertArrayEquals(new int[] {'x', 'b'}, request.texts().get(1));
        assertArrayEquals(new int[] {'x', -1, 'c'}, request.texts().get(2));
        assertEquals(List.of(1, 0, 1), request.media().stream().map(List::size).toList());
        result = run(with(embed));
        assertEquals(0, result.status(), result.err());
        request = cli.engine.embeddings.getLast();
        assertArrayEquals(new int[] {'x', -3, -3, -3}, request.texts().get(0));
        assertArrayEquals(new int[] {'x', -1}, request.texts().get(1));
        result = run(with(embed, "a<__media__>"));
        assertEquals(2, result.status(), result.err());
        assertTrue(result.err().contains("<__media__>"), result.err());
    }

    private static String[] with(List<String> line, String... more) {
        return Stream.concat(line.stream(), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void aTextWithoutPicturesIsTokenizedAsItIs() {
        cli.engine.addsBos = true;
        assertEquals(0, run("logits", "-p", "ab", "-o", "-").status());
        assertArrayEquals(new int[] {FakeTokenizer.BOS, 'a', 'b'}, cli.engine.evaluated.getLast());
    }

    @Test
    void anEncoderIsLoadedWhereOneIsAskedFor() {
        String[] logits = {"logits", "-p", "a", "-o", "-"};
        assertEquals(Optional.empty(), companion(logits));
        cli.settings.put("mmproj", "configured.gguf");
        assertEquals(Optional.of(Path.of("configured.gguf")), companion(logits));
        String[] given = {"logits", "-p", "a", "-o", "-", "--mmproj", "given.gguf"};
        assertEquals(Optional.of(Path.of("given.gguf")), companion(given));
        given[given.length - 1] = "none";
        assertEquals(Optional.empty(), companion(given));
        given[given.length - 1] = "auto";
        assertEquals(Optional.empty(), companion(given), "none lies beside the model");
    }

    private Optional<Path> companion(String... args) {
        TestCli.Result result = run(args);
        assertEquals(0, result.status(), result.err());
        return cli.engine.loads.getLast().companion();
    }

    @Test
    void picturesNeedAnEncoder() {
        for (String rule : List.of("auto", "none")) {
            TestCli.Result result = run("encode", "--mmproj", rule, "--image", "" + picture, "-o", "" + out);
            assertEquals(2, result.status(), result.err());
            assertTrue(result.err().contains("--mmproj"), result.err());
        }
        assertEquals(2, run("encode", "--image", "" + picture, "-o", "" + out).status());
        assertEquals(0, cli.engine.loads.size());
    }

    @Test
    void aModelThatDoesNotHearRefusesSounds() throws IOException {
        Path sound = folder.resolve("fox.wav");
        ByteBuffer wav = ByteBuffer.allocate(44 + 2).order(ByteOrder.LITTLE_ENDIAN);
        wav.put("RIFF".getBytes())
                .putInt(38)
                .put("WAVEfmt ".getBytes())
                .putInt(16)
                .putShort((short) 1);
        wav.putShort((short) 1)
                .putInt(16_000)
                .putInt(32_000)
                .putShort((short) 2)
                .putShort((short) 16);
        wav.put("data".getBytes()).putInt(2).putShort((short) 7);
        Files.write(sound, wav.array());
        for (String[] args :
                new String[][] {{"encode", "-o", "" + out}, {"logits", "-p", "<__media__>", "-o", "" + out}}) {
            List<String> line = new ArrayList<>(List.of(args));
            line.addAll(List.of("--mmproj", "eyes.gguf", "--audio", "" + sound));
            TestCli.Result result = run(line.toArray(String[]::new));
            assertEquals(1, result.status(), result.err());
            assertTrue(result.err().endsWith("[STATE-002]\n"), result.err());
        }
    }
}
