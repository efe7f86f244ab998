package dev.tenon.itest.golden;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

/// The pictures of the golden files, and the models that see or hear.
final class GoldenPictures {
    private static final List<String> SEE = List.of(
            "gemma3",
            "qwen3vl",
            "qwen35vl",
            "qwen25vl",
            "idefics3",
            "internvl",
            "llava",
            "pixtral",
            "kimivl",
            "glm4v",
            "llama4",
            "gemma4v",
            "lfm2",
            "lfm2tile");
    private static final List<String> HEAR = List.of("qwen2a", "ultravox", "voxtral");

    private GoldenPictures() {}

    /// {@return the pairs of a text model and its companion, without the endings of their names}
    static Stream<String> pairs() {
        return Stream.concat(SEE.stream().map("vision/"::concat), HEAR.stream().map("audio/"::concat));
    }

    static Picture picture(String name) {
        JsonNode of =
                GoldenData.json(GoldenData.file("vision/images/index.json")).get(name);
        try {
            byte[] samples = of.get("rgb").isNull()
                    ? decoded(GoldenData.file("vision/images/" + of.get("png").asText()))
                    : Files.readAllBytes(
                            GoldenData.file("vision/images/" + of.get("rgb").asText()));
            return Picture.of(new Size(of.get("width").asInt(), of.get("height").asInt()), samples);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] decoded(Path png) throws IOException {
        BufferedImage image = ImageIO.read(png.toFile());
        byte[] samples = new byte[3 * image.getWidth() * image.getHeight()];
        for (int i = 0; i < samples.length; i++) {
            int pixel = image.getRGB(i / 3 % image.getWidth(), i / 3 / image.getWidth());
            samples[i] = (byte) (pixel >> 8 * (2 - i % 3));
        }
        return samples;
    }
}
