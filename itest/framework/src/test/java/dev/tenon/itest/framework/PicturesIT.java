package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.itest.framework.Installation.Result;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The distribution's commands with pictures, on a tiny model and the encoder beside it: rows and logits are those of
/// the golden files.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PicturesIT {
    private static final Path GOLDEN = Path.of("../golden/src/test/resources/golden/vision")
            .toAbsolutePath()
            .normalize();
    private static final String MODEL = GOLDEN.resolve("gemma3.text.gguf").toString();
    /// In the order of the golden file.
    private static final int PROMPTS = 5;

    @TempDir
    Path folder;

    private Installation installation;
    private Path wide;
    private Path tall;
    private Path out;

    @BeforeEach
    void setUp() throws IOException {
        installation = Installation.copy(folder);
        wide = png("wide", 150, 44);
        tall = png("tall", 33, 120);
        out = folder.resolve("out.f32");
    }

    private Path png(String name, int width, int height) throws IOException {
        byte[] rgb = Files.readAllBytes(GOLDEN.resolve("images/" + name + ".rgb"));
        assertEquals(3 * width * height, rgb.length);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < width * height; i++) {
            image.setRGB(
                    i % width,
                    i / width,
                    (rgb[3 * i] & 0xff) << 16 | (rgb[3 * i + 1] & 0xff) << 8 | rgb[3 * i + 2] & 0xff);
        }
        Path file = folder.resolve(name + ".png");
        assertTrue(ImageIO.write(image, "png", file.toFile()));
        return file;
    }

    private Result tenon(String... args) throws Exception {
        return installation.tenon(args);
    }

    private static float[] floats(Path file) throws IOException {
        FloatBuffer floats = ByteBuffer.wrap(Files.readAllBytes(file))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();
        float[] values = new float[floats.remaining()];
        floats.get(values);
        return values;
    }

    private static void near(float[] truth, float[] got, int first) {
        double error = 0;
        double power = 0;
        for (int i = 0; i < got.length; i++) {
            error += Math.pow(got[i] - truth[first + i], 2);
            power += Math.pow(truth[first + i], 2);
        }
        assertTrue(error <= 1e-2 * power, "NMSE " + error / power);
    }

    @Test
    void rowsAndLogitsAreTheTruth() throws Exception {
        Path pixels = folder.resolve("pixels.u8");
        Result result = tenon(
                "encode",
                "-m",
                MODEL,
                "--mmproj",
                GOLDEN.resolve("gemma3.mmproj.gguf").toString(),
                "--image",
                wide.toString(),
                "--pixels",
                pixels.toString(),
                "-o",
                out.toString());
        assertEquals(0, result.code(), result.err());
        assertTrue(result.err().contains("wide.png: 150 x 44 pixels -> 9 rows of 64 in 11 tokens"), result.err());
        assertArrayEquals(Files.readAllBytes(GOLDEN.resolve("images/wide.rgb")), Files.readAllBytes(pixels));
        float[] rows = floats(GOLDEN.resolve("gemma3.wide.embd_f64.f32"));
        assertEquals(rows.length, floats(out).length);
        near(rows, floats(out), 0);

        result = tenon(
                "logits",
                "-m",
                MODEL,
                "--image",
                tall.toString(),
                "--image",
                wide.toString(),
                "-p",
                "One <__media__> and two <__media__>, which is it?",
                "-y",
                "-o",
                out.toString());
        assertEquals(0, result.code(), result.err());
        float[] logits = floats(GOLDEN.resolve("gemma3.logits_f64.f32"));
        assertEquals(logits.length / PROMPTS, floats(out).length);
        near(logits, floats(out), (PROMPTS - 1) * logits.length / PROMPTS);
    }

    @Test
    void aPictureIsAPartOfAPrompt() throws Exception {
        String[] run = {"run", MODEL, "--image", wide.toString(), "--temp", "0", "-n", "4", "-p", "Look:"};
        Result result = tenon(run);
        assertEquals(0, result.code(), result.err());
        assertTrue(result.out().startsWith("Look:"), result.out());
        run[1] = Jars.distribution()
                .resolve("models")
                .resolve(Jars.model().getFileName())
                .toString();
        result = tenon(run);
        assertEquals(2, result.code(), result.err());
        assertTrue(result.err().contains("--mmproj") && result.err().contains("[CLI-001]"), result.err());
    }

    @Test
    void aSessionIsKeptWithItsPicture() throws Exception {
        Path kept = folder.resolve("kept");
        String[] run = {
            "run",
            MODEL,
            "--image",
            wide.toString(),
            "--temp",
            "0",
            "-n",
            "4",
            "--session",
            kept.toString(),
            "-p",
            "Look:"
        };
        Result first = tenon(run);
        assertEquals(0, first.code(), first.err());
        long size = Files.size(kept);
        Result second = tenon(run);
        assertEquals(0, second.code(), second.err());
        assertEquals(first.out(), second.out());
        assertEquals(size, Files.size(kept));
    }

    @Test
    void aSlotWithAPictureIsNotSaved() throws Exception {
        String[] options = {"-m", MODEL, "--mmproj", "auto", "--slot-save-path", folder.toString()};
        try (RunningServer server = new RunningServer(installation, Duration.ofMinutes(5), options)) {
            String picture = Base64.getEncoder().encodeToString(Files.readAllBytes(wide));
            HttpResponse<String> answer = server.send(server.post(
                    "/completion",
                    "{\"id_slot\":0,\"n_predict\":2,\"prompt\":{\"prompt_string\":\"See <__media__>\",\"multimodal_data\":[\""
                            + picture + "\"]}}"));
            assertEquals(200, answer.statusCode(), answer.body());
            answer = server.send(server.post("/slots/0?action=save", "{\"filename\":\"picture.bin\"}"));
            assertEquals(501, answer.statusCode(), answer.body());
            assertTrue(answer.body().contains("Slot 0 has pictures or sounds"), answer.body());
        }
    }

    @Test
    void oneEncoderIsOfOneModel() throws Exception {
        Result result =
                tenon("serve", "--port", "0", "-m", "a=" + MODEL, "-m", "b=" + MODEL, "--mmproj", "mmproj.gguf");
        assertEquals(2, result.code(), result.err());
        assertTrue(result.err().contains("--mmproj") && result.err().contains("[CLI-001]"), result.err());
    }
}
